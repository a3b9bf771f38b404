"""The description for browsers, by the rules of OpenSearch 1.1 (draft 6), and their suggestions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit
from xml.etree.ElementTree import Element, fromstring

import pytest
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import Site, create_app

from ..conftest import seen

DESCRIPTION = "application/opensearchdescription+xml"
SPACE = "{http://a9.com/-/spec/opensearch/1.1/}"
ONCE = {"ShortName": 16, "Description": 1024}  # what must be there, and its most characters
AT_MOST_ONCE = {"Contact", "Tags", "LongName", "Developer", "Attribution", "SyndicationRight"}
MORE = {"Url", "Image", "Query", "Language", "InputEncoding", "OutputEncoding", "AdultContent"}
RELS = {"results", "suggestions", "self", "collection"}
PARAMETERS = {"searchTerms", "count", "startIndex", "startPage", "language"}
MIME = re.compile(r"[a-z]+/[a-z0-9.+-]+")


def described(client: FlaskClient, **request: Any) -> Element:
    answer = client.get("/opensearch.xml", **request)
    assert answer.status_code == 200
    assert answer.mimetype == DESCRIPTION
    root: Element = fromstring(answer.data)  # noqa: S314 our own answer
    return root


def faults(root: Element) -> list[str]:
    """Return what in a description is against the rules."""
    wrong = [] if root.tag == f"{SPACE}OpenSearchDescription" else ["root"]
    names = [child.tag.removeprefix(SPACE) for child in root]
    wrong += [name for name in names if name not in {*ONCE, *AT_MOST_ONCE, *MORE}]
    wrong += [name for name in ONCE if names.count(name) != 1]
    wrong += [name for name in AT_MOST_ONCE if names.count(name) > 1]
    for name, most in ONCE.items():
        text = root.findtext(f"{SPACE}{name}") or ""
        wrong += [] if 0 < len(text) <= most and "<" not in text else [f"text of {name}"]
    urls = root.findall(f"{SPACE}Url")
    wrong += [] if urls else ["no Url"]
    for url in urls:
        parts = urlsplit(url.get("template", ""))
        wrong += [] if parts.scheme in ("http", "https") and parts.netloc else ["template"]
        wrong += [] if MIME.fullmatch(url.get("type", "")) else ["type"]
        wrong += sorted(set((url.get("rel") or "results").split()) - RELS)
        used = re.findall(r"\{(\w+)\??\}", url.get("template", ""))
        wrong += sorted(set(used) - PARAMETERS)
    for image in root.findall(f"{SPACE}Image"):
        sizes = (image.get("height", "0"), image.get("width", "0"))
        wrong += [] if all(size.isdigit() for size in sizes) else ["size"]
        wrong += [] if MIME.fullmatch(image.get("type", "")) else ["image"]
    return wrong


def address(root: Element, rel: str) -> str:
    (url,) = [url for url in root.findall(f"{SPACE}Url") if url.get("rel") == rel]
    return url.get("template", "")


@pytest.mark.parametrize("root_path", ["", "/archive/search"])
def test_what_a_browser_reads_leads_to_a_search_and_to_suggestions(
    app: Flask, root_path: str
) -> None:
    client = app.test_client()
    app.config["APPLICATION_ROOT"] = root_path or "/"
    (door,) = [link for link in seen(client, "/").all("link") if link["rel"] == "search"]
    assert (door["href"], door["type"]) == (f"{root_path}/opensearch.xml", DESCRIPTION)
    root, base = described(client), f"http://localhost{root_path}"
    assert faults(root) == []
    assert address(root, "self") == f"{base}/opensearch.xml"
    image = root.find(f"{SPACE}Image")
    assert image is not None
    assert image.text == f"{base}/static/icon.svg"
    with client.get("/static/icon.svg") as icon:
        assert icon.mimetype == image.get("type")
    found = address(root, "results").replace("{searchTerms}", quote("java & coffee"))
    assert found == f"{base}/?q=java%20%26%20coffee"
    assert "of 40 found" in seen(client, found.removeprefix(base)).text
    typed = address(root, "suggestions").replace("{searchTerms}", "java%20co")
    offered = client.get(typed.removeprefix(base))
    assert offered.mimetype == "application/x-suggestions+json"
    assert offered.json == ["java co", ["java coffee", "java code"]]
    nothing = client.get("/suggest")
    assert nothing.get_json(force=True) == ["", []]


def test_where_people_sign_in_the_description_is_open_and_offers_no_suggestions(
    private: Site,
) -> None:
    client = create_app(private).test_client()
    root = described(client)
    assert faults(root) == []
    assert [url.get("rel") for url in root.findall(f"{SPACE}Url")] == ["results", "self"]
    assert client.get("/suggest?q=ja").headers["Location"] == "/sign-in"


def test_behind_a_proxy_with_a_certificate_addresses_are_https(site: Site) -> None:
    settings = replace(site.settings, https=True, hosts=("search.example.org",))
    client = create_app(replace(site, settings=settings)).test_client()
    root = described(client, headers={"Host": "search.example.org"})
    assert address(root, "results") == "https://search.example.org/?q={searchTerms}"
    assert faults(root) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda root: root.remove(root[0]), "ShortName"),
        (lambda root: setattr(root[0], "text", "x" * 17), "text of ShortName"),
        (lambda root: root[-1].set("template", "/relative"), "template"),
        (lambda root: root[-1].set("rel", "search"), "search"),
        (lambda root: root[-1].set("template", "http://h/?{query}"), "query"),
        (lambda root: setattr(root[0], "tag", "Name"), "Name"),
    ],
)
def test_the_rules_are_checked(
    client: FlaskClient, change: Callable[[Element], object], fault: str
) -> None:
    root = described(client)
    change(root)
    assert fault in faults(root)
