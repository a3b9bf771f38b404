"""The terms of a text in their places, with the gaps that stop words leave. [I/O]"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from .hits import as_function
from .java import analyzer, class_of, handles, lookup, method, signature, talking

STREAM = "org.apache.lucene.analysis.TokenStream"
BUILDER = "java.lang.StringBuilder"
ATTRIBUTES = "org.apache.lucene.analysis.tokenattributes"
Places = list[str | None]


def places_of(texts: Sequence[str], language: str) -> list[Places]:
    """Return the terms of each of `texts` in `language`; None is the place of a stop word."""
    with talking("the analysis of a text"):
        reader = _reader(language)
        read = [str(reader.apply(text)) for text in texts]
    return [_places(text) for text in read]


def _places(text: str) -> Places:
    """Return the terms in `text`, which has before each how many places it is from the last."""
    steps, terms = (pieces := text.split())[::2], pieces[1::2]
    places: Places = []
    for step, term in zip(steps, terms, strict=True):
        if step != "1":
            places += [None] * (int(step) - 1)
        places.append(term)
    return places


@cache
def _reader(language: str) -> Any:
    """Return the Java function from a text to its terms, each after its step, with blanks."""
    do = handles()
    do_step = _attribute("PositionIncrementAttribute", "getPositionIncrement", "()I")
    term = _attribute("CharTermAttribute", "toString", "()Ljava/lang/String;")
    blank = do.insertArguments(_append("Ljava/lang/String;"), 1, " ")
    # step(builder, stream): builder.append(step).append(" ").append(term).append(" ")
    first = do.filterArguments(_append("I"), 1, do_step)
    second = do.filterArguments(_append("Ljava/lang/String;"), 1, term)
    both = do.collectArguments(second, 0, do.filterReturnValue(first, blank))
    kind = signature(f"(L{_path(BUILDER)};L{_path(STREAM)};)L{_path(BUILDER)};")
    step = do.filterReturnValue(do.permuteArguments(both, kind, 0, 1, 1), blank)
    more = do.dropArguments(method(STREAM, "incrementToken", "()Z"), 0, class_of(BUILDER))
    made = do.dropArguments(
        lookup().findConstructor(class_of(BUILDER), signature("()V")), 0, class_of(STREAM)
    )
    started = do.foldArguments(made, method(STREAM, "reset", "()V"))
    text = method(BUILDER, "toString", "()Ljava/lang/String;")
    loop = do.filterReturnValue(do.whileLoop(started, more, step), text)
    # A stream must be closed, whatever happens: its analyzer uses it again.
    string, closing = class_of("java.lang.String"), method(STREAM, "close", "()V")
    kept = do.dropArguments(do.identity(string), 1, class_of(STREAM))
    closed = do.foldArguments(kept, do.dropArguments(closing, 0, string))
    whole = do.tryFinally(loop, do.dropArguments(closed, 0, class_of("java.lang.Throwable")))
    opened = method(
        "org.apache.lucene.analysis.Analyzer",
        "tokenStream",
        f"(Ljava/lang/String;Ljava/lang/String;)L{_path(STREAM)};",
    ).bindTo(analyzer(language))
    reader = do.filterArguments(whole, 0, do.insertArguments(opened, 0, "contents"))
    return as_function(reader)


def _attribute(name: str, getter: str, kind: str) -> Any:
    """Return the Java method from a stream to what `getter` says of its attribute `name`."""
    owner = f"{ATTRIBUTES}.{name}"
    getting = method(
        "org.apache.lucene.util.AttributeSource",
        "getAttribute",
        "(Ljava/lang/Class;)Lorg/apache/lucene/util/Attribute;",
    )
    of_name = handles().insertArguments(getting, 1, class_of(owner))
    typed = of_name.asType(signature(f"(L{_path(STREAM)};)L{_path(owner)};"))
    return handles().filterReturnValue(typed, method(owner, getter, kind))


def _append(kind: str) -> Any:
    return method(BUILDER, "append", f"({kind})L{_path(BUILDER)};")


def _path(name: str) -> str:
    return name.replace(".", "/")
