"""Missing or unreadable values are system checks with ids and hints, never tracebacks."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks

from aide.checks import refuse_to_start
from aide.core.logs import logging_config

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "AIDE_SECRET_KEY": "kE8y-of_this.Test" * 4,
    "AIDE_ALLOWED_HOSTS": "aide.example.com",
    "AIDE_CSRF_TRUSTED_ORIGINS": "https://aide.example.com",
    "AIDE_DATABASE_URL": "postgresql://u:p@127.0.0.1:1/db",
    "AIDE_BROKER_URL": "redis://127.0.0.1:1/0",
}


@pytest.fixture
def load(monkeypatch, settings):
    """Runs the settings file with these variables alone."""

    def run(**variables: str) -> dict:
        for name in [name for name in os.environ if name.startswith("AIDE_")]:
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "aide" / "settings.py"))

    yield run
    logging_config(debug=settings.DEBUG)


def manage(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AIDE_")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=clean | variables,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_with_production_values_the_deployment_check_is_clean():
    done = manage("check", "--deploy", "--fail-level", "WARNING", **GOOD)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_missing_values_are_named_with_a_hint_and_no_traceback():
    done = manage("check")
    assert done.returncode == 1
    assert "aide.E001" in done.stderr
    assert "aide.E002" in done.stderr
    assert "HINT" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("changes", "number"),
    [
        ({"AIDE_SECRET_KEY": ""}, "aide.E001"),
        ({"AIDE_ALLOWED_HOSTS": ""}, "aide.E002"),
        ({"AIDE_DATABASE_URL": "oracle://x"}, "aide.E003"),
        ({"AIDE_DATABASE_URL": "postgresql://u:p@h:port/db"}, "aide.E003"),
        ({"AIDE_DATABASE_URL": "nonsense"}, "aide.E003"),
        ({"AIDE_FOUR_EYES": "sometimes"}, "aide.E004"),
        ({"AIDE_CREDENTIAL_DIR": "relative"}, "aide.E005"),
        ({"AIDE_VAULT_URL": "vault.example.com"}, "aide.E006"),
        ({"AIDE_EVENT_RETENTION_DAYS": "a week"}, "aide.E011"),
        ({"AIDE_DEBUG": "maybe"}, "aide.E010"),
    ],
)
def test_a_wrong_value_is_a_problem_with_a_hint(load, settings, changes, number):
    problems = load(**GOOD | changes)["AIDE_SETTINGS_PROBLEMS"]
    assert [one[0] for one in problems] == [number]
    settings.AIDE_SETTINGS_PROBLEMS = problems
    (error,) = [one for one in run_checks() if one.id == number]
    assert error.hint


def test_good_values_are_no_problem(load):
    found = load(**GOOD)
    assert found["AIDE_SETTINGS_PROBLEMS"] == []
    assert found["DEBUG"] is False
    assert found["SECURE_HSTS_SECONDS"] > 0
    assert found["SESSION_COOKIE_SECURE"] is True
    assert found["DATABASES"]["default"]["CONN_HEALTH_CHECKS"] is True


def test_without_any_variable_sqlite_is_in_var(load):
    found = load(AIDE_DEBUG="1")
    assert found["AIDE_SETTINGS_PROBLEMS"] == []
    database = found["DATABASES"]["default"]
    assert database["NAME"] == str(ROOT / "var" / "aide.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert database["OPTIONS"]["timeout"] == 20


def test_no_directive_allows_inline_or_eval(load):
    directives = load(**GOOD)["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    assert "unsafe" not in str(directives)
    assert "http" not in str(directives)


def test_a_server_that_is_started_without_a_command_refuses_in_words(settings, capsys):
    refuse_to_start()
    settings.AIDE_SETTINGS_PROBLEMS = [("aide.E001", "AIDE_SECRET_KEY is not set.", "Set it.")]
    with pytest.raises(SystemExit):
        refuse_to_start()
    assert "aide.E001" in capsys.readouterr().err
