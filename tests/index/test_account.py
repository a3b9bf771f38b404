"""The account of a corpus: all that is left out is counted, and its first places are kept."""

from __future__ import annotations

from index.jsonl import NOT_JSON
from index.model import FIRST_FILES, FIRST_RECORDS, MOST_SKIPS, Account


def test_the_first_places_of_each_reason_are_kept() -> None:
    account = Account()
    for number in range(1, 101):
        account.skip("a.jsonl", f"line {number}", NOT_JSON)
        account.skip(f"{number}.pdf", "whole file", "unknown format")
    account.skip("z.jsonl.gz", "after line 7", "broken archive (it is cut off)")
    assert account.skipped == {
        NOT_JSON: 100,
        "unknown format": 100,
        "broken archive (it is cut off)": 1,
    }
    files = [file for file, _, _ in account.first_skips]
    lines = [where for file, where, _ in account.first_skips if file == "a.jsonl"]
    assert lines == [f"line {number}" for number in range(1, FIRST_RECORDS + 1)]
    assert len(files) == FIRST_RECORDS + FIRST_FILES + 1 == 5 + 20 + 1
    assert files[-1] == "z.jsonl.gz"


def test_no_number_of_reasons_fills_the_memory_with_places() -> None:
    account = Account()
    for number in range(2 * MOST_SKIPS):
        account.skip("a.zip", "whole file", f"broken archive (member {number})")
    assert len(account.first_skips) == MOST_SKIPS
    assert len(account.skipped) == 2 * MOST_SKIPS
