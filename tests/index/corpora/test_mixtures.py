"""Any mixture of formats, packings and flaws: each document is read or counted, once."""

from __future__ import annotations

import bz2
import gzip
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from index.corpora import records
from index.corpora.lines import NOT_JSON, OTHER_COLUMNS
from index.corpora.reading import read_documents
from index.model import Account

from .test_lzw import compress
from .test_packing import tar, zipped

WRITTEN = {
    ".trec": "<DOC>\n<DOCNO> {0} </DOCNO>\n<TEXT>otter {0}</TEXT>\n</DOC>\n",
    ".trecweb": "<doc><docno>{0}</docno><dochdr>\nhttp://a.example/ 1\n</dochdr>"
    "<p>otter {0}<hr></doc>\n",
    ".jsonl": '{{"_id": "{0}", "text": "otter {0}"}}\n',
    ".tsv": "{0}\totter {0}\n",
}
FLAWS = {".trec": records.NO_ID, ".trecweb": records.NO_ID, ".jsonl": NOT_JSON}
FLAWED = {
    ".trec": "<DOC>\nnameless</DOC>\n",
    ".trecweb": "<doc>nameless</doc>\n",
    ".jsonl": "[]\n",
    ".tsv": "a\tb\tc\n",
}
PACKINGS: dict[str, Callable[[str, bytes], bytes]] = {
    "": lambda _, data: data,
    ".gz": lambda _, data: gzip.compress(data),
    ".bz2": lambda _, data: bz2.compress(data),
    ".Z": lambda _, data: compress(data),
    ".tar": lambda name, data: tar({name: data}),
    ".zip": lambda name, data: zipped({"folder/" + name: data}),
}
file = st.tuples(
    st.sampled_from([*WRITTEN]),
    st.sampled_from([*PACKINGS]),
    st.integers(1, 6),  # documents
    st.integers(0, 3),  # flawed ones after them
    st.integers(0, 3),  # folders above
)


@given(st.lists(file, min_size=1, max_size=6))
def test_all_that_was_put_in_is_read_or_counted(
    files: list[tuple[str, str, int, int, int]],
) -> None:
    expected: list[str] = []
    flaws: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for place, (form, packing, good, bad, deep) in enumerate(files):
            names = [f"{place}-{n}" for n in range(good)]
            data = "".join(WRITTEN[form].format(name) for name in names)
            path = Path(folder, *(["deep"] * deep), f"{place}{form}{packing}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(PACKINGS[packing](f"part{form}", (data + FLAWED[form] * bad).encode()))
            expected += names
            flaws[FLAWS.get(form, OTHER_COLUMNS)] += bad
        account = Account()
        documents = list(read_documents([Path(folder)], None, account))
    assert sorted(document.id for document in documents) == sorted(expected)
    assert all(document.text == f"otter {document.id}" for document in documents)
    assert account.read == len(expected)
    assert account.skipped == +flaws
    assert account.done == account.size
