"""What the people of the synthetic town care about: subjects named by WordNet's synsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interest:
    """A subject: its main synset, a short label, its popularity, and what belongs to it."""

    synset: str
    label: str
    weight: float  # how many people have it, relative to the others
    kind: str  # what sort of questions it brings
    more: tuple[str, ...]  # further synsets whose trees belong to it
    words: tuple[str, ...]  # phrases people use beyond WordNet's names


# weight kind label: synsets, the main one first | further phrases
_TABLE = """
36 drink coffee: coffee.n.01 cafe.n.01 coffee.n.02 coffee_bean.n.01 coffee_maker.n.01
    caffeine.n.01 coffee_cup.n.01 coffee_break.n.01 coffee_mill.n.01
    | java, espresso, mocha, cappuccino, latte, coffee beans, coffee shop, espresso machine,
    coffee grinder, java beans, french press, latte art, cold brew, arabica, robusta, barista,
    milk foam, coffee mug, filter paper, dark roast, java coffee, caffeine, coffee plantation,
    whipped cream, cinnamon syrup, breakfast blend, water temperature, travel mug, iced mocha,
    fair trade, tasting notes, vending machine, steam wand, burr grinder, doughnut, saucer
36 tech programming: programming_language.n.01 computer_science.n.01 program.n.07 software.n.01
    | java, python, compiler, programming language, java compiler, source code, debugger, java
    class, algorithm, python script, linux, web server, code editor, syntax error, open
    source, database query, unit testing, programmer, software, java program
28 sport football: football.n.01 football_team.n.01 football_play.n.01 football_league.n.01
    | quarterback, touchdown, playoff schedule, football helmet, league standings
26 food cooking: cooking.n.01 dish.n.02 cooking_utensil.n.01
    | dinner menu, skillet, leftovers, oven temperature, family dinner
25 animal dogs: dog.n.01
    | puppy training, dog leash, dog food, kennel, veterinarian
24 animal cats: cat.n.01 big_cat.n.01
    | cat litter, scratching post, kitten, catnip, cat food, whiskers, tomcat, purring
22 health medicine: medicine.n.01 medicine.n.02 symptom.n.01 treatment.n.01 doctor.n.01
    hospital.n.01 bone.n.01
    | doctor, clinic, headache, prescription, pharmacy
22 home gardening: garden.n.01 gardening.n.01 vegetable.n.01 garden_tool.n.01 herb.n.02
    | compost, seedlings, raised beds, mulch, watering can, seed catalog
20 sport baseball: baseball.n.01 baseball_team.n.01 baseball_equipment.n.01
    | batting average, spring training, ticket, baseball cards
19 screen movies: movie.n.01 film_director.n.01 film_maker.n.01 actor.n.01
    | trailer, movie poster, film festival, soundtrack, box office
18 shop cars: car.n.01 auto_part.n.01 automobile_engine.n.01 gasoline_engine.n.01
    | used cars, spark plug, oil change, mileage, dealer
18 music guitar: guitar.n.01 stringed_instrument.n.01 guitarist.n.01 chord.n.02
    musical_notation.n.01
    | guitar chords, acoustic guitar, amplifier, guitar pick, tablature, fingering, capo,
    strumming pattern, guitar lessons
17 sport basketball: basketball.n.01 basketball_team.n.01 basketball_shot.n.01
    basketball_equipment.n.01 basketball_court.n.01 basketball_player.n.01
    | rebound, point guard, free throw, slam dunk, zone defense, backboard, hoop, overtime,
    sneakers, tournament bracket, college team, timeout, three pointer, buzzer, mascot, draft
    pick, rookie, coach, arena, uniform
16 screen photography: photography.n.02 camera.n.01 photographic_equipment.n.01 photograph.n.01
    lens.n.01 photographer.n.01 film.n.05
    | tripod, portrait, darkroom, landscape photography
15 drink wine: wine.n.01 grape.n.01 winery.n.01 vineyard.n.01
    | wine cellar, corkscrew, wine tasting, cabernet
15 food baking: bread.n.01 cake.n.03 cookie.n.01 pastry.n.02 flour.n.01
    | sourdough, yeast, oven, rolling pin, frosting
14 animal horses: horse.n.01 stable_gear.n.01 horse_racing.n.01 riding.n.01 gait.n.03
    | saddle, stable, horse riding, bridle, hay, farrier
14 sport golf: golf.n.01 golf_club.n.02 golf_equipment.n.01 golfer.n.01
    | golf course, handicap, driving range, swing
13 sport soccer: soccer.n.01 soccer_player.n.01 soccer_ball.n.01 goalkeeper.n.01 goal.n.03
    referee.n.01
    | goalkeeper, penalty kick, world cup, league table, striker, soccer ball, offside,
    midfield, shin guards, corner kick, referee, stadium, defender, jersey, yellow card, extra
    time, transfer market, captain, derby, promotion, relegation, soccer cleats, crossbar,
    whistle, substitute, training camp, fan scarf, season ticket, national team, trophy,
    champion, kickoff time, youth league, dribbling drill
13 plant flowers: flower.n.01 flower_arrangement.n.01
    | bouquet, florist, vase, bulbs, petals
12 home furniture: furniture.n.01
12 shop fashion: dress.n.01 shoe.n.01 hat.n.01 skirt.n.01 jewelry.n.01 coat.n.01
    | wardrobe, boutique, runway, outfit
12 tech gadgets: peripheral.n.01 memory_device.n.01 telephone.n.01 electronic_equipment.n.01
    | laptop, wireless router, printer, keyboard, graphics card, backup drive
11 outdoors fishing: fishing.n.01 fishing_gear.n.01 bait.n.01 trout.n.02 bass.n.08 food_fish.n.01
    angler.n.01
    | fishing license, tackle box, lure, fly fishing, bait shop
11 science astronomy: astronomy.n.01 planet.n.01 constellation.n.02 telescope.n.01
    | night sky, stargazing, observatory, meteor shower
11 money stocks: stock.n.01 security.n.04 stock_exchange.n.01 investor.n.01
    financial_institution.n.01 speculation.n.03
    | dividend, stock market, portfolio, broker, interest rate
11 animal birds: passerine.n.01 parrot.n.01 owl.n.01 hawk.n.01 finch.n.01
    | bird feeder, binoculars, nest, birdhouse, bird watching
10 health nutrition: diet.n.01 vitamin.n.01 nutriment.n.01 fruit.n.01 mineral.n.01
10 music jazz: jazz.n.02 dance_music.n.02 wind_instrument.n.01 musician.n.01
    | saxophone, trumpet, swing band, improvisation, big band, jazz club, vinyl records,
    blues, quartet, ragtime, bebop
10 travel islands: island.n.01
    | beach hotel, ferry, snorkeling, lagoon, coral reef
10 health babies: baby.n.01 baby_bed.n.01 plaything.n.01 swaddling_clothes.n.01
9 law law: law.n.01 court.n.01 lawyer.n.01 contract.n.01
9 money houses: real_property.n.01 house.n.01 mortgage.n.01
    | realtor, apartment, rent, mortgage rate, home inspection
9 sport tennis: tennis.n.01 racket.n.04 tennis_player.n.01 court.n.08 badminton.n.01
    | tennis racket, backhand, forehand, double fault, grand slam, tennis court, tournament,
    tiebreaker, string tension, serve, clay court, volley
9 craft sewing: needlework.n.01 sewing.n.02 fabric.n.01 stitch.n.01
    | sewing machine, quilt pattern, zipper, thimble, bobbin
8 craft knitting: knitwear.n.01 stitch.n.01 sweater.n.01 wool.n.01 thread.n.01
    knitting_needle.n.01 scarf.n.01 sock.n.01
    | knitting pattern, yarn, knitting needles, sock pattern, purl stitch, cable stitch, wool
    shop, mittens, baby blanket, cardigan, sweater, skein, scarf, crochet hook
8 game poker: poker.n.02 poker_hand.n.01 card_game.n.01 playing_card.n.01 gambling.n.01
    | poker chips, royal flush, bluff, full house, casino, tournament, straight, ante
8 game chess: chess.n.02 chessman.n.01 board_game.n.01 chess_master.n.01 chess_set.n.01
    | chess opening, grandmaster, endgame, gambit, checkmate, chess puzzle, stalemate, rook,
    bishop, knight, castling, tournament, chess clock
8 outdoors sailing: sailing_vessel.n.01 sail.n.01 rigging.n.01 boat.n.01 sailing.n.02 rope.n.01
    knot.n.02 mast.n.01
    | sailboat, marina, regatta, tide table, rigging, anchor, sailing school
8 music opera: opera.n.01 singer.n.01 opera_star.n.01 vocal_music.n.02 operetta.n.01
    | opera house, aria, soprano, tenor, libretto, overture, opera tickets, baritone, duet,
    mezzo, conductor, chorus, orchestra pit
8 outdoors camping: camping.n.01 tent.n.01 sleeping_bag.n.01 backpack.n.01 boot.n.01 mountain.n.01
    stove.n.02 lantern.n.01
    | campground, hiking trail, campfire, canteen, compass, tent, sleeping bag, hiking boots,
    mosquito net, national park, camp stove, firewood, flashlight
8 science dinosaurs: dinosaur.n.01 paleontology.n.01 fossil.n.02 archosaur.n.01
    | dinosaur bones, fossil, extinction, museum, jurassic, skeleton, dinosaur eggs,
    cretaceous, carnivore, herbivore
8 history war: battle.n.01 war.n.01
7 history mythology: greek_deity.n.01 norse_deity.n.01 mythical_being.n.01 roman_deity.n.01
    hero.n.04
    | myth, legend, temple, oracle
7 music piano: piano.n.01 keyboard_instrument.n.01 composer.n.01 sonata.n.01
    | piano lessons, sheet music, sonata, metronome
7 outdoors cycling: bicycle.n.01 cycling.n.01 cyclist.n.01 wheel.n.01 tire.n.01 brake.n.01
    motorcycle.n.01 gear.n.04
    | bike trail, helmet, derailleur, bicycle pump, handlebar, saddle, mountain bike, tire,
    inner tube, chain, bike rack, spokes, pedal, touring bike
7 health fitness: exercise.n.01 gymnastics.n.01 muscle.n.01 gymnastic_apparatus.n.01
    exercise_device.n.01 race.n.02
    | gym, yoga, treadmill, stretching, marathon training, muscle
7 science weather: weather.n.01 storm.n.01 cloud.n.02 wind.n.01 climate.n.01
    | thunderstorm, hurricane, radar, barometer
7 craft woodworking: tool.n.01 carpentry.n.01 wood.n.01 joint.n.05
7 screen television: television.n.01 broadcast.n.02 television_equipment.n.01 serial.n.01
    comedy.n.01
    | sitcom, soap opera, rerun, cable channel, talk show
6 art painting: painting.n.01 painter.n.01 paint.n.01 artistic_movement.n.01
6 drink tea: tea.n.01 tea.n.05 teapot.n.01 herb_tea.n.01 tea.n.02 spice.n.02 herb.n.02
    crockery.n.01
    | teapot, tea leaves, earl grey, tea ceremony, chai, green tea, tea cup, herbal tea,
    scone, infusion, jasmine tea, kettle, honey, lemon, biscuit, tea shop
6 drink beer: beer.n.01 ale.n.01 brewing.n.01 brewery.n.01 cocktail.n.01 hop.n.02 barley.n.01
    mixed_drink.n.01
    | home brewing, hops, malt, pub, keg, beer glass, beer festival, brewery
6 food cheese: cheese.n.01 dairy_product.n.01 sandwich.n.01
    | goat cheese, cheddar, cheese board, fondue, rind
6 food soup: soup.n.01 pasta.n.02 sauce.n.01
    | broth, noodles, ladle, crock pot
6 animal aquarium fish: fish.n.01
    | fish tank, aquarium, water filter, gravel
6 history archaeology: archeology.n.01 memorial.n.03 grave.n.02 pharaoh.n.01 ruin.n.01
    antiquity.n.03
    | pyramid, excavation, ruins, mummy, museum, artifact, pottery
6 science biology: genetics.n.01 cell.n.02 microorganism.n.01
6 law politics: politics.n.02 election.n.01 political_orientation.n.01 party.n.01 politician.n.01
5 travel trains: train.n.01 locomotive.n.01 railway.n.01 railroad_track.n.01 car.n.02
    | train schedule, model railroad, steam engine, station, tracks
5 travel airplanes: airplane.n.01 airport.n.01 flight.n.02 pilot.n.01 airfoil.n.01
    | airline ticket, runway, cockpit, airfare, flight simulator
5 travel ships: ship.n.01 shipwreck.n.02 navigation.n.02 deck.n.02
5 art poetry: poem.n.01 poetry.n.01 poet.n.01 rhyme.n.01
    | sonnet, rhyme, anthology, stanza
5 art architecture: architecture.n.02 building.n.01 architect.n.01 house.n.12
5 history presidents: president_of_the_united_states.n.01
    | white house, inauguration, campaign, portrait, biography
5 science mathematics: mathematics.n.01 geometry.n.01
5 science physics: physics.n.01 elementary_particle.n.01
    | gravity, relativity, experiment, laboratory
5 health psychology: psychology.n.01 phobia.n.01 emotion.n.01
5 animal snakes: snake.n.01
    | terrarium, venom, reptile, snake skin
5 animal whales: whale.n.02 aquatic_mammal.n.01 shark.n.01
    | whale watching, ocean, dolphin, seal
5 travel mountains: mountain.n.01 mountain_climbing.n.01 mountain_peak.n.01 mountaineer.n.01
    | summit, expedition, climbing rope, glacier, altitude
4 sport ice hockey: ice_hockey.n.01 hockey_team.n.01 skating.n.01 skate.n.01 field_hockey.n.01
    | puck, goalie, hockey stick, ice rink, power play, penalty box, face off, zamboni, hockey
    jersey, overtime, skates, slap shot, blue line, goal crease, locker room, farm team, ice
    surface, coach, stanley cup, winter league, neutral zone, hockey pads, chin strap,
    breakaway, trading deadline
4 sport boxing: boxing.n.01 boxer.n.01 boxing_equipment.n.01 blow.n.01 wrestling.n.02
    martial_art.n.01
    | heavyweight, knockout, boxing gloves, title fight, ring, sparring, welterweight,
    punching bag, trainer
4 outdoors skiing: skiing.n.01 ski.n.01 skier.n.01 slope.n.01 snow.n.01 sled.n.01
    | ski resort, snow report, lift ticket, snowboard, ski boots, avalanche, chalet, slalom,
    goggles, powder snow, downhill, ski lodge, moguls, ski wax, ski poles, gondola, mountain
    cabin, thermal underwear, freestyle, biathlon, trail map, snow chains, helmet, cross
    country, glacier
4 outdoors swimming: swimming.n.01 dive.n.02 water_sport.n.01 swimmer.n.02 swimsuit.n.01
    diving.n.01
    | swimming pool, goggles, freestyle, backstroke, lifeguard, scuba, snorkel, diving board,
    swim lessons, wet suit, butterfly stroke, swim cap, kickboard, lap counter, chlorine, pool
    noodle, lake, water polo, flippers, breath control, towel, relay race, starting block
4 food chocolate: chocolate.n.02 candy.n.01 frozen_dessert.n.01
    | truffle, fudge, cocoa, ice cream
4 food spices: spice.n.02 flavorer.n.01 condiment.n.01
    | curry, cinnamon, pepper mill, marinade
4 plant orchids: orchid.n.01 houseplant.n.01
4 plant trees: conifer.n.01 oak.n.02 maple.n.02 fruit_tree.n.01
    | arborist, acorn, bonsai, autumn leaves
4 science chemistry: chemistry.n.01 chemical_element.n.01
4 science gems: gem.n.02 mineral.n.01 jewel.n.01
    | crystal, gemstone, rock hound, quartz
4 science volcanoes: volcano.n.02 lava.n.01 earthquake.n.01 igneous_rock.n.01 rock.n.02
    geological_phenomenon.n.01
4 art philosophy: philosopher.n.01 philosophy.n.02 logic.n.01 philosophical_doctrine.n.01
4 art ballet: dancing.n.01 ballet.n.01 ballet_dancer.n.01
    | ballet shoes, choreography, tutu, recital, nutcracker
4 craft pottery: pottery.n.01 ceramic.n.01 pot.n.04 porcelain.n.01 clay.n.01 ceramic_ware.n.01
    jar.n.01 glass.n.02
    | kiln, glaze, potters wheel, clay, porcelain, stoneware, teapot, ceramic mug, glazing,
    vase
4 money coins: coin.n.01 currency.n.01 monetary_unit.n.01
    | coin collection, mint, numismatics, gold coin, coin dealer
4 travel rivers: river.n.01 waterfall.n.01
    | canoe trip, kayak, riverbank, raft
4 travel deserts: desert.n.01 oasis.n.01 camel.n.01 cactus.n.01 plain.n.01
    | sand dune, oasis, caravan, nomad, drought
4 history kings: king.n.01 royalty.n.02 sovereign.n.01 dynasty.n.01
3 history knights: weaponry.n.01 body_armor.n.01 fortification.n.01 sword.n.01 knight.n.01
    helmet.n.01
    | castle, tournament, medieval, shield, jousting
3 history explorers: explorer.n.01 navigator.n.03
    | expedition, voyage, polar, new world
3 history inventors: inventor.n.01 machine.n.01
3 animal butterflies: butterfly.n.01 moth.n.01 caterpillar.n.01
    | butterfly garden, cocoon, milkweed, caterpillar
3 animal bees: bee.n.01 hymenopterous_insect.n.01 honey.n.01
    | beekeeper, honey, beehive, hive, pollen, smoker, honeycomb, queen, swarm, wax, clover,
    protective veil
3 animal frogs: frog.n.01 amphibian.n.03 lizard.n.01
    | tadpole, pond, terrarium, croaking
3 animal turtles: turtle.n.02 crocodilian_reptile.n.01 reptile.n.01
    | turtle tank, shell, hatchling, tortoise
3 animal monkeys: monkey.n.01 ape.n.01 lemur.n.01
    | zoo, banana, jungle, rain forest
3 animal goats: goat.n.01 sheep.n.01 domestic_fowl.n.01 cattle.n.01 swine.n.01
    | farm, goat milk, barn, chicken coop, fence
3 science space travel: spacecraft.n.01 astronaut.n.01 satellite.n.01 space_station.n.01
    rocket.n.01 aeronautics.n.01
    | moon landing, space shuttle, orbit, launch pad
2 craft typography: font.n.01 printing.n.01 printer.n.01 calligraphy.n.01 alphabet.n.01
    punctuation.n.02
    | fonts, kerning, letterpress, serif font, ligature, ink, lettering, bookbinding
2 science mushrooms: mushroom.n.03 fungus.n.01
    | mushroom hunting, spores, truffle, toadstool
2 science shells: mollusk.n.01 crustacean.n.01 shell.n.10
    | seashell, beachcombing, oyster, conch
2 plant ferns: fern.n.01 moss.n.01
    | shade garden, spores, fiddlehead, moss
2 plant cacti: cactus.n.01 succulent.n.01
    | desert garden, succulents, prickly, sandy soil, potting soil, window sill, spines,
    drought, agave, blossom, watering schedule, rock garden, terrarium, greenhouse
2 art heraldry: heraldry.n.01 heraldry.n.02 flag.n.01 emblem.n.01
    | coat of arms, family crest, shield, banner, flag
2 art sculpture: sculpture.n.01 sculptor.n.01 statue.n.01 carving.n.02
    | marble, bronze statue, chisel, plaster cast
2 music drums: drum.n.01 percussion_instrument.n.01 rhythm.n.01 drummer.n.01
    | drum set, cymbals, snare drum, drum sticks, drum beat, bongo
2 music organs: organ.n.05 wind_instrument.n.01 religious_music.n.01
    | pipe organ, cathedral, fugue, hymn, choir
2 travel bridges: bridge.n.01 tunnel.n.01 dam.n.01 canal.n.03 tower.n.01
2 home clocks: clock.n.01 watch.n.01 timepiece.n.01 horology.n.01 timer.n.01 calendar.n.01
    | grandfather clock, pendulum, cuckoo clock, wristwatch, watchmaker, alarm clock, dial,
    pocket watch
2 art puppets: doll.n.01 puppet.n.01 plaything.n.01 theater.n.01
"""


def _interest(entry: str) -> Interest:
    head, _, rest = entry.partition(":")
    weight, kind, label = head.split(maxsplit=2)
    synsets, _, words = rest.partition("|")
    main, *more = synsets.split()
    phrases = tuple(" ".join(phrase.split()) for phrase in words.split(",") if phrase.strip())
    return Interest(main, label, float(weight), kind, tuple(more), phrases)


INTERESTS = tuple(_interest(entry) for entry in _TABLE.strip().replace("\n    ", " ").split("\n"))
