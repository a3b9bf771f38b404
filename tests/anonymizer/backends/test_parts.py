"""Parts: users dealt by a secret hash; united they are the profiles again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.backends.parts import LocalParts, deal, deal_key, parts_of
from anonymizer.errors import BadParameter
from anonymizer.model import Profiles


def world(users: int = 60, seed: int = 1) -> Profiles:
    rng = np.random.default_rng(seed)
    drawn = {f"ü{user}": rng.choice(20, 4, replace=False) for user in range(users)}
    rows = {user: {f"t{term:02d}": term + 0.5 for term in terms} for user, terms in drawn.items()}
    return Profiles.from_rows(rows)


def blocks_of(profiles: Profiles, size: int) -> list[Profiles]:
    numbers = np.arange(len(profiles))
    return [profiles.some(numbers[low : low + size]) for low in range(0, numbers.size, size)]


def dealt(profiles: Profiles, count: int, folder: Path, size: int = 7) -> LocalParts:
    key = deal_key([profiles], 1)
    return deal(blocks_of(profiles, size), count, key, folder / "parts")


def numbered(profiles: Profiles, number: int) -> tuple[int, Profiles]:
    return number, profiles


def test_parts_together_are_the_profiles_in_their_order(tmp_path: Path) -> None:
    profiles = world()
    parts = dealt(profiles, 4, tmp_path)
    seen: dict[str, dict[str, float]] = {}
    for number, part in parts.each(numbered, range(4)):
        assert part.terms == profiles.terms == parts.terms
        places = [profiles.number(user) for user in part.users]
        assert places == np.flatnonzero(parts.part_of == number).tolist()
        assert not seen.keys() & set(part.users)
        seen |= {user: part.row(user) for user in part.users}
    assert seen == {user: profiles.row(user) for user in profiles.users}


def test_the_key_is_of_all_content_and_the_seed_and_not_of_where_blocks_end() -> None:
    profiles = world()
    key = deal_key([profiles], 1)
    assert key == deal_key(blocks_of(profiles, 7), 1)
    heavier = {**{user: profiles.row(user) for user in profiles.users}, "ü59": {"t00": 9.0}}
    others = [
        deal_key([profiles], 2),
        deal_key([Profiles.from_rows(heavier)], 1),
        deal_key([profiles.some(range(59, -1, -1))], 1),
    ]
    assert len({key, *others}) == 4


def test_sessions_of_a_person_are_dealt_together() -> None:
    sessions = [f"anna{person}#{number}" for person in range(9) for number in (1, 2, 3)]
    part_of = parts_of(sessions, 5, b"k" * 32).reshape(9, 3)
    assert (part_of == part_of[:, :1]).all()
    assert len({*part_of[:, 0].tolist()}) > 1


def test_more_parts_than_can_be_filled_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="parts got nobody; take fewer parts"):
        dealt(world(3), 50, tmp_path)
    with pytest.raises(BadParameter, match="from 1 to 10000"):
        deal([world(3)], 0, b"k", tmp_path / "none")
