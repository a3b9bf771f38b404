from __future__ import annotations

import pytest

from search_app.web.views.prose import prose


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("one\ntwo\n\nthree", "<p>one two</p>\n<p>three</p>"),
        ("# A\n###### B", "<h2>A</h2>\n<h6>B</h6>"),
        ("- a\n- *b*\n\n* c", "<ul><li>a</li><li><em>b</em></li></ul>\n<ul><li>c</li></ul>"),
        ("**bold** 2 * 3", "<p><strong>bold</strong> 2 * 3</p>"),
        ("<b>&\"'", "<p>&lt;b&gt;&amp;&#34;&#39;</p>"),
        ("#no heading\n-no item", "<p>#no heading -no item</p>"),
        ("**<script>**", "<p><strong>&lt;script&gt;</strong></p>"),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert prose(text) == html
