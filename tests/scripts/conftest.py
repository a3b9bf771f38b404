"""A workspace of three people to try measurements on."""

from ..search_app.conftest import three_people

__all__ = ["three_people"]
