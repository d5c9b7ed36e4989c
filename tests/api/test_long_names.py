"""Names that are longer than an index can hold."""

from __future__ import annotations

import random

import pytest

from tests.factories import api_client, make_dataset, make_user

pytestmark = pytest.mark.django_db


def test_a_name_that_no_index_holds_is_refused_in_words() -> None:
    """PostgreSQL's indexes hold 2,704 bytes; characters that nothing compresses take four each."""
    engineer = api_client(make_user("engineer"))
    signs = random.Random(7)
    name = "".join(chr(signs.randrange(0x20000, 0x2A000)) for _ in range(1000))
    made = engineer.post("/api/v1/fields", {"dataset_id": make_dataset().pk, "name": name})
    assert made.status_code in {201, 422}, made.content[:300]
    if made.status_code == 422:
        assert made.json()["detail"] == "A text is too long for the database's indexes."
