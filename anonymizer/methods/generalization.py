"""Local generalization of vocabularies (LG), the rival of SSC.

He & Naughton, Anonymization of Set-Valued Data via Top-Down, Local Generalization (2009), and
LG(bag) of Liu & Wang (2010). All vocabularies begin with the root of a taxonomy. The node whose
expansion gains most is replaced by its children, for those who agree in them with k - 1 others. A
row publishes its nodes: by LG once, by LG(bag) as often as the member with the fewest occurrences.

A synset of WordNet has its first parent only, so that each term has one way up. What the taxonomy
lacks is suppressed. Of several roots none is published before the sets of roots are.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model import Release
from ..promise import Promise
from .method import SWITCH, Inputs, Method, Options, option, taxonomies, taxonomy_faults


@dataclass(frozen=True)
class Generalization(Options):
    """The options of a generalization."""

    k: int = option(5, "each row stands for at least k people", least=1)
    bag: str = option(
        "true", "LG(bag): a node as often as all members have it; false: once", choices=SWITCH
    )
    taxonomy: str = taxonomies()
    senses: str = option("first", "a term means its most common sense", choices=("first",))
    count: str = option(
        "people",
        "k people stand behind a row; vocabularies: k sessions, which may be one person's",
        choices=("people", "vocabularies"),
    )

    def faults(self, inputs: Inputs) -> list[str]:
        """Return what is wrong with the values, for these `inputs`."""
        return [*super().faults(inputs), *taxonomy_faults(self.taxonomy, inputs)]


def run(inputs: Inputs, options: Generalization) -> Release:
    """Return the release of `inputs`, generalized until k people agree."""
    from ..rows.typical import slot_rows
    from ..vocabularies.bags import bags_of, refuse_few
    from ..vocabularies.generalizing import Trees, generalized, slots_of

    profiles = inputs.profiles
    bags = bags_of(profiles, by_person=options.count == "people")
    refuse_few(bags, options.k)
    trees = Trees(profiles.terms, inputs.nodes)
    parts = generalized(bags, trees, options.k, progress=inputs.progress)
    whole = options.bag == "false"
    published = ((part.members, slots_of(part, trees, whole=whole)) for part in parts)
    return METHOD.released_slots(options, inputs, slot_rows(profiles, published))


METHOD = Method(
    name="generalization",
    paper="He & Naughton 2009, Liu & Wang 2010",
    about="terms are replaced by terms above them until k people agree",
    promise=Promise("group", "vocabulary", words_above=True),
    run=run,
    options=Generalization,
    needs=frozenset({"wordnet", "taxonomy"}),
)
