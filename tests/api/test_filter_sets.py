"""Declared filters and the FilterSets that are made of them."""

from __future__ import annotations

import pytest
from django.db.models import Q
from django.http import QueryDict

from aide.core.api.filters import by_view, choice, filter_set, flag, moment, number, parameter_names, text
from registry.models import Dataset
from tests.factories import make_dataset

DECLARED = {
    "name": text(),
    "version_num": number("current_schema__version_num"),
    "kind": choice(["rdbms", "kafka"]),
    "old": flag("deleted_at__isnull"),
    "since": moment("created_at"),
    "mine": by_view(text()),
}


class View:
    filters = DECLARED


def asked(query):
    return filter_set(DECLARED)(data=QueryDict(query), queryset=Dataset.objects.all())


def test_every_ending_of_a_declared_key_is_a_filter():
    assert set(filter_set(DECLARED).base_filters) == parameter_names(View) - {"mine"}
    assert parameter_names(View) >= {"name", "name__like", "name__in", "since__gte", "since__lte", "mine"}


def test_a_field_says_what_it_cannot_read():
    errors = asked("version_num=x&kind=table&since=soon&version_num__in=1,y&name__like=" + "x" * 201).errors
    assert set(errors) == {"version_num", "kind", "since", "version_num__in", "name__like"}
    assert errors["kind"] == ["Use one of rdbms, kafka."]


@pytest.mark.django_db
def test_an_empty_value_is_compared_and_an_absent_one_is_not():
    made = make_dataset("orders")
    assert list(asked("").qs) == [made]
    assert list(asked("name=").qs) == []
    assert list(asked("name__in=").qs) == []
    assert list(asked("old=true").qs) == list(Dataset.objects.filter(Q(deleted_at__isnull=True)))
    assert list(asked("name__like=ORDERS&since__gte=2001-01-01").qs) == [made]
