"""Cursors of lists that only grow."""

from __future__ import annotations

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from aide.core.api.pagination import CursorOrPageOfItems
from aide.core.problems import ApiValidationError
from registry.models import SystemKind
from tests.factories import make_kind

pytestmark = pytest.mark.django_db


def read(**query):
    request = Request(APIRequestFactory().get("/", query))
    paginator = CursorOrPageOfItems()
    rows = paginator.paginate_queryset(SystemKind.objects.all(), request)
    return paginator.get_paginated_response([row.code for row in rows]).data


def test_a_cursor_walks_newest_first_and_misses_nothing_that_was_there():
    for n in range(5):
        make_kind(f"K{n}")
    seen, cursor = [], ""
    while cursor is not None:
        page = read(cursor=cursor, size=2)
        assert "total" not in page
        seen += page["items"]
        cursor = page["next_cursor"]
        make_kind(f"LATER{len(seen)}")
    assert seen == ["K4", "K3", "K2", "K1", "K0"]


def test_without_a_cursor_there_are_pages():
    make_kind()
    assert read()["total"] == 1


@pytest.mark.parametrize("cursor", ["x", "!!!", "YmVmb3JlOng", "\u00e9", "a" * 500])
def test_another_text_is_no_cursor(cursor):
    with pytest.raises(ApiValidationError):
        read(cursor=cursor)
