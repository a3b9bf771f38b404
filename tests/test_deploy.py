"""The examples for those who run a server: what they name is there, and systemd finds no fault."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from search_app.server.waitress import _FORWARDED
from search_app.settings import every_setting, load_settings
from search_app.web.headers import LARGEST_BODY

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in DEPLOY.iterdir()}
SETTINGS = re.compile(r'(\w+) = (\[.*?\]|"[^"]*"|true|false)')


@pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
def test_the_settings_of_a_proxy_exist_and_fit_it(name: str, tmp_path: Path) -> None:
    given = "".join(f"{key} = {value}\n" for key, value in SETTINGS.findall(TEXTS[name]))
    (tmp_path / "veilsearch.toml").write_text(given)
    settings = load_settings(tmp_path, {})
    assert settings.https and settings.proxy == "127.0.0.1"
    assert settings.hosts[0] in TEXTS[name].split("# Without", 1)[1], "it serves that name"
    path = re.search(r"(?:location|handle_path) (\S+?)/?\*? ?\{", TEXTS[name])
    assert path is not None and path[1] == settings.root_path


def test_nginx_takes_the_path_off_and_says_who_asks() -> None:
    text = TEXTS["nginx.conf"]
    assert re.search(r"location /town/ \{\s+proxy_pass http://127\.0\.0\.1:8000/;", text)
    headers = {name.lower() for name in re.findall(r"proxy_set_header (\S+) \$", text)}
    assert headers - {"host"} <= _FORWARDED
    assert {"host", "x-forwarded-for", "x-forwarded-proto"} <= headers
    assert f"client_max_body_size {LARGEST_BODY // 1024}k;" in text
    assert "access_log off;" in text
    for line in text.splitlines():
        assert re.search(r"^\s*(#.*|)$|[;{}](\s+#.*)?$", line), line
    assert text.count("{") == text.count("}")


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    unit = tmp_path / "veilsearch.service"
    text, count = re.subn(r"(?m)^ExecStart=\S+ serve$", "ExecStart=/bin/true", TEXTS[unit.name])
    assert count == 1
    unit.write_text(text)
    done = subprocess.run([program, "verify", unit], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    safe = [program, "security", "--offline=yes", "--threshold=20", unit]  # 2.0 of 10
    assert subprocess.run(safe, check=False, capture_output=True).returncode == 0


def test_the_unit_and_the_image_give_variables_that_the_program_reads() -> None:
    source = (ROOT / "search_app" / "settings.py").read_text(encoding="utf-8")
    for name in ("veilsearch.service", "Dockerfile"):
        given = set(re.findall(r"\b(VEILSEARCH_\w+)=", TEXTS[name]))
        assert {"VEILSEARCH_WORKSPACE", "VEILSEARCH_CACHE"} <= given
        assert all(f'"{variable}"' in source for variable in given)


def test_the_image_holds_what_the_wheel_is_made_of() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tools = setup["tool"]["setuptools"]
    folders = (tools["package-dir"].get(name, name.replace(".", "/")) for name in tools["packages"])
    packages = {folder.partition("/")[0] for folder in folders}
    copied = set(re.findall(r"^COPY (\w+) \1$", TEXTS["Dockerfile"], re.MULTILINE))
    assert copied == packages
    lines = TEXTS["Dockerfile.dockerignore"].splitlines()
    assert lines[1] == "*", "a workspace must not get into an image"
    assert copied <= {line[1:] for line in lines}


def test_uvx_leaves_away_what_only_pyserini_wants() -> None:
    declared = importlib.metadata.requires("pyserini") or []
    wanted = {re.split(r"[<>=!; ]", line)[0].lower() for line in declared if "extra ==" not in line}
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    lines = [line for line in TEXTS["uvx.txt"].splitlines() if not line.startswith("#")]
    assert all(line.endswith("; python_version < '3'") for line in lines)
    left_away = {line.partition(";")[0] for line in lines}
    assert left_away == {name for name in wanted if f"\n{name}==" not in lock}


def test_every_setting_that_operate_names_exists() -> None:
    text = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    known = {name.rpartition(".")[2] for name, _ in every_setting()}
    named = {key for key, _ in SETTINGS.findall(text)}
    assert {"root_path", "proxy", "https"} <= named <= known
