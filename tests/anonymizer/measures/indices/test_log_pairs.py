"""SPI, JSD and PEL of log pairs: the hand example, the properties, the named traps, and a twin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.measures.indices.divergence import EMPTY, WEIGHTS, mean
from anonymizer.measures.indices.log_pairs import LogIndices, LogPair, log_indices
from anonymizer.model import QueryLog
from anonymizer.querylog.files import form_in_pair
from anonymizer.querylog.reading import read_log

Events = Sequence[tuple[str, str]]
SENSITIVE = {"a": 0.8, "b": 0.1, "c": 0.5}
UNLIKE = {"a": 0.5, "c": 0.8}


def log_of(events: Events) -> QueryLog:
    return QueryLog.from_events((*event, 0, 0) for event in events)


def one_user(queries: str) -> Events:
    return [("u", query) for query in queries.split()]


def indices(
    before: Events,
    after: Events,
    sensitive: dict[str, float] | None = None,
    weights: str = "paper",
    empty: str = "one",
) -> LogIndices:
    pair = LogPair.of(log_of(before), log_of(after))
    return log_indices(pair, sensitive, weights, empty)


def value(found: LogIndices, name: str) -> float:
    return float(found.columns[name][0])


# -- the naive twin: one user, one index, straight from the definitions ----------------------------


def twin(x: Counter[str], y: Counter[str], s: dict[str, float], empty: str) -> dict[str, float]:
    nx, ny, found = sum(x.values()), sum(y.values()), {}
    for which in WEIGHTS:
        jsd = spi = 0.0
        for d in x | y:
            p, q = x[d] / nx, y[d] / ny if ny else 0.0
            part = sum(v / 2 * math.log2(v / ((p + q) / 2)) for v in (p, q) if v)
            jsd += part
            spi += part * (1.0 if which == "released" and not y[d] else 1 - s[d])
        if not ny:
            spi = {"one": 1.0, "null": spi + 0.5, "skip": math.nan}[empty]
            jsd = math.nan if empty == "skip" else 1.0
        found |= {f"SPI_{which}": spi, "JSD": jsd}
    return found | {f"PEL_{name}": told for name, told in pel(x, y).items()}


def pel(x: Counter[str], y: Counter[str]) -> dict[str, float]:
    nx, ny = sum(x.values()), sum(y.values()) or 1
    p = {d: count / nx for d, count in x.items()}
    h = -sum(v * math.log2(v) for v in p.values())
    if len(p) == 1:
        return dict.fromkeys(("exact", "plugin", "similarity", "alignment"), math.nan)
    similar = 0.0
    for d, count in y.items():
        alike = {e: jaccard(d, e) * v for e, v in p.items()}
        z = sum(alike.values())
        for e, v in alike.items():
            similar += count / ny * v / z * math.log2(v / z / p[e]) if v else 0.0
    erased = {d: count - min(count, y[d]) for d, count in x.items()}
    e = sum(erased.values())
    left = -sum(v / nx * math.log2(v / e) for v in erased.values() if v)
    exact = sum(count for d, count in y.items() if d in p) / ny
    plugin = -sum(count / ny * math.log2(p[d]) for d, count in y.items() if d in p) / h
    shares = {"plugin": plugin, "similarity": similar / h, "alignment": (h - left) / h}
    return {"exact": 100 * exact, **{name: 100 * share for name, share in shares.items()}}


def jaccard(one: str, other: str) -> float:
    words, others = set(one.split()), set(other.split())
    return len(words & others) / len(words | others)


def drawn(seed: int) -> tuple[Events, Events, dict[str, float]]:
    """Draw an original log, what is left of it (and made of it), and probabilities."""
    rng = np.random.default_rng(seed)
    words = ["a", "b", "c", "a b", "b c", "a c d", "e", "d e", "f"][: rng.integers(1, 10)]
    users = [f"u{n}" for n in range(rng.integers(1, 6))]
    before = [(u, str(w)) for u in users for w in rng.choice(words, rng.integers(1, 12))]
    kept = rng.random(len(before)) < rng.choice([0.0, 0.3, 0.9, 1.0])
    after = [event for event, keep in zip(before, kept, strict=True) if keep]
    after += [(users[0], "new a"), (users[0], "zz")] * bool(rng.random() < 0.3)
    probability = rng.choice([0.0, 0.25, 1.0]) if rng.random() < 0.3 else None
    texts = {query for _, query in before + after}
    return before, after, {t: probability or float(rng.random()) for t in sorted(texts)}


@pytest.mark.parametrize("empty", EMPTY)
def test_equal_to_the_twin_on_generated_logs(empty: str) -> None:
    for seed in range(400):
        before, after, sensitive = drawn(seed)
        found = indices(before, after, sensitive, empty=empty)
        expected: list[dict[str, float]] = []
        for user in found.users:
            own = [Counter(q for u, q in events if u == user) for events in (before, after)]
            expected.append(twin(own[0], own[1], sensitive, empty))
            if empty == "skip" and not own[1]:
                expected[-1] = dict.fromkeys(expected[-1], math.nan)
        for name in expected[0]:
            wanted = np.array([one[name] for one in expected])
            np.testing.assert_allclose(found.columns[name], wanted, rtol=0, atol=1e-12)
            sizes = np.array([sum(u == user for u, _ in before) for user in found.users])
            there = ~np.isnan(wanted)
            by_queries = (wanted * sizes)[there].sum() / max(1, sizes[there].sum())
            means = found.means()[name]
            assert means["mean"] == pytest.approx(wanted[there].mean() if there.any() else None)
            assert means["by_queries"] == pytest.approx(by_queries if there.any() else None)


def test_the_hand_examples() -> None:
    found = indices(one_user("a a b c"), one_user("a a b"), SENSITIVE)
    assert value(found, "JSD") == pytest.approx(0.137925, abs=5e-7)
    assert value(found, "SPI") == pytest.approx(0.068101, abs=5e-7)
    for before, after, spi in (("a c", "a", 0.2806), ("a", "a c", 0.0806)):
        found = indices(one_user(before), one_user(after), UNLIKE, "released")
        assert value(found, "SPI") == pytest.approx(spi, abs=5e-5)


def test_what_holds_on_all_logs() -> None:
    """The bounds, the identity, the paper's symmetry and linearity, and weights of one."""
    for seed in range(200):
        before, after, sensitive = drawn(seed)
        found = indices(before, after, sensitive)
        for which in WEIGHTS:
            spi = found.columns[f"SPI_{which}"]
            assert np.all((spi >= 0) & (spi <= found.columns["JSD"]) & (found.columns["JSD"] <= 1))
        for given in (None, dict.fromkeys(sensitive, 0.0)):
            plain = indices(before, after, given)
            for which in WEIGHTS:
                np.testing.assert_array_equal(plain.columns[f"SPI_{which}"], found.columns["JSD"])
        same = indices(before, before, sensitive)
        assert not same.columns["JSD"].any()
        assert not same.columns["SPI_released"].any()
        both = [u for u in found.users if any(u == user for user, _ in after)]
        if both == [*found.users]:
            turned = indices(after, before, sensitive)
            order = [turned.users.index(user) for user in found.users]
            np.testing.assert_allclose(turned.columns["SPI"][order], found.columns["SPI"])
        # The paper's SPI is linear in the weights: halfway to weights of 1 it is halfway to JSD.
        half = indices(before, after, {text: s / 2 for text, s in sensitive.items()})
        middle = (found.columns["SPI"] + found.columns["JSD"]) / 2
        np.testing.assert_allclose(half.columns["SPI"], middle, atol=1e-12)


# -- the named traps -------------------------------------------------------------------------------


def read(path: Path, text: str, *, released: bool) -> QueryLog:
    path.write_text(text, encoding="utf-8")
    return read_log([path], form=form_in_pair(path, released=released), folded=not released)[0]


TIME = "2006-03-01 07:17:1"
ORIGINAL = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    + "".join(f"u\t{query}\t{TIME}{n}\t\t\n" for n, query in enumerate("AABAC"))
    + f"v\tA\t{TIME}9\t1\thttp://a\nv\tb  x\t{TIME}9\t\t\n"
)


@pytest.mark.parametrize("released", ["u\ta\nu\ta\n", f"u\tA\t{TIME}0\t\t\nu\tA\t{TIME}3\t\t\n"])
def test_a_released_log_is_not_folded_though_its_original_is(tmp_path: Path, released: str) -> None:
    before = read(tmp_path / "before.tsv", ORIGINAL, released=False)
    after = read(tmp_path / "after.tsv", released, released=True)
    found = log_indices(LogPair.of(before, after))
    assert found.users == ("u", "v")
    # The second line of a is a next page. Between the two others b was suppressed.
    assert found.sizes.tolist() == [4, 2]
    assert found.released.tolist() == [2, 0]
    x, y = Counter("aabc"), Counter("aa")
    assert value(found, "JSD") == pytest.approx(twin(x, y, dict.fromkeys("abc", 0.0), "one")["JSD"])


def test_a_log_of_users_and_queries_alone_can_be_the_original(tmp_path: Path) -> None:
    before = read(tmp_path / "before.tsv", "u\ta\nu\ta\nu\tb\n", released=False)
    assert len(before) == 2


def test_a_partly_kept_query_is_released() -> None:
    """It has its weight, not that of a suppressed one."""
    found = indices(one_user("a a b"), one_user("a b"), {"a": 1.0, "b": 1.0}, "released")
    assert value(found, "SPI") == 0
    assert value(found, "JSD") > 0


def test_a_user_missing_in_the_release_has_an_empty_one() -> None:
    before, after = [*one_user("a c"), ("v", "a"), ("v", "b"), ("v", "b")], one_user("a c")
    expected = {"one": (1.0, 1.0), "null": ((1 + 0.5 / 3 + 0.6) / 2, 1.0)}
    sensitive = {"a": 0.5, "b": 0.1, "c": 0.3}
    for empty, (spi, jsd) in expected.items():
        found = indices(before, after, sensitive, empty=empty)
        assert found.columns["SPI"][1] == pytest.approx(spi)
        assert found.means()["JSD"] == {"mean": jsd / 2, "by_queries": pytest.approx(jsd * 0.6)}
        assert found.columns["PEL_similarity"][1] == 0
    skipped = indices(before, after, sensitive, empty="skip").means()
    assert skipped["SPI"] == skipped["JSD"] == {"mean": 0.0, "by_queries": 0.0}
    assert skipped["PEL_exact"]["mean"] == pytest.approx(100)
    all_gone = indices(before, [], sensitive, empty="skip").means()
    assert all(mean == {"mean": None, "by_queries": None} for mean in all_gone.values())


def test_what_can_not_be_measured_is_refused_without_a_text_or_an_id() -> None:
    before = [("secret", "hidden"), ("v", "a")]
    with pytest.raises(BadInput, match=r"^1 of 2 users of the released log are not in the") as no:
        indices(one_user("a"), [("secret", "a"), ("u", "a")])
    assert "secret" not in str(no.value)
    with pytest.raises(BadInput, match=r"^1 of 3 different texts have no probability") as no:
        indices(before, [("v", "b")], {"a": 0.1, "b": 0.2})
    assert "hidden" not in str(no.value)


def test_pel_of_each_channel_is_what_the_paper_says_or_not() -> None:
    """D6 and D7: exact is constant; plugin rises when a frequent query goes; alignment falls."""
    before = one_user("a a a b c")
    whole, less = indices(before, before), indices(before, one_user("b c"))
    for found in (whole, less):
        assert value(found, "PEL_exact") == pytest.approx(100)
    assert value(whole, "PEL_plugin") == pytest.approx(100)
    assert value(less, "PEL_plugin") > 150
    assert value(whole, "PEL_alignment") == pytest.approx(100)
    assert value(less, "PEL_alignment") == pytest.approx(100)  # what is missing can only be a
    assert value(indices(before, one_user("a c")), "PEL_alignment") < 100
    entropy = -(0.6 * math.log2(0.6) + 0.4 * math.log2(0.2))
    added = indices(before, one_user("a a zz zz"))
    assert value(added, "PEL_exact") == pytest.approx(50)
    assert value(added, "PEL_plugin") == pytest.approx(50 * math.log2(1 / 0.6) / entropy)
    alone = indices(one_user("a a"), one_user("a"))
    assert math.isnan(value(alone, "PEL_exact"))
    assert alone.means()["PEL_exact"]["mean"] is None


def test_a_mean_of_nothing_is_none() -> None:
    assert mean(np.array([np.nan])) is None
