"""The demo's story, told once for a whole module: it is dear. Each test's own writes are undone after it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction

from tests.factories import make_groups


@pytest.fixture(scope="module")
def told(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder of the demo's files; its rows are in the database until the module ends."""
    from aide.desk.demo import story
    from crawling import stand_in
    from registry.models import PIITag

    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setattr(stand_in, "folder", lambda: folder)
        make_groups()
        call_command("seed_data_types", stdout=io.StringIO())
        for code in ("email", "phone", "person_name", "address", "birth_date"):
            PIITag.objects.get_or_create(
                code=code, deleted_at=None, defaults={"name": code, "sensitivity": 2}
            )
        for code in ("financial", "government_id", "online_id"):
            PIITag.objects.get_or_create(
                code=code, deleted_at=None, defaults={"name": code, "sensitivity": 3}
            )
        story.tell(seed=7)
        yield folder
        transaction.set_rollback(True)
