"""The newswires and crawls that TREC uses: each form beside the document it must give.

The forms are the collections', the words are invented.
"""

from __future__ import annotations

import io
import time
import tracemalloc
from collections.abc import Callable

import pytest

from index.corpora import records
from index.corpora.html import is_page, read_page
from index.corpora.trec import _MARKUP, read_trec
from index.model import Account, Document

AP = """<DOC> <DOCNO> AP000000-0001 </DOCNO> <FILEID>AP-XX-01-01-00 0101EST</FILEID>
<FIRST>u i AM-Otters     01-01 0123</FIRST> <SECOND>AM-Otters,0124</SECOND>
<HEAD>Otters Return to the R&D Pond</HEAD> <HEAD>Eds: tops 3 grafs</HEAD>
<DATELINE>OSLO (AP) </DATELINE> <BYLINE>By A. WRITER</BYLINE> <TEXT>
Otters, once < 10, came back. </TEXT> </DOC>"""
WSJ = """<DOC> <DOCNO> WSJ000000-0001 </DOCNO> <DOCID> 000000-0001. </DOCID>
<HL> Otter Shares Rise @ By A. Writer </HL> <DD> 01/01/00</DD> <SO> A JOURNAL (J), PAGE C1 </SO>
<CO> OTTR </CO> <LP> Otters are up. </LP> <TEXT> They sold fish. </TEXT> </DOC>"""
FT = """<DOC> <DOCNO>FT000-1</DOCNO> <PROFILE>_AN-XXXXXX</PROFILE> <DATE>000101 </DATE>
<HEADLINE> FT  01 JAN 00 / Otters of the year </HEADLINE> <TEXT> They swim. </TEXT> <XX>
Companies:- </XX> <CO>Otter plc. </CO> <PUB>The Paper </PUB> <PAGE> London Page 7 </PAGE> </DOC>"""
LA = """<DOC> <DOCNO> LA000000-0001 </DOCNO> <DOCID> 1 </DOCID>
<LENGTH><P>206 words </P></LENGTH> <HEADLINE><P>OTTERS; </P><P>A SEQUEL </P></HEADLINE>
<BYLINE><P>By A. Writer </P></BYLINE> <TEXT><P>They swim.</P> <P>And dive.</P></TEXT>
<GRAPHIC><P>Photo, an otter</P></GRAPHIC> </DOC>"""
FR = """<DOC> <DOCNO> FR000000-0-00001 </DOCNO> <PARENT> FR000000-0-00001 </PARENT> <TEXT>
<!-- PJG FTAG 4700 --> <!-- PJG ITAG l=90 g=1 f=1 --> <USDEPT>DEPARTMENT OF OTTERS</USDEPT>
<ITAG tagnum=94> <DOCTITLE>Self&hyph;made Dams </DOCTITLE> <FTAG tagnum="12" x = y>
<SUMMARY>See &sect;&blank;5.</SUMMARY> <BILLING>BILLING CODE 0000-00-M</BILLING> </TEXT> </DOC>"""
FBIS = """<DOC> <DOCNO> FBIS0-1 </DOCNO> <HT> "cr000000" </HT> <HEADER> <H2> March Reports </H2>
<H3> <TI> Otters: A Poll </TI></H3> </HEADER> <TEXT> Language: <F P=105> Norse </F> They swim.
</TEXT> </DOC>"""
CR = """<DOC> <DOCNO> CR00E-1 </DOCNO> <PARENT> CR00E-1 </PARENT> <TEXT>
<!-- PJG 0012 frnewline --> <TTL>A TRIBUTE TO OTTERS</TTL> <SPEAKER>HON. A. WRITER</SPEAKER>
They swim. </TEXT> </DOC>"""
SJM = """<DOC> <DOCNO> SJMN00-1 </DOCNO> <ACCESS> 00000001 </ACCESS>
<LEADPARA> Otters swim. </LEADPARA> <HEADLINE> OTTERS! </HEADLINE> <WORD.CT> 206 </WORD.CT>
<PG.COL> 1A </PG.COL> <EDITION> Morning Final </EDITION> <DESCRIPT> FISH </DESCRIPT> </DOC>"""
DOE = "<DOC><DOCNO> DOE0-1 </DOCNO><TEXT> Otters at 5 &lt; 6 K. </TEXT></DOC>"
PATN = """<DOC> <DOCNO> PT0-1 </DOCNO> <WKU> 000000001 </WKU> <APN> 0000001 </APN>
<TTL> Otter feeder </TTL> <ABST> <PAL> A device feeds otters. </PAL> </ABST> </DOC>"""
AQUAINT = """<DOC> <DOCNO> NYT00000000.0001 </DOCNO> <DOCTYPE> NEWS STORY </DOCTYPE>
<DATE_TIME> 2000-01-01 00:01 </DATE_TIME> <BODY> <SLUG> BC-OTTERS </SLUG> <HEADLINE> OTTERS
</HEADLINE> <TEXT> <P> They swim. </P> </TEXT> </BODY> <TRAILER> NYT-01-01-00 0001EST </TRAILER>
</DOC>"""
GIGAWORD = """<DOC id="AFP_ENG_00000000.0001" type="story" > <HEADLINE> Otters </HEADLINE>
<TEXT> <P> They swim. </P> </TEXT> </DOC>"""
HAMSHAHRI = "<DOC><DOCID>1S1</DOCID><TEXT>They swim.</TEXT></DOC>"
WEB = """<DOC> <DOCNO>WTX000-B01-1</DOCNO> <DOCOLDNO>IA000-1</DOCOLDNO> <DOCHDR>
http://www.example.org:80/otters?a=1&b=2 192.0.2.1 20000101000000 text/html 206 HTTP/1.0 200 OK
From: <otter@example.org> </DOCHDR> <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">
<html><HEAD><TITLE lang=en>All about&nbsp;Otters</TITLE>
<script type="text/javascript">if (a < b && c > d) document.write("<p>no</p>")</script>
<style>p { color: red }</style></HEAD>
<body bgcolor=white nowrap><!-- no > no <b>no</b> --><p>They <b>swim</b>.<br/>1 < 2</body></html>
</DOC>"""
TRECWEB = """<DOC> <DOCNO>GX0-1</DOCNO> <URL>http://www.example.org/</URL>
<html><head><title>Otters</title></head><body><h1>They swim.</h1></body></html> </DOC>"""

EXPECTED = {
    AP: Document(
        "AP000000-0001",
        "Otters Return to the R&D Pond",
        "u i AM-Otters 01-01 0123 AM-Otters,0124 Eds: tops 3 grafs OSLO (AP) By A. WRITER "
        "Otters, once < 10, came back.",
    ),
    WSJ: Document(
        "WSJ000000-0001",
        "Otter Shares Rise @ By A. Writer",
        "01/01/00 A JOURNAL (J), PAGE C1 OTTR Otters are up. They sold fish.",
    ),
    FT: Document(
        "FT000-1",
        "FT 01 JAN 00 / Otters of the year",
        "_AN-XXXXXX 000101 They swim. Companies:- Otter plc. The Paper London Page 7",
    ),
    LA: Document(
        "LA000000-0001",
        "OTTERS; A SEQUEL",
        "206 words By A. Writer They swim. And dive. Photo, an otter",
    ),
    FR: Document(
        "FR000000-0-00001",
        "Self-made Dams",
        "DEPARTMENT OF OTTERS See § 5. BILLING CODE 0000-00-M",
    ),
    FBIS: Document(
        "FBIS0-1", "Otters: A Poll", '"cr000000" March Reports Language: Norse They swim.'
    ),
    CR: Document("CR00E-1", "A TRIBUTE TO OTTERS", "HON. A. WRITER They swim."),
    SJM: Document("SJMN00-1", "OTTERS!", "00000001 Otters swim. Morning Final FISH"),
    DOE: Document("DOE0-1", "", "Otters at 5 < 6 K."),
    PATN: Document("PT0-1", "Otter feeder", "A device feeds otters."),
    AQUAINT: Document(
        "NYT00000000.0001",
        "OTTERS",
        "NEWS STORY 2000-01-01 00:01 BC-OTTERS They swim. NYT-01-01-00 0001EST",
    ),
    GIGAWORD: Document("AFP_ENG_00000000.0001", "Otters", "They swim."),
    HAMSHAHRI: Document("1S1", "", "They swim."),
    WEB: Document(
        "WTX000-B01-1",
        "All about Otters",
        "They swim . 1 < 2",
        "http://www.example.org:80/otters?a=1&b=2",
    ),
    TRECWEB: Document("GX0-1", "Otters", "They swim.", "http://www.example.org/"),
}


def read(data: str) -> list[Document | str]:
    """Read documents, their text on one line."""
    found = [document for _, document in read_trec(io.BytesIO(data.encode()), Account())]
    return [
        document
        if isinstance(document, str)
        else Document(document.id, document.title, " ".join(document.text.split()), document.url)
        for document in found
    ]


@pytest.mark.parametrize("data", EXPECTED, ids=lambda data: EXPECTED[data].id)
def test_each_collection_is_read(data: str) -> None:
    assert read(data) == [EXPECTED[data]]
    assert read(data.replace("\n", " ").replace("DOC", "doc")) == [EXPECTED[data]]
    lines = data.replace(" <", "\n<").replace("> ", ">\n").replace("\n", "\r\n")  # as they come
    assert read(lines * 2) == [EXPECTED[data]] * 2


def test_all_collections_may_stand_in_one_file() -> None:
    assert read("\n".join(EXPECTED)) == list(EXPECTED.values())


def test_what_is_longer_than_200_characters_is_no_code() -> None:
    for length, text in ((200, "y"), (201, "x" * 201 + " y")):
        data = f"<DOC><DOCNO>1</DOCNO><PNO>{'x' * length}</PNO>y</DOC>"
        assert read(data) == [Document("1", "", text)]


def test_an_unclosed_code_ends_at_the_next_tag() -> None:
    assert read("<DOC><DOCNO>1<DOCID>9<FILEID>8<TEXT>x</TEXT></DOC>") == [Document("1", "", "x")]


@pytest.mark.parametrize(
    "tag",
    [
        *("FIRST", "SECOND", "SLUG", "TRAILER", "DOCTYPE", "DATE_TIME", "LENGTH"),
        *("SO", "ACCESS", "EDITION", "COPYRGHT", "LANGUAGE"),
        *("PROFILE", "XX", "PUB", "PAGE", "HT", "FIG", "BILLING", "FRFILING"),
    ],
)
def test_a_field_that_may_hold_words_is_text(tag: str) -> None:
    data = f"<DOC><DOCNO>1</DOCNO><{tag}>otters swim</{tag}><TEXT>far</TEXT></DOC>"
    assert read(data) == [Document("1", "", "otters swim far")]


@pytest.mark.parametrize("tag", ["DOCID", "DOCOLDNO", "FILEID", "PARENT", "WORD.CT", "WKU"])
def test_bookkeeping_is_no_text(tag: str) -> None:
    data = f"<DOC><DOCNO>1</DOCNO><{tag}> 0000-7 </{tag}><TEXT>far</TEXT></DOC>"
    assert read(data) == [Document("1", "", "far")]


@pytest.mark.parametrize("again", [" ", "<?x?>", "<!-- -->"])
def test_a_page_is_told_in_flat_memory_behind_20_mb(again: str) -> None:
    before = again * ((20 << 20) // len(again))
    page = before + "<html>"
    assert peak_of(lambda: not is_page(before)) < 1 << 20
    assert peak_of(lambda: is_page(page)) < 1 << 20


def test_a_tag_of_20_mb_is_read_in_flat_memory() -> None:
    cut = "<a" + " x=y" * (5 << 20)
    whole = cut + ">"
    assert peak_of(lambda: not _MARKUP.search(cut)) < 1 << 20
    assert peak_of(lambda: _MARKUP.fullmatch(whole)) < 1 << 20


def peak_of(holds: Callable[[], object]) -> int:
    """Return how many bytes it takes to find out that something holds."""
    tracemalloc.start()
    try:
        assert holds()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("again", ["<title>", "<script>", "<!--", "<style></script>", "<", "&#"])
def test_a_page_is_read_in_linear_time(again: str) -> None:
    page = "<html>" + again * (1_000_000 // len(again))
    before = time.process_time()
    assert read_page(page)[0] == ""
    assert time.process_time() - before < 2  # 0.3 at most


@pytest.mark.parametrize(
    "again",
    [
        *("<PNO>", "<PNO>x</APN>", "<DOCNO>", "<DOCHDR>", "<URL", "<!--"),
        *("<TI>", "<TI>x<HL>", "<TI></TI>", "<TITLE></HL>"),
    ],
)
def test_a_document_is_read_in_linear_time(again: str) -> None:
    data = "<DOC><DOCNO>1</DOCNO>x" + again * (1_000_000 // len(again)) + "</DOC>"
    before = time.process_time()
    assert len(read(data)) == 1
    assert time.process_time() - before < 2  # 0.4 at most


def test_a_header_may_stay_open() -> None:
    (found,) = read("<DOC><DOCNO>1</DOCNO><DOCHDR>http://a.example/ x <p>They swim.</DOC>")
    assert found == Document("1", "", "http://a.example/ x They swim.")
    assert read("<DOC><DOCNO>1</DOCNO><DOCHDR></DOCHDR></DOC>") == [records.NO_TEXT]
