"""Comparing and applying are inverse: for any two documents, for all changes and for any part that holds together."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawling.diff import Change, apply, diff, missing_requirements, stale
from crawling.diff.values import change_fingerprint
from registry.documents import canonical, clean, field_path, fingerprint
from registry.seeding import bundled_catalogue
from registry.typesystem import Catalogue
from tests.crawling.strategies import schema_documents

FLAVORS = ("postgresql", "mariadb", "sqlite")
PAIRS = [
    pytest.param(flavor, known, id=f"{flavor}-{'known' if known else 'unknown'}-types")
    for flavor in FLAVORS
    for known in (True, False)
]
relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _two(data: st.DataObject, flavor: str, *, known: bool):
    """Two documents, the second now and then a changed copy of the first with a renamed field; the catalogue."""
    before, after = data.draw(schema_documents(flavor)), data.draw(schema_documents(flavor))
    catalogue = bundled_catalogue(flavor) if known else None
    names = [field["name"] for field in before["fields"]]
    if names and data.draw(st.booleans()):
        changes = diff(before, after, catalogue=catalogue, renames={})
        copied = apply(before, _closed_part(data, changes))
        left = [name for name in names if name in {field["name"] for field in copied["fields"]}]
        if left:
            old = data.draw(st.sampled_from(left))
            rename = Change("rename_field", "s.t", field_path([old]), old, "renamed", "breaking", "", "")
            after = clean(apply(copied, [rename]))
    return before, after, catalogue


def _closed_part(data: st.DataObject, changes: tuple[Change, ...]) -> tuple[Change, ...]:
    chosen = {c.fingerprint for c in changes if data.draw(st.booleans())}
    while missing := missing_requirements(changes, chosen):
        chosen |= {need for needs in missing.values() for need in needs}
    return tuple(c for c in changes if c.fingerprint in chosen)


def _content(changes: Iterable[Change], catalogue: Catalogue | None) -> Counter[str]:
    """What the changes say, equal ones counted."""
    return Counter(
        change_fingerprint(c.op, c.dataset, c.field, c.before, c.after, catalogue=catalogue) for c in changes
    )


@pytest.mark.parametrize(("flavor", "known"), PAIRS)
@relaxed
@given(data=st.data())
def test_applying_every_change_gives_the_other_document(data, flavor, known):
    before, after, catalogue = _two(data, flavor, known=known)
    untouched = copy.deepcopy((before, after))
    changes = diff(before, after, catalogue=catalogue)
    made = apply(before, changes)
    assert canonical(made, catalogue=catalogue) == canonical(after, catalogue=catalogue)
    assert clean(made) == {**made, "fields": clean(made)["fields"]}
    assert apply(before, changes, after=after, catalogue=catalogue) == after
    assert diff(made, after, catalogue=catalogue) == ()
    assert (before, after) == untouched
    assert (changes == ()) == (
        fingerprint(before, catalogue=catalogue) == fingerprint(after, catalogue=catalogue)
    )


@pytest.mark.parametrize(("flavor", "known"), PAIRS)
@relaxed
@given(data=st.data())
def test_a_part_that_holds_together_gives_a_valid_document_and_leaves_the_rest(data, flavor, known):
    before, after, catalogue = _two(data, flavor, known=known)
    changes = diff(before, after, catalogue=catalogue)
    part = _closed_part(data, changes)
    rest = [c for c in changes if c not in part]
    for source in (None, after):
        made = apply(before, part, after=source, catalogue=catalogue)
        clean(made)
        left = {c.field: c.after for c in rest if c.op == "rename_field"}
        again = diff(made, after, catalogue=catalogue, renames=left)
        assert _content(again, catalogue) == _content(rest, catalogue)
        finished = apply(made, again, catalogue=catalogue)
        assert canonical(finished, catalogue=catalogue) == canonical(after, catalogue=catalogue)


@pytest.mark.parametrize("flavor", FLAVORS)
@relaxed
@given(data=st.data())
def test_no_change_is_stale_where_it_was_found(data, flavor):
    before, after, catalogue = _two(data, flavor, known=True)
    changes = diff(before, after, catalogue=catalogue)
    assert stale(before, changes, catalogue=catalogue) == ()


@pytest.mark.parametrize("flavor", FLAVORS)
@relaxed
@given(data=st.data())
def test_changes_survive_json_and_are_told_apart_by_fingerprint(data, flavor):
    before, after, catalogue = _two(data, flavor, known=True)
    changes = diff(before, after, catalogue=catalogue)
    again = [Change.from_dict(json.loads(json.dumps(change.to_dict()))) for change in changes]
    assert tuple(again) == changes
    assert len({change.fingerprint for change in changes}) == len(changes)
    known = {change.fingerprint for change in changes}
    assert all(set(change.requires) <= known - {change.fingerprint} for change in changes)
    assert all(change.why.endswith(".") and change.rule for change in changes)


@pytest.mark.parametrize("flavor", FLAVORS)
@relaxed
@given(data=st.data())
def test_order_of_fields_is_content_only_where_it_is_said_to_be(data, flavor):
    before, after, catalogue = _two(data, flavor, known=True)
    changes = diff(before, after, catalogue=catalogue, positional=True)
    for source in (None, after):
        made = apply(before, changes, after=source, catalogue=catalogue, positional=True)
        assert fingerprint(made, catalogue=catalogue, positional=True) == fingerprint(
            after, catalogue=catalogue, positional=True
        )
    part = _closed_part(data, changes)
    clean(apply(before, part, after=after, catalogue=catalogue, positional=True))
