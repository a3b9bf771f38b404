"""What reaches a terminal: one line, and nothing that makes it do something."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable

import pytest

from search_app.console import printable, say, show, show_json

FOREIGN = "a\x1b[31mb\nc\td\x07\x7f\x9b2J\u202ee\u2066\u2028f\r"
SHOWN = "a\ufffd[31mb c d\ufffd\ufffd\ufffd2J\ufffde\ufffd f "


@pytest.mark.parametrize("told", [say, show])
def test_what_documents_say_does_nothing_to_a_terminal(
    told: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    told(FOREIGN)
    said = capsys.readouterr()
    assert said.out + said.err == SHOWN + "\n"


def test_letters_of_all_scripts_stay() -> None:
    text = "Köln ☕ 😀 ▲ \u0645\u0646 \u05d0 \u200d e\u0301 \udcff"
    assert printable(text) == text


def test_no_control_character_at_all_is_printed() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(letter) for letter in printable(every)}
    assert not left & {"Cc", "Zl", "Zp"}


def test_json_is_the_same_value_and_as_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"title": FOREIGN, FOREIGN: ["ö ☕"]}
    show_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == value
    assert "ö ☕" in out
    assert printable(out.replace("\n", "")) == out.replace("\n", "")


def test_an_interrupt_of_the_first_imports_is_no_fault() -> None:
    """Ctrl+C while `python -m search_app` still imports its command line."""
    program = """
import runpy, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "search_app.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
runpy.run_module("search_app", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
