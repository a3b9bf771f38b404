"""The corpus that all servers here have, indexed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .served import build_index


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_index(tmp_path_factory.mktemp("corpus") / "index")
