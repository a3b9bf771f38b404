"""What a package needs that adds methods, measures, attacks or readers; docs/extend.md says how."""

from __future__ import annotations

from anonymizer.attacks.attacked import Attacked, AttackResult
from anonymizer.errors import Unsatisfiable
from anonymizer.measures.measurement import Measurement, by_user
from anonymizer.methods.method import Inputs, Method, Options, option
from anonymizer.model import Grouping, Profiles, Release
from anonymizer.promise import Promise
from anonymizer.querylog.formats import Skipped
from anonymizer.rows.representative import represent

__all__ = [
    "AttackResult",
    "Attacked",
    "Grouping",
    "Inputs",
    "Measurement",
    "Method",
    "Options",
    "Profiles",
    "Promise",
    "Release",
    "Skipped",
    "Unsatisfiable",
    "by_user",
    "option",
    "represent",
]
