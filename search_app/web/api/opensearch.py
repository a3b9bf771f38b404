"""OpenSearch 1.1: browsers add this site as a search engine, and offer what a query may become."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from flask import Blueprint, Response, current_app, json, request, url_for

from ...settings import PRIVATE
from ..headers import HTTPS
from ..site import this_site
from ..views.suggestions import suggestions

pages = Blueprint("opensearch", __name__)
_NAMESPACE = "http://a9.com/-/spec/opensearch/1.1/"
_DESCRIPTION = "application/opensearchdescription+xml"
_SUGGESTIONS = "application/x-suggestions+json"
_PLAIN = {
    "ShortName": "veilsearch",
    "Description": "Personalized search with a privacy layer.",
    "InputEncoding": "UTF-8",
    "OutputEncoding": "UTF-8",
}


@pages.get("/opensearch.xml")
def describe() -> Response:
    """Return what a browser needs to search here from its address bar."""
    root = Element("OpenSearchDescription", xmlns=_NAMESPACE)
    for name, text in _PLAIN.items():
        SubElement(root, name).text = text
    icon = SubElement(root, "Image", width="32", height="32", type="image/svg+xml")
    icon.text = _address("assets.file", name="icon.svg")
    query = "?q={searchTerms}"
    addresses = [
        ("text/html", "results", _address("search.show") + query),
        (_DESCRIPTION, "self", _address("opensearch.describe")),
    ]
    # Browsers send no session with what is typed. So people who sign in get no suggestions.
    if this_site().access != PRIVATE:
        typed = _address("opensearch.suggest") + query
        addresses.insert(1, (_SUGGESTIONS, "suggestions", typed))
    for kind, role, template in addresses:
        SubElement(root, "Url", type=kind, rel=role, template=template)
    text = tostring(root, encoding="UTF-8", xml_declaration=True)
    return Response(text, mimetype=_DESCRIPTION)


@pages.get("/suggest")
def suggest() -> Response:
    """Return what a query that is being typed may become, in the format of browsers."""
    typed = request.args.get("q", "")
    body = json.dumps([typed, suggestions(this_site(), typed)])
    return Response(body, mimetype=_SUGGESTIONS)


def _address(endpoint: str, **values: str) -> str:
    """Return the whole address of `endpoint`, as the browser reaches it."""
    # Behind a proxy the request came by HTTP.
    scheme = "https" if current_app.config[HTTPS] else request.scheme
    return url_for(endpoint, _external=True, _scheme=scheme, **values)
