from __future__ import annotations

from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.settings import Settings, changed, load_settings


def write(folder: Path, text: str) -> Path:
    (folder / "veilsearch.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_argument_wins_over_the_environment() -> None:
    environment = {"VEILSEARCH_WORKSPACE": "from-env"}
    assert load_settings(None, environment).workspace == Path("from-env")
    assert load_settings(Path("given"), environment).workspace == Path("given")
    assert load_settings(None, {}).workspace == Path("veilsearch-data")


def test_the_cache_follows_the_environment() -> None:
    assert load_settings(None, {"VEILSEARCH_CACHE": "/c"}).cache == Path("/c")
    assert load_settings(None, {"XDG_CACHE_HOME": "/x"}).cache == Path("/x/veilsearch")


def test_a_workspace_overrides_defaults_by_name(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "pool = 500\nb = 1\n"), {})
    assert (settings.pool, settings.b, settings.k1) == (500, 1, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pol = 5", "unknown pol; allowed are access, b, care, deadline, device"),
        ("workspace = 'x'", "unknown workspace"),
        ("pool = 0", "pool=0 must be from 1 to 10000"),
        ("pool = 'x'", "pool=x must be of type int"),
        ("pool = true", "pool=True must be of type int"),
        ("ranking = 'x'\nb = -1", "b=-1 must be from 0 to 1; ranking=x must be cosine or evidence"),
        ("vectors = 'bm25'", "vectors=bm25 must be tfidf or tf"),
        ("k1 = inf", "k1=inf must be from 0 to 1000"),
        ("k1 = true", "k1=True must be of type float"),
        ("b = nan", "b=nan must be from 0 to 1"),
        ("title_boost = 101", "title_boost=101 must be from 0 to 100"),
        ("deadline = 0", "deadline=0 must be from 0.01 to 3600"),
        ("operators = 1", "operators=1 must be of type bool"),
        ("heap = '2G'", "heap=2G must be from 100m to 999g"),
        ("access = 'open'", "access=open must be one of demo, private, plain"),
        ("hosts = 'a.example'", "hosts=a.example must be of type list"),
        ("hosts = ['https://a.example']", "hosts=https://a.example must be host names in small"),
        ("hosts = ['a.example:80']", "must be host names in small letters, without scheme, port"),
        ("hosts = ['A.example']", "must be host names in small letters"),
        ("hosts = ['']", "must be host names"),
        ("hosts = [1]", "hosts=1 must be host names"),
        ("https = 1", "https=1 must be of type bool"),
        ("rate = -1", "rate=-1 must be from 0 to 10000"),
        ("proxy = '*'", r"proxy=\* must be the address of one proxy"),
        ("[search]\nhost = 'a'", "unknown search.host; allowed are access"),
        ("search = 'a'", r"search must be a table: \[search\]"),
        ("[search]\npassword = 'a'", "unknown search.password"),
        ("[search]\nbackend = 'solr'", "search.backend=solr must be lucene or opensearch"),
        ("[search]\nhosts = 'a:9200'", "search.hosts=a:9200 must be of type list"),
        ("[search]\nhosts = ['http://me:hu/sh@a']", "search.hosts=…@a must be hosts, each"),
        ("[search]\nhosts = 'http://me:hush@a'", "search.hosts=…@a must be of type list"),
        ("[search]\nindex = 'A'", "search.index=A must be small letters, digits and hyphens"),
        ("[search]\nshards = 0", "search.shards=0 must be from 1 to 1000"),
        ("[search]\nreplicas = -1", "search.replicas=-1 must be from 0 to 20"),
        ("root_path = '/a/'", "root_path=/a/ must be a path like /search, without a slash at"),
        ("root_path = 'a'", "root_path=a must be a path like"),
        ("root_path = '/../a'", "root_path=/../a must be a path like"),
        ("admin_token = 'x'", "unknown admin_token"),
        ("pool = ", "can't be read as TOML"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_settings(write(tmp_path, text), {})


def test_changed_ignores_what_was_not_given() -> None:
    assert changed(Settings(), pool=7, top=None).pool == 7
    with pytest.raises(UsageError, match="pool=10001"):
        changed(Settings(), pool=10_001)


def test_the_environment_wins_over_the_file_in_who_may_ask(tmp_path: Path) -> None:
    folder = write(tmp_path, "access = 'private'\n")
    assert load_settings(folder, {"VEILSEARCH_ACCESS": "plain"}).access == "plain"
    with pytest.raises(UsageError, match="access=open must be one of demo, private, plain"):
        load_settings(folder, {"VEILSEARCH_ACCESS": "open"})


def test_the_admin_token_comes_from_the_environment_and_is_never_shown() -> None:
    settings = load_settings(None, {"VEILSEARCH_ADMIN_TOKEN": "needle in a haystack"})
    assert settings.admin_token == "needle in a haystack"  # noqa: S105
    assert "needle" not in repr(settings)


def test_a_cluster_is_a_table_and_its_secrets_come_from_the_environment(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        'hosts = ["a.example"]\n[search]\nbackend = "opensearch"\n'
        'hosts = ["https://n1.example:9200", "127.0.0.1:9201", "[::1]:9200"]\nshards = 3\n',
    )
    secrets = {f"VEILSEARCH_OPENSEARCH_{name}": name for name in ("USER", "PASSWORD", "KEY")}
    settings = load_settings(folder, secrets)
    assert (settings.hosts, settings.search.backend) == (("a.example",), "opensearch")
    assert (len(settings.search.hosts), settings.search.shards) == (3, 3)
    search = settings.search
    assert (search.user, search.password, search.key) == ("USER", "PASSWORD", "KEY")
    assert "PASSWORD" not in repr(settings)
    assert load_settings(tmp_path / "none", {}).search.backend == "lucene"
