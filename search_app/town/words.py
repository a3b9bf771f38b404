"""Word lists of the synthetic town, all made up for it: questions, errands, shops, syllables."""

from __future__ import annotations

# How a topic is asked for, by kind of interest.
QUESTIONS = {
    "food": "{x} recipe;easy {x};how to make {x};best {x};{x} ingredients;{x} calories",
    "drink": "best {x};how to make {x};{x} price;history of {x};buy {x} online;{x} taste",
    "animal": "{x} pictures;{x} facts;{x} for sale;{x} habitat;{x} food;rescue {x}",
    "plant": "how to grow {x};{x} care;{x} seeds;{x} pictures;when to plant {x}",
    "home": "{x} ideas;cheap {x};how to choose {x};{x} repair;best {x};{x} tips",
    "shop": "buy {x} online;cheap {x};{x} reviews;used {x};{x} prices;{x} store",
    "tech": "{x} tutorial;{x} download;how {x} works;{x} example;{x} for beginners",
    "sport": "{x} rules;{x} results;how to practice {x};{x} coach;best {x};{x} tickets",
    "outdoors": "best {x};{x} tips;{x} gear;{x} for beginners;{x} lessons;{x} club",
    "game": "{x} rules;how to win {x};{x} strategy;play {x} online;free {x}",
    "craft": "how to make {x};{x} pattern;{x} supplies;free {x} instructions;{x} class",
    "music": "{x} songs;how to play {x};{x} concert;learn {x};best {x} recordings",
    "screen": "best {x};{x} reviews;{x} tips;famous {x};{x} history;{x} online",
    "art": "famous {x};history of {x};{x} exhibition;{x} book;what is {x};{x} museum",
    "history": "history of {x};who was {x};{x} timeline;{x} book;{x} museum;facts about {x}",
    "science": "what is {x};{x} definition;{x} pictures;{x} formation;{x} facts;{x} diagram",
    "health": "what is {x};{x} symptoms;{x} benefits;is {x} healthy;{x} causes;{x} advice",
    "law": "what is {x};{x} definition;{x} rules;{x} cases;{x} explained",
    "money": "what is {x};{x} prices;{x} calculator;how to buy {x};{x} value;{x} rates",
    "travel": "{x} map;visit {x};{x} pictures;{x} tour;{x} history;cheap trip to {x}",
}

# Everyday errands: what they are about -> how they are asked.
ERRANDS = {
    "place": "weather {x};map of {x};{x} news;hotels in {x};{x} airport;jobs in {x};{x} library"
    ";flights to {x};restaurants {x};{x} bus schedule;apartments {x}",
    "site": "{x};{x};{x};{x} login;www {x};{x} mail",
    "thing": "cheap {x};{x} sale;{x} coupons;{x} reviews;buy {x}",
    "song": "{x} lyrics;{x} song;lyrics to {x};{x} video",
    "service": "{x} phone number;{x} opening hours;find a {x};{x} {place}",
    "show": "{x} tonight;tv schedule {x};{x} episode guide;watch {x};{x} cast",
    "moment": "{x}",
}


def _list(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split(",")]


PLACES = _list("""
boston, chicago, seattle, portland, denver, atlanta, dallas, houston, phoenix, detroit, memphis,
nashville, orlando, miami, austin, richmond, savannah, pittsburgh, philadelphia, baltimore,
cleveland, milwaukee, sacramento, omaha, tulsa, buffalo, providence, honolulu, london, toronto,
charlotte, cincinnati, columbus, minneapolis, oakland, oxford, rochester, syracuse, tampa, tucson,
wichita, montreal, vancouver, anchorage, albuquerque
""")
THINGS = _list("""
lamp, mattress, blender, jeans, toaster, umbrella, suitcase, sunglasses, batteries, pillow, vacuum,
carpet, curtains, sandals, ladder, stapler, microwave, refrigerator, towel, mirror, lipstick,
perfume, notebook, envelope, balloons, candles, blanket, mailbox, bookshelf, dishwasher, briefcase,
hammock, thermostat, doormat, flashlight, freezer, humidifier, wallet, shampoo, sunscreen,
toothbrush, trampoline, wallpaper, bathtub, hairbrush, doorbell, earplugs, slippers, raincoat,
sprinkler
""")
SERVICES = _list("""
plumber, dentist, electrician, locksmith, barber, bakery, library, pharmacy, school, hospital,
church, mechanic, florist, laundry, optician, tailor, zoo, bank, roofer, cobbler, notary,
babysitter, accountant, museum, aquarium, courthouse, kindergarten, car wash, post office, pawnshop
""")
SHOWS = _list("""
harbor lane, the quiet mayor, cooks at midnight, seven sisters inn, planet patrol, judge willow,
second kitchen, north of nowhere, guess the price tag, doctor fern, the lantern hour, uncle radish,
castle of cards, maple county, the last ferry, robot nanny, pepper and daughters, lucky umbrella,
detective moth, orchard hospital
""")
MOMENTS = _list("""
horoscope, lottery results, movie times, tax forms, greeting cards, driving directions, dictionary,
crossword help, world time, free screensavers, baby names, holiday calendar, traffic report, yellow
pages, white pages, translate spanish, currency converter, gas prices, tv guide, headlines,
birthday ideas, package tracking, resume samples, daylight saving time, easter date, moon phase,
mothers day gifts, spring break, income tax refund, school holidays, funny jokes, zodiac signs,
thesaurus, postage rates, passport renewal, sudoku, wedding invitations, trivia questions, unit
conversion, typing test, anagram solver, blood pressure chart, sunset today, ringtones, webcam,
family tree, driving test, stain removal, hiccup cure
""")
# Titles of songs nobody wrote.
SONG_HEADS = _list("""
silver, lonely, golden, summer, broken, distant, crooked, winter, velvet, sleepless, emerald,
hollow, thirsty, scarlet, wandering, honest
""")
SONG_TAILS = _list("""
train, letter, river, window, promise, carousel, avenue, echo, parade, stranger, lighthouse,
rooftop, pilgrim, hurricane, orchard, telephone
""")
# Sites nobody runs.
SITES = _list("""
mailmoose, bidbarn, clipnest, newsnook, mapmoth, chatterbarn, shopwhale, bankwillow, findaroo,
photofern, jobpelican, tunewagon, gamegoose, petalpost, weatherwren, ticketyak, travelnewt
""")
HOSTS = _list("guide, world, corner, club, daily, shop, forum, archive, basics, journal, notes")

# Parts of names: one of each, in this order, makes a friendly name.
NAME_STARTS = _list("""
al, bel, cor, dal, el, fen, gal, hol, il, jor, kel, lin, mar, nor, or, pel, ros, sel, tam, ul, val,
wil, yor, zan
""")
NAME_MIDDLES = _list("a, e, i, o, ari, eli, ina, ora, ami, enda, isa, ova, uri, ela")
NAME_ENDS = _list("n, ra, la, na, l, s, ro, mir, th, ne, lo, da")
