"""Human-owned values of many rows at once: the history of one by one, in a constant number of statements."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from aide.accounts.models import User
from aide.audit.models import AuditEntry
from aide.core.errors import Invalid
from registry import curation
from registry.models import Dataset, Field
from tests.factories import make_dataset, make_system, make_user, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def steward() -> User:
    return make_user("steward")


def columns(count: int) -> list[Field]:
    dataset = make_dataset(system=make_system())
    publish(dataset, *((f"c{n}", "text") for n in range(count)))
    return list(Field.objects.filter(dataset=dataset).select_related("dataset__system").order_by("pk"))


def test_each_row_that_changes_gets_an_entry_and_a_higher_version(steward: User) -> None:
    one, other = columns(2)
    curation.edit(other, {"owner": "CRM"}, by=steward)
    wanted = {field.pk: (lambda row: {"owner": "CRM"}) for field in (one, other)}
    written = curation.edit_many(Field, wanted, by=steward, reason="All ours", batch="b1")
    assert written == {one.pk: curation.Written({"owner": ""}, {"owner": "CRM"})}
    one.refresh_from_db()
    assert (one.owner, one.row_version) == ("CRM", 2)
    entry = AuditEntry.objects.get(batch="b1")
    assert (entry.action, entry.object_id, entry.reason) == ("field.edit", str(one.pk), "All ours")
    assert (entry.before, entry.after) == ({"owner": ""}, {"owner": "CRM"})


def test_datasets_too_and_what_belongs_to_the_source_is_refused(steward: User) -> None:
    dataset = make_dataset("orders")
    curation.edit_many(Dataset, {dataset.pk: lambda row: {"status": "deprecated"}}, by=steward)
    dataset.refresh_from_db()
    assert dataset.status == "deprecated"
    with pytest.raises(Invalid):
        curation.edit_many(Dataset, {dataset.pk: lambda row: {"name": "other"}}, by=steward)


def test_a_thousand_rows_take_as_many_statements_as_fifty(steward: User) -> None:
    counts = []
    for size in (50, 400):
        wanted = {field.pk: (lambda row: {"tags": ["new"]}) for field in columns(size)}
        with CaptureQueriesContext(connection) as asked:
            curation.edit_many(Field, wanted, by=steward)
        counts.append(len(asked))
    assert counts[0] == counts[1]
