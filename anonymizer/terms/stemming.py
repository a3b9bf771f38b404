"""The analysis of German and French: their stop words, and Snowball's stemmers for the others."""

from __future__ import annotations

from functools import cache

from .analysis import STOP_WORDS

# Lucene's stop words, as documents are searched by them; of French also what an apostrophe elides.
_LISTS = {
    "german": """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes
anderm andern anderr anders auch auf aus bei bin bis bist da damit dann das dasselbe dazu daß dein
deine deinem deinen deiner deines dem demselben den denn denselben der derer derselbe derselben des
desselben dessen dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch dort
du durch ein eine einem einen einer eines einig einige einigem einigen einiger einiges einmal er es
etwas euch euer eure eurem euren eurer eures für gegen gewesen hab habe haben hat hatte hatten hier
hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist jede jedem jeden
jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen keiner keines können
könnte machen man manche manchem manchen mancher manches mein meine meinem meinen meiner meines
mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen
seiner seines selbst sich sie sind so solche solchem solchen solcher solches soll sollte sondern
sonst um und uns unse unsem unsen unser unses unter viel vom von vor war waren warst was weg weil
weiter welche welchem welchen welcher welches wenn werde werden wie wieder will wir wird wirst wo
wollen wollte während würde würden zu zum zur zwar zwischen über
""",
    "french": """
ai aie aient aies ait au aurai auraient aurais aurait aurez auriez aurions aurons auront aux
avaient avais avait avec avez aviez avons ayant ayez ayons c ce ceci cela celà ces cet cette d dans
de des du elle en es et eu eue eues eurent eus eusse eussent eusses eussiez eussions eut eux eûmes
eût eûtes furent fus fusse fussent fusses fussiez fussions fut fûmes fûtes ici il ils j je jusqu l
la le les leur leurs lorsqu lui m ma mais me mes moi mon même n ne nos notre nous on ont ou par pas
pour puisqu qu que quel quelle quelles quels qui quoiqu s sa sans se sera serai seraient serais
serait seras serez seriez serions serons seront ses soi soient sois soit sont soyez soyons suis sur
t ta te tes toi ton tu un une vos votre vous y à étaient étais était étant étiez étions étée étées
êtes
""",
}
STEMMED = tuple(_LISTS)


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of `language` that are no terms; by default they are English."""
    return frozenset(_LISTS[language].split()) if language in _LISTS else STOP_WORDS


class Stems:
    """A vocabulary of all words of a language: the base form of each is its stem."""

    def __init__(self, language: str) -> None:
        # Heavy: it loads all of nltk.
        from nltk.stem.snowball import SnowballStemmer

        self._stem = SnowballStemmer(language).stem

    def base_form(self, word: str) -> str | None:
        """Return the stem of `word`."""
        return self._stem(word) or None
