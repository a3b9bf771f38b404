"""In a real browser: the order is made there, and nothing of the profile goes out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from flask.testing import FlaskClient
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from anonymizer.model import Profiles, Release, ReleasedRow
from anonymizer.promise import AVERAGE
from anonymizer.rows.closest import closest_row
from index.forward.reading import Forward
from search_app.search.engine import Engine
from search_app.search.evidence import RowPopulation
from search_app.search.modes import Modes
from search_app.search.request import RankingRule
from search_app.search.request import Request as Asked
from search_app.web import Site, create_app

from ...evaluation.ranked_texts import forward_of, fractional_profile, shelf_of, texts
from .chromium import device, in_browser, search, take

pytestmark = in_browser
DOCUMENTS = 1200
PEOPLE = {str(2000 + seed): fractional_profile(seed) for seed in range(4)}
ROW = fractional_profile(9)
# Orders of one answer for each profile. All goes over as a text: as objects it takes seconds.
ORDERS = """async (given) => {
  const { ordered } = await import("/static/ranking.js");
  const { directed, scored } = await import("/static/evidence.js");
  const { answer, reference, profiles } = JSON.parse(given);
  return JSON.stringify(profiles.map((profile) => {
    const own = new Map(profile);
    return ordered(answer, own, reference && scored(answer, directed(reference, own)));
  }));
}"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    made = texts(DOCUMENTS)
    forward: Forward = forward_of(made, tmp_path_factory.mktemp("ranked") / "forward")
    engine = Engine(shelf_of(DOCUMENTS, made), forward)
    rows = {f"g{seed:04}": fractional_profile(seed, 90) for seed in range(100, 130)}
    engine.prepare("group", RowPopulation(Profiles.from_rows(rows), np.full(30, 4)))
    return engine


@pytest.fixture
def site(site: Site, engine: Engine) -> Site:
    release = Release(
        rows=Profiles.from_rows({"g0001": ROW}),
        users=tuple(PEOPLE),
        row_of_user=np.zeros(len(PEOPLE), dtype=np.int64),
        method="p-linkability",
        parameters={"p": 0.5},
        promise=AVERAGE,
    )
    served = Modes(engine, Profiles.from_rows(PEOPLE), release, populations=["group"])
    return replace(site, modes=served, people=dict.fromkeys(PEOPLE, "Mira"), examples=())


@pytest.fixture
def context(browser: Browser) -> BrowserContext:
    return browser.new_context()


@pytest.fixture
def sent(context: BrowserContext) -> list[Request]:
    """Keep every request of the session."""
    requests: list[Request] = []
    context.on("request", lambda request: requests.append(request))  # noqa: PLW0108
    return requests


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert [text for text in said if "status of 4" not in text] == []


def line_of(profile: Mapping[str, float]) -> str:
    return json.dumps({"user": "u1", "terms": profile})


def shown(page: Page) -> list[str]:
    return page.locator(".hit").evaluate_all("hits => hits.map((hit) => hit.dataset.key)")


def orders(
    page: Page, answer: Any, profiles: Iterable[Mapping[str, float]], reference: Any = None
) -> list[Any]:
    """Return what the page of the device makes of an answer for each of `profiles`."""
    pairs = [list(profile.items())[::-1] for profile in profiles]
    given = {"answer": answer, "profiles": pairs, "reference": reference or None}
    made: list[Any] = json.loads(page.evaluate(ORDERS, json.dumps(given)))
    return made


def own_order(engine: Engine, profile: Mapping[str, float], pool: int) -> list[tuple[str, float]]:
    ranking = engine.by_profile(engine.pool("q", pool), profile)
    ids = [f"d{row:04}" for row in ranking.rows.tolist()]
    return list(zip(ids, ranking.scores.tolist(), strict=True))


@pytest.mark.parametrize("pool", [100, 1000])
def test_the_order_is_the_servers_own_to_the_last_bit(
    page: Page, address: str, client: FlaskClient, engine: Engine, pool: int
) -> None:
    device(page, f"{address}/device")
    answer = client.get(f"/api/v1/candidates?q=java&pool={pool}").get_json()
    for profile, made in zip(PEOPLE.values(), orders(page, answer, PEOPLE.values()), strict=True):
        expected = own_order(engine, profile, pool)
        assert [(each["id"], each["value"]) for each in made["found"]] == expected
        assert len({score for _, score in expected}) < pool  # there are ties


def test_products_are_added_up_in_four_sums(page: Page, address: str) -> None:
    """As the server adds them: of these documents one sum would give other last digits."""
    rng, terms = np.random.default_rng(7), 43
    weights = rng.random(terms) * 7
    counts = rng.integers(1, 40, (100_000, terms)).astype(np.float64)
    four, one = np.zeros((len(counts), 4)), np.zeros(len(counts))
    for at in range(terms):
        product = counts[:, at] * weights[at]
        four[:, at % 4 if at < 40 else 0] += product
        one += product
    norm, length = 900.0, np.sqrt(float(terms))
    values, others = (
        np.round(sums / (norm * length) * 1e12) / 1e12
        for sums in ((four[:, 0] + four[:, 1]) + (four[:, 2] + four[:, 3]), one)
    )
    some = np.flatnonzero(values != others)
    assert some.size
    documents = [
        {"terms": [*range(terms)], "counts": counts[at].tolist(), "norm": norm, "score": 1.0}
        for at in some.tolist()
    ]
    vocabulary = [f"t{at}" for at in range(terms)]
    answer = {"vocabulary": vocabulary, "weights": weights.tolist()}
    device(page, f"{address}/device")
    (made,) = orders(page, {**answer, "documents": documents}, [dict.fromkeys(vocabulary, 1.0)])
    found = [each["value"] for each in made["found"]]
    assert found == sorted(values[some].tolist(), reverse=True)


def test_what_is_shown_is_that_order(page: Page, address: str, engine: Engine) -> None:
    device(page, f"{address}/device?q=java&pool=40")
    take(page, line_of(PEOPLE["2000"]))
    expected = [name for name, _ in own_order(engine, PEOPLE["2000"], 40)]
    for first in (0, 10, 20, 30):
        assert shown(page) == expected[first : first + 10]
        if first < 30:
            page.get_by_role("button", name="Next").click()
    assert page.locator("#hits").get_attribute("start") == "31"
    expect(page.get_by_role("button", name="Next")).to_have_count(0)
    rank = int(expected[30][1:]) + 1
    label = page.locator(".hit .move").first.get_attribute("aria-label")
    assert label == f"moved {'up' if rank > 31 else 'down'} {abs(rank - 31)}, from {rank} to 31"


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("pool", [100, 1000])
def test_by_evidence_the_order_is_the_servers_too(
    page: Page, address: str, site: Site, engine: Engine, published: bool, pool: int
) -> None:
    """Among published rows, or among other searches; values and standing to the last bit."""
    site.modes.withheld = lambda: not published
    client = create_app(replace(site, access="demo")).test_client()
    rule, gates = RankingRule("evidence"), set()
    answer = client.get(f"/api/v1/candidates?q=java&pool={pool}&ranking=evidence").get_json()
    reference = client.get("/api/v1/reference").get_json()
    assert (answer["closeness"] == []) is (reference["rows"] is False) is (not published)
    device(page, f"{address}/device")
    profiles = [fractional_profile(seed, 90) for seed in range(60, 72)]
    for profile, made in zip(profiles, orders(page, answer, profiles, reference), strict=True):
        among = "group" if published else ""
        ranking = engine.by_profile(engine.pool("q", pool), profile, rule, among)
        assert ranking.evidence is not None
        expected = [f"d{row:04}" for row in ranking.rows.tolist()], ranking.scores.tolist()
        assert ([each["id"] for each in made["found"]], [e["value"] for e in made["found"]]) == (
            expected
        )
        stands = ranking.evidence.standing, ranking.evidence.gate
        assert (made["standing"], made["gate"]) == stands
        gates.add(ranking.evidence.gate > 0)
    assert True in gates


def test_by_evidence_the_page_says_how_well_the_search_fits(page: Page, address: str) -> None:
    device(page, f"{address}/device?q=java&pool=40&ranking=evidence")
    take(page, line_of(PEOPLE["2000"]))
    expect(page.locator("#told")).to_contain_text("this search")
    expect(page.locator("#seen")).to_contain_text("/api/v1/reference")
    expect(page.locator("#seen")).to_contain_text("Everybody gets the same answer.")


def test_the_closest_row_is_found_here_as_the_library_finds_it(
    page: Page, address: str, sent: list[Request], tmp_path: Path
) -> None:
    rows = {f"g{seed:04}": fractional_profile(seed, 90) for seed in range(40)}
    # The last row of each cohort is the mean of its groups, which is no group's.
    cohort: dict[str, Any] = {"facts": {"groups": 20}}
    lines = [{"format": "veilsearch published release 2", **cohort}]
    lines[0]["cohorts"] = [{"rows": 21, **cohort}]
    rows["g0019~"] = rows["g0040"] = PEOPLE["2003"]
    lines += [{"row": name, "users": 5, "terms": rows[name]} for name in sorted(rows)]
    del rows["g0019~"], rows["g0040"]
    (tmp_path / "published").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    choice = closest_row(PEOPLE["2003"], Profiles.from_rows(rows))
    device(page, f"{address}/device")
    take(page, line_of(PEOPLE["2003"]))
    before = len(sent)
    page.locator("#rows").set_input_files(tmp_path / "published")
    told = f"Of 40 rows, g{choice.row:04} is closest to your profile (cosine {choice.cosine:.2f})"
    expect(page.locator("#staged")).to_contain_text(told)
    assert page.locator("#row").input_value() == f"g{choice.row:04}"
    (tmp_path / "published").write_text("{}")
    page.locator("#rows").set_input_files(tmp_path / "published")
    expect(page.locator("#staged")).to_contain_text("it has no rows")
    assert len(sent) == before


def test_two_stages_are_the_rows_first_in_the_own_order(
    page: Page, address: str, engine: Engine, sent: list[Request]
) -> None:
    device(page, f"{address}/device")
    take(page, line_of(PEOPLE["2001"]))
    page.locator("#row").fill("g0001")
    page.locator("#keep").fill("60")
    page.locator("#stages").check()
    search(page, "java")
    pool = engine.pool("q", 1000)
    row = engine.rank(pool, Asked("q", 1000, row=ReleasedRow("g0001", 4, ROW)))
    kept = {f"d{at:04}" for at in row.rows[:60].tolist()}
    expected = [name for name, _ in own_order(engine, PEOPLE["2001"], 1000) if name in kept]
    assert shown(page) == expected[:10]
    assert "chosen by row g0001 from 1,000" in page.locator("#told").inner_text()
    panel = page.locator("#seen").inner_text()
    assert "From the row g0001 the server learned that you may be one of the 4 people" in panel
    (asked,) = [parse_qs(urlsplit(each.url).query) for each in sent if "candidates" in each.url]
    assert asked == {"q": ["java"], "pool": ["1000"], "row": ["g0001"], "keep": ["60"]}


def test_no_request_carries_a_term_of_the_profile(
    page: Page, address: str, sent: list[Request], tmp_path: Path
) -> None:
    """All of a session: each way in, searches, two stages, pages, removing, export, erasing.

    What is refused, searched for in vain or left by going back, too.
    """
    device(page, f"{address}/device?q=java")
    take(page, "zyxsentinel0, zyxsentinel1 = 1.5\nzyxsentinel2")
    take(page, "zyxsentinel0 = 1 = 2")
    take(page, line_of({"zyxsentinel3": 2.0, "zyxsentinel4": 1.0}))
    file = tmp_path / "me.json"
    own = {"terms": [{"term": "zyxsentinel5", "weight": 0.5}], "row": {"row": "g0001"}}
    file.write_text(json.dumps(own))
    page.locator("#file").set_input_files(file)
    expect(page.locator("#terms li")).to_have_count(6)  # the page reads a file in its own time
    search(page, "java code")
    page.get_by_role("button", name="Next").click()
    page.locator("#stages").check()
    search(page, "java script")
    page.go_back()
    page.locator("#seen pre").nth(3).wait_for()
    page.locator("#row").fill("g7777")
    search(page, "java in vain")
    page.locator("#row").fill("g0001")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert "zyxsentinel5" in Path(download.value.path()).read_text()
    page.get_by_role("button", name="Remove zyxsentinel0").click()
    page.reload()
    page.locator("#told", has_text="ordered by your own profile").wait_for()
    page.get_by_text("Erase …").click()
    page.get_by_role("button", name="Erase all of it").click()
    asked = [each for each in sent if not each.url.startswith(("blob:", "data:"))]
    carried = [
        f"{each.method} {each.url} {each.all_headers()} {each.post_data_buffer!r}" for each in asked
    ]
    assert len([each for each in carried if "/api/v1/candidates" in each]) >= 4
    assert [each for each in carried if "sentinel" in each.lower()] == []
    assert {each.method for each in asked} == {"GET"}
    assert {f"http://{urlsplit(each.url).netloc}" for each in asked} == {address}
    assert {name for each in asked for name in parse_qs(urlsplit(each.url).query)} <= {
        *("q", "pool", "row", "keep", "v")
    }


def test_the_panel_shows_what_was_sent_byte_for_byte(
    page: Page, address: str, sent: list[Request]
) -> None:
    device(page, f"{address}/device")
    take(page, "coffee")
    search(page, "java & \u00e9t\u00e9 #1")
    search(page, "java")
    boxes = page.locator("#seen pre").all_inner_texts()
    asked = [each for each in sent if "candidates" in each.url]
    expected = [f"GET {each.url}\nAccept: application/json" for each in asked[::-1]]
    assert boxes == expected
    assert [each.headers["accept"] for each in asked] == ["application/json"] * 2
    page.get_by_text("Every address this page has requested").click()
    counted = page.locator("#asked li").all_inner_texts()
    assert {url for url in counted if "icon" not in url} == {
        each.url for each in sent if "icon" not in each.url
    }


def test_the_query_of_a_search_is_not_in_the_pages_own_requests(
    page: Page, address: str, sent: list[Request]
) -> None:
    device(page, f"{address}/device")
    take(page, "coffee")
    search(page, "java")
    assert page.url == f"{address}/device#q=java"
    page.reload()
    page.locator("#told", has_text="ordered by").wait_for()
    search(page, "java code")
    page.go_back()
    expect(page.locator("#q")).to_have_value("java")
    pages = [each.url for each in sent if each.is_navigation_request()]
    assert {url.partition("#")[0] for url in pages} == {f"{address}/device"}


EVERYTHING = """async () => ({
  local: Object.keys(localStorage), session: Object.keys(sessionStorage), cookies: document.cookie,
  databases: indexedDB.databases ? await indexedDB.databases() : [],
  caches: self.caches ? await caches.keys() : [],
  fields: [...document.querySelectorAll("textarea, #here input")].map(
    (field) => (field.type === "checkbox" ? field.checked : field.value)),
  page: document.body.innerText.includes("zyx"), state: history.state, name: window.name,
})"""


def test_erase_leaves_nothing_in_any_tab(page: Page, context: BrowserContext, address: str) -> None:
    device(page, f"{address}/device?q=java")
    take(page, "zyxsentinel0, zyxsentinel1 = 3")
    page.locator("#row").fill("g0001")
    page.locator("#stages").check()
    other = context.new_page()
    device(other, f"{address}/device")
    expect(other.locator("#terms li")).to_have_count(2)
    assert page.evaluate(EVERYTHING)["local"] == ["veilsearch.device"]
    page.locator("#more").fill("zyxsentinel2")
    page.get_by_text("Erase …").click()
    page.get_by_role("button", name="Erase all of it").click()
    other.locator("#terms li").first.wait_for(state="detached")
    other.locator("#row").fill("g0001")  # what another tab keeps now has nothing of before
    assert page.evaluate(EVERYTHING) == {
        **{"local": [], "session": [], "cookies": "", "databases": [], "caches": []},
        **{"fields": ["", "", False, "", "200", ""], "page": False, "state": None, "name": ""},
    }
    assert "in the plain order" in page.locator("#told").inner_text()
    page.reload()
    expect(page.locator("#terms li")).to_have_count(0)


def test_a_profile_is_listed_by_weight_and_one_term_goes_at_a_time(
    page: Page, address: str
) -> None:
    device(page, f"{address}/device")
    take(page, "tea, Coffee = 2.5; programming language")
    items = page.locator("#terms li")
    spans = [item.split("\n")[:2] for item in items.all_inner_texts()]
    assert spans == [["coffee", "2.5"], ["programming language", "1"], ["tea", "1"]]
    page.get_by_role("button", name="Remove programming language").press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Remove tea"
    page.reload()
    assert [item.split("\n")[0] for item in items.all_inner_texts()] == ["coffee", "tea"]


def test_an_export_comes_back_the_same(page: Page, address: str, tmp_path: Path) -> None:
    device(page, f"{address}/device")
    profile = {**fractional_profile(3), "__proto__": 0.25, "été": 1e-7}
    take(page, json.dumps({"user": "u1", "terms": profile}))
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "out.jsonl")
    exported = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert exported["terms"] == profile
    page.get_by_text("Erase …").click()
    page.get_by_role("button", name="Erase all of it").click()
    page.locator("#file").set_input_files(tmp_path / "out.jsonl")
    page.locator("#terms li").first.wait_for()
    assert dict(page.evaluate("JSON.parse(localStorage['veilsearch.device']).terms")) == profile


def test_the_own_pages_download_is_taken_with_its_row(
    page: Page, address: str, site: Site, tmp_path: Path
) -> None:
    answer = create_app(site).test_client().get("/me/download?user=2002")
    (tmp_path / "me.json").write_bytes(answer.data)
    device(page, f"{address}/device")
    page.locator("#file").set_input_files(tmp_path / "me.json")
    page.locator("#terms li").first.wait_for()
    assert page.locator("#row").input_value() == "g0001"
    terms = page.evaluate("JSON.parse(localStorage['veilsearch.device']).terms")
    assert dict(terms) == PEOPLE["2002"]


NO_PROFILES = (
    ("{", "This is not one JSON object"),
    ('{"user": "a", "terms": {"b": 1}}\n{"user": "c", "terms": {}}', "one person’s line"),
    ('{"a": 1}', "This JSON has no terms."),
    ('{"terms": {"coffee": -1}}', "The weight of “coffee” must be a number above 0."),
    ('{"terms": {"coffee": "1"}}', "must be a number above 0"),
    ('{"terms": {"coffee": 1e999}}', "must be a number above 0"),
    ('{"terms": [{"term": 5, "weight": 1}]}', "An interest must be a text"),
    ('{"terms": {}}', "There is no interest in this text."),
    ("coffee = much", "must be a number above 0"),
    ("cocoa, coffee=1=2", "“coffee=1=2” has more than one =: give an interest one weight."),
    (" , ", "There is no interest in this text."),
    (",".join(f"t{n}" for n in range(5001)), "At most 5000 interests"),
)


def test_what_is_no_profile_is_told_and_changes_nothing(page: Page, address: str) -> None:
    device(page, f"{address}/device")
    for text, said in NO_PROFILES:
        take(page, "tea")
        expect(page.locator("#done")).not_to_contain_text(said)
        take(page, text)
        assert said in page.locator("#done").inner_text()
        expect(page.locator("#terms li")).to_have_count(1)
        assert page.locator("#more").input_value() == text  # to be put right


def test_damaged_storage_is_an_empty_profile(page: Page, address: str) -> None:
    device(page, f"{address}/device")
    for damage in ("{", "5", '{"terms": 5}', '{"terms": [["a", -1]]}'):
        page.evaluate("damage => { localStorage['veilsearch.device'] = damage; }", damage)
        page.reload()
        expect(page.locator("#terms li")).to_have_count(0)
        take(page, "tea")
        expect(page.locator("#terms li")).to_have_count(1)


def test_print_has_the_results_alone(page: Page, address: str) -> None:
    device(page, f"{address}/device?q=java")
    take(page, line_of(PEOPLE["2000"]))
    page.locator(".hit").first.wait_for()  # the address alone searches, and that takes a moment
    page.locator("body").press("j")
    assert page.evaluate("document.activeElement.dataset.key") == shown(page)[0]
    page.emulate_media(media="print")
    assert page.locator(".hit").first.is_visible()
    hidden = page.locator(
        "#here button, #terms, #here textarea, #profile-head, #stages-head, #paging, footer"
    )
    assert page.locator("#seen pre").is_visible()
    assert not any(hidden.nth(at).is_visible() for at in range(hidden.count()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_and_it_fits_with_all_of_it_there(
    browser: Browser, address: str, scheme: Any, width: int
) -> None:
    page = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    ).new_page()
    device(page, f"{address}/device")
    take(page, line_of({**PEOPLE["2000"], "a" * 900: 2.0}))
    page.locator("#row").fill("g0001")
    page.locator("#stages").check()
    search(page, "java")
    page.get_by_role("button", name="Next").click()
    for summary in page.locator("summary").all():
        summary.click()
    violations = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestPrivate:
    """Where people sign in."""

    @pytest.fixture
    def site(self, site: Site) -> Site:
        token = "the-operator-s-token-of-this-toy-site"  # noqa: S105
        settings = replace(site.settings, device=True)
        return replace(site, people={}, access="private", admin_token=token, settings=settings)

    def test_no_session_is_needed_and_none_goes_along(
        self, page: Page, address: str, site: Site, sent: list[Request]
    ) -> None:
        device(page, f"{address}/device")
        take(page, line_of(PEOPLE["2000"]))
        search(page, "java")
        nobody = shown(page)
        page.goto(f"{address}/sign-in")
        page.locator("input[name=code]").fill(site.store.new_code("2001"))
        page.locator("main form button").click()
        device(page, f"{address}/device")
        search(page, "java")
        assert shown(page) == nobody
        cookies = {
            "candidates" in each.url: each.all_headers().get("cookie", "")
            for each in sent
            if each.url.startswith((f"{address}/device", f"{address}/api"))
        }
        assert cookies[True] == ""
        assert cookies[False].startswith("veilsearch=")  # of the page, which has no query
