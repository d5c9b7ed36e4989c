"""The client against the running server: every kind of call, sync and async, and each kind of refusal."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import pytest
from aide_sdk import (
    AideClient,
    AideError,
    AuthError,
    ConflictError,
    NotFoundError,
    SyncAideClient,
    ValidationError,
)

from tests.flows.product import PASSWORD, Served


def code(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(4)}"


def test_a_system_is_made_read_changed_listed_deleted_and_brought_back(engineer: SyncAideClient) -> None:
    name = code("shop")
    made = engineer.systems.create(code=name, name="Shop", flavor="postgresql", tags=["a"])
    assert (made.code, made.flavor, made.tags, made.is_active) == (name, "postgresql", ["a"], True)
    assert engineer.systems.get(name) == engineer.systems.get(made.id) == made
    changed = engineer.systems.update(name, {"owner": "Ann"}, row_version=made.row_version)
    assert changed.owner == "Ann"
    assert [each.code for each in engineer.systems.list(code=name)] == [name]
    page = engineer.systems.page(1, {"code__like": name}, size=1)
    assert (page.total, page.total_is_capped, page.pages, page.has_next) == (1, False, 1, False)
    whole = engineer.systems.replace(name, code=name, name="Other", flavor="postgresql")
    assert whole.name == "Other"
    assert engineer.systems.delete(name) is None
    with pytest.raises(NotFoundError):
        engineer.systems.get(name)
    assert engineer.systems.restore(made.id).code == name


def test_lists_are_read_over_all_pages_in_order(engineer: SyncAideClient) -> None:
    prefix = code("many")
    names = [f"{prefix}-{number}" for number in range(7)]
    made = engineer.systems.create_many([{"code": each, "name": each, "flavor": "sqlite"} for each in names])
    assert [each.code for each in made] == names
    listed = engineer.systems.list(code__like=prefix, sort="code", size=3)
    assert [each.code for each in listed] == names
    backwards = engineer.systems.list({"code__in": names[:2]}, sort=["-code"])
    assert [each.code for each in backwards] == [names[1], names[0]]


def test_a_cursor_list_is_read_to_its_end(engineer: SyncAideClient, admin: SyncAideClient) -> None:
    name = code("seen")
    made = engineer.systems.create(code=name, name="Seen", flavor="sqlite")
    for owner in ("Ann", "Bob", "Cho"):
        engineer.systems.update(made.id, owner=owner)
    entries = list(admin.audit.list(system=name, size=2))
    assert len(entries) == len({each.id for each in entries}) == 4
    assert [each.id for each in entries] == sorted((each.id for each in entries), reverse=True)
    assert admin.audit.get(entries[0].id).action == entries[0].action
    assert admin.audit.page(2, system=name, size=3).items == entries[3:]


def test_each_refusal_is_an_error_of_its_own(served: Served, engineer: SyncAideClient) -> None:
    with pytest.raises(NotFoundError) as missing:
        engineer.systems.get("no-such-system")
    assert (missing.value.status, missing.value.error_code) == (404, "SYSTEM_NOT_FOUND")
    name = code("twice")
    made = engineer.systems.create(code=name, name="One", flavor="sqlite")
    with pytest.raises(ConflictError) as twice:
        engineer.systems.create(code=name, name="Two", flavor="sqlite")
    assert (twice.value.status, twice.value.error_code) == (409, "SYSTEM_ALREADY_EXISTS")
    with pytest.raises(ValidationError) as invalid:
        engineer.systems.create(name="No code", flavor="nothing")
    assert invalid.value.status == 422
    assert {error["field"] for error in invalid.value.errors} == {"code", "flavor"}
    with pytest.raises(ValidationError):
        list(engineer.systems.list(no_such_filter=1))
    engineer.systems.update(made.id, owner="Ann", row_version=made.row_version)
    with pytest.raises(ConflictError) as stale:
        engineer.systems.update(made.id, owner="Bob", row_version=made.row_version)
    assert stale.value.error_code == "VERSION_CONFLICT"
    assert "Ann" in str(stale.value.problem)
    with pytest.raises(AuthError) as forbidden:
        engineer.users.create(email="a@b.example", password=PASSWORD)
    assert (forbidden.value.status, forbidden.value.error_code) == (403, "FORBIDDEN")
    assert forbidden.value.request_id
    with (
        AideClient.sync(served.home, username="engineer@example.com", password="wrong") as stranger,
        pytest.raises(AuthError) as wrong,
    ):
        stranger.users.me()
    assert wrong.value.error_code == "INVALID_CREDENTIALS"
    assert "wrong" not in repr(stranger)
    with AideClient.sync(served.home) as nobody, pytest.raises(AuthError) as unknown:
        nobody.users.me()
    assert unknown.value.status == 401
    assert issubclass(AuthError, AideError)


def test_the_stateless_questions_are_answered(engineer: SyncAideClient) -> None:
    parsed = engineer.types.parse("postgresql", "numeric(12,2)")
    assert parsed.data_type == "numeric"
    assert parsed.type_params == {"precision": 12, "scale": 2}
    field = {"name": "total", "native_type": "integer"}
    verdict = engineer.compatibility.check(
        flavor="postgresql",
        level="BACKWARD",
        before={"fields": [field]},
        after={"fields": [{**field, "native_type": "bigint"}]},
    )
    assert verdict.compatible
    (cast,) = engineer.casts.plan(from_flavor="postgresql", to_flavor="hive", types=["numeric(12,2)"])
    assert (cast.type, cast.rendered) == ("numeric(12,2)", "decimal(12,2)")
    (numeric,) = engineer.data_types.list(flavor="postgresql", code="numeric")
    assert engineer.data_types.render(numeric.id, {"precision": 12, "scale": 2}).sql == "numeric(12,2)"


def test_columns_are_classified(engineer: SyncAideClient, routes: frozenset[str]) -> None:
    tagged, untagged = engineer.pii.classify(
        [
            {"table": "users", "column": "email", "type": "varchar(100)", "comment": ""},
            {"table": "users", "column": "qty", "type": "integer", "comment": ""},
        ]
    )
    assert tagged.tags[0]["tag"] == "email"
    assert untagged.tags == []


def test_health_is_told_without_a_log_in(served: Served) -> None:
    with AideClient.sync(served.home) as nobody:
        assert nobody.health.live().status == "ok"
        assert nobody.health.ready().checks["database"]["status"] == "ok"
        assert "# TYPE" in nobody.health.metrics()


def test_a_crawl_is_started_waited_for_decided_and_read(
    engineer: SyncAideClient, steward: SyncAideClient, admin: SyncAideClient, shop_file: Path
) -> None:
    name = code("crawled")
    engineer.systems.create(
        code=name, name="Crawled", flavor="sqlite", connection_url=f"sqlite:///{shop_file}"
    )
    person = steward.users.me()
    admin.users.update(person.id, systems=[*person.systems, name])
    key = secrets.token_hex(8)
    run = engineer.crawl_runs.create(name, config={"tables": ["*"]}, idempotency_key=key)
    again = engineer.crawl_runs.create(name, config={"tables": ["*"]}, idempotency_key=key)
    assert again.id == run.id
    run = engineer.crawl_runs.wait(run.id, every=0.2)
    assert run.status == "completed"
    assert engineer.crawl_runs.report(run.id)["summary"]["new_datasets"] == 2
    assert engineer.crawl_runs.report_text(run.id).startswith("=== AIDE Crawler Diff Report ===")
    proposals = list(steward.proposals.list(system=name, status="open"))
    assert {each.dataset_name for each in proposals} == {"main.customers", "main.orders"}
    noted = steward.proposals.decide(proposals[0].id, approve="safe", comment="Fine")
    assert noted.changes[0]["decision"]["state"] == "approved"
    outcome = steward.crawl_runs.decide_and_apply(run.id, approve="all")
    assert len(outcome.applied) == 2
    assert outcome.failed == []
    dataset = next(engineer.datasets.list(system=name, name="main.orders"))
    document = engineer.datasets.schema(dataset.id)
    assert [field["name"] for field in document["fields"]] == ["id", "customer_id", "total"]
    assert engineer.datasets.check(dataset.id, document).compatible
    tree = engineer.fields.tree(dataset.id)
    assert "customer_id" in str(tree)
    assert [each.name for each in engineer.fields.list(dataset_id=dataset.id, sort="name")] == [
        "customer_id",
        "id",
        "total",
    ]
    assert engineer.datasets.cast_plan(dataset.id, to="postgresql").ddl
    (version,) = engineer.dataset_schemas.list(dataset_id=dataset.id)
    assert version.version_num == 1
    bindings = list(engineer.field_bindings.list(dataset_schema_id=version.id))
    assert len(bindings) == 3
    assert engineer.type_instances.get(bindings[0].type_instance_id or 0).rendered


def test_an_api_key_is_shown_once_and_can_be_ended(
    served: Served, engineer: SyncAideClient, admin: SyncAideClient
) -> None:
    made = admin.api_keys.create(
        name="short", user_id=engineer.users.me().id, scopes=["registry:read"], note="for a test"
    )
    assert made.secret is not None
    assert made.secret.startswith("aide_")
    assert made.secret not in repr(made)
    assert admin.api_keys.get(made.id).secret is None
    with AideClient.sync(served.home, api_key=made.secret) as program:
        assert next(program.system_flavors.list(code="postgresql")).code == "postgresql"
        tokens = program.session.token(made.client_id, made.secret)
        assert tokens.access_token not in repr(tokens)
        admin.api_keys.revoke(made.id, reason="done")
        with pytest.raises(AuthError):
            program.systems.page()


def test_the_same_calls_can_be_awaited(served: Served) -> None:
    async def talk() -> None:
        async with AideClient(served.home, username="engineer@example.com", password=PASSWORD) as aide:
            prefix = code("awaited")
            made = await aide.systems.create_many(
                [{"code": f"{prefix}-{n}", "name": "n", "flavor": "sqlite"} for n in range(5)]
            )
            assert len(made) == 5
            read = await asyncio.gather(*(aide.systems.get(each.code) for each in made))
            assert read == made
            codes = [each.code async for each in aide.systems.list(code__like=prefix, sort="code", size=2)]
            assert codes == [each.code for each in made]
            with pytest.raises(NotFoundError):
                await aide.datasets.get(0)
            assert (await aide.health.ready()).checks["database"]["status"] == "ok"
            await aide.log_out()
            assert (await aide.users.me()).email == "engineer@example.com"

    asyncio.run(talk())
