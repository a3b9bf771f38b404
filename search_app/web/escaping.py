"""Texts for pages: escaped as markupsafe does it, in a fraction of its time."""

from __future__ import annotations

from typing import Any

from flask import Flask
from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from markupsafe import Markup, _escape_inner, escape  # type: ignore[attr-defined]


def escaped(value: object) -> str:
    """Return `value` as a page has it: `Markup` as it is, any other text escaped."""
    # A page has hundreds of texts, and markupsafe asks each for several attributes.
    if type(value) is Markup:
        return value
    return _escape_inner(value) if type(value) is str else escape(value)


def filled(frame: str, *texts: str) -> Markup:
    """Return the markup `frame` with each of `texts`, escaped, in the place of a {}."""
    return Markup(frame.format(*map(escaped, texts)))  # noqa: S704


class _Generator(CodeGenerator):
    """Makes Python of templates, which escapes by `escaped`."""

    def _output_child_pre(self, node: nodes.Expr, frame: Any, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escaped(")


def escape_quickly(app: Flask) -> None:
    """Let templates of `app` escape by `escaped`."""
    app.jinja_env.extend(escaped=escaped)
    app.jinja_env.code_generator_class = _Generator
