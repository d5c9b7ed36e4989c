"""The tree keeps its promises: make targets, containers, sizes of modules, links of the documents."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("aide", "registry", "lineage", "crawling", "sdk/src", "sdk/tests", "tests")
TARGETS = (
    *("demo", "demo-reset", "test", "nightly", "chaos", "load", "check", "up", "stop", "bench", "format"),
    *("seed-data-types", "migration", "migrate", "help"),
)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("sdk/*.md")])


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", TARGETS)
def test_every_promised_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_the_promised_targets() -> None:
    listed = set(re.findall(r"^  make (\S+)", make("help").stdout, re.MULTILINE))
    assert set(TARGETS) <= listed


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_demo_says_plainly_that_the_port_is_taken() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = make("demo-port", f"PORT={port}")
    assert answer.returncode != 0
    assert f"Port {port} is taken" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_says_plainly_that_python_is_too_old_or_missing() -> None:
    answer = make("demo-port", "PYTHON=")
    assert answer.returncode != 0
    assert "Python 3.11 or newer" in answer.stderr


def test_the_production_shape_has_every_part() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    parts = {"postgres", "redis", "kafka", "web", "worker", "beat"}
    if "forward_events" in get_commands():
        parts.add("relay")
    assert parts <= set(compose["services"])
    for name in ("web", "worker", "beat"):
        assert (
            compose["services"][name]["depends_on"]["prepare"]["condition"]
            == "service_completed_successfully"
        )


def test_containers_run_only_commands_that_exist() -> None:
    known = get_commands()
    for name in ("docker-compose.yml", "Dockerfile"):
        text = (ROOT / name).read_text()
        called = re.findall(r"python[\", ]+manage\.py[\", ]+([a-z_]+)", text)
        assert called
        assert set(called) <= set(known), name


def test_the_example_of_variables_names_only_known_ones() -> None:
    known = (ROOT / "aide" / "settings.py").read_text() + (ROOT / "docker-compose.yml").read_text()
    names = re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert [name for name in names if name not in known] == []


def test_every_variable_of_the_settings_is_documented() -> None:
    names = set(re.findall(r"\"(AIDE_[A-Z_]+)\"", (ROOT / "aide" / "settings.py").read_text()))
    documented = (ROOT / "docs" / "operations.md").read_text()
    assert sorted(name for name in names if f"`{name}`" not in documented) == []


def test_no_module_is_longer_than_400_lines() -> None:
    modules = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    modules += [path for path in (ROOT / "static").rglob("*") if path.suffix in {".css", ".js"}]
    long = {
        str(path.relative_to(ROOT)): lines
        for path in modules
        if "migrations" not in path.parts and (lines := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_internal_links_lead_somewhere(document: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_import_contracts_hold() -> None:
    linter = ROOT / ".venv" / "bin" / "lint-imports"
    program = str(linter) if linter.exists() else shutil.which("lint-imports")
    assert program, "import-linter is part of requirements-dev.txt"
    answer = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout
