"""`ensure_admin`: makes or updates the first administrator from the environment."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from aide.accounts import roles
from aide.accounts.models import User, check_email
from aide.audit.entries import Entry, record

_HINT = "Set AIDE_ADMIN_EMAIL and AIDE_ADMIN_PASSWORD and run this again."


class Command(BaseCommand):
    """The person named by AIDE_ADMIN_EMAIL exists, is active, is in the group admin and has that password."""

    help = "Makes or updates the first administrator from AIDE_ADMIN_EMAIL and AIDE_ADMIN_PASSWORD."

    def handle(self, *args: Any, **options: Any) -> None:
        email, password = settings.AIDE_ADMIN_EMAIL, settings.AIDE_ADMIN_PASSWORD
        if not email or not password:
            raise CommandError(f"There is no administrator to make. {_HINT}")
        try:
            check_email(email)
        except ValidationError as error:
            raise CommandError("AIDE_ADMIN_EMAIL is not an e-mail address.") from error
        with transaction.atomic():
            done = _ensure(email, password)
        self.stdout.write(f"Administrator {email}: {done}.")


def _ensure(email: str, password: str) -> str:
    user = User.objects.filter(email__iexact=email).first()
    done = "unchanged"
    if user is None:
        user, done = User.objects.create_user(email, password, full_name="Administrator"), "created"
    elif not user.check_password(password) or not user.is_active:
        user.set_password(password)
        user.is_active = True
        user.row_version += 1
        user.save()
        done = "updated"
    if not user.groups.filter(name=roles.ADMIN).exists():
        user.groups.add(Group.objects.get_or_create(name=roles.ADMIN)[0])
        done = "updated" if done == "unchanged" else done
    if done != "unchanged":
        record(
            Entry(action="user.ensure_admin", object_type="user", object_id=user.pk, object_name=user.email)
        )
    return done
