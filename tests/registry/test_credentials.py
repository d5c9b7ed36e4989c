"""No setting of AIDE is sent to a source as its password."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aide_crawler import CrawlError
from django.conf import settings

from crawling.connect import password_of
from registry.credentials import own_variable
from registry.models import CredentialRef


def test_every_variable_that_the_settings_read_is_refused() -> None:
    source = (Path(settings.BASE_DIR) / "aide" / "settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r"\"(AIDE_[A-Z_]+)\"", source))

    assert len(names) > 20
    assert not [name for name in sorted(names) if own_variable(name) is None]


@pytest.mark.parametrize("name", ["SHOP_PASSWORD", "PATH", "AIDE_SHOP_PASSWORD"])
def test_any_other_variable_may_hold_a_password(name: str) -> None:
    assert own_variable(name) is None


def test_a_reference_that_was_kept_before_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIDE_SECRET_KEY", "hunter2")

    with pytest.raises(CrawlError, match="is a setting of AIDE itself") as caught:
        password_of(CredentialRef(provider="env", path="AIDE_SECRET_KEY"))
    assert "hunter2" not in str(caught.value)
