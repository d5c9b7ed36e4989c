"""The command that makes the first administrator."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from aide.accounts.models import User

pytestmark = pytest.mark.django_db


def run(settings, email, password):
    settings.AIDE_ADMIN_EMAIL, settings.AIDE_ADMIN_PASSWORD = email, password
    out = io.StringIO()
    call_command("ensure_admin", stdout=out)
    return out.getvalue()


def test_it_makes_then_leaves_then_updates(settings):
    assert "created" in run(settings, "root@localhost", "first secret 1")
    assert "unchanged" in run(settings, "ROOT@localhost", "first secret 1")
    out = run(settings, "root@localhost", "second secret 2")
    assert "updated" in out
    assert "second" not in out
    user = User.objects.get()
    assert user.check_password("second secret 2")
    assert user.role_names == {"admin"}


@pytest.mark.parametrize(("email", "password"), [("", "x"), ("a@b", ""), ("nonsense", "x")])
def test_missing_values_are_a_sentence(settings, email, password):
    with pytest.raises(CommandError, match="AIDE_ADMIN"):
        run(settings, email, password)
