"""Events are read leniently: what is odd is said in words, and nothing of value is lost."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from typing import Any

import pytest

from lineage.openlineage import RefusedEventError, digest_of, masked, message_key, newest, read, stamped

PLACE = "postgres://db1.example.com:5432"


def event(**values: Any) -> dict[str, Any]:
    """A plain run event that is as the specification wants it."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-01T10:00:00Z",
        "producer": "https://example.com/p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "6f0c13a5-f29b-46a5-90c1-0ffbebbbd1aa"},
        "job": {"namespace": "jobs", "name": "nightly"},
        **values,
    }


def facet(**values: Any) -> dict[str, Any]:
    return {"_producer": "https://example.com/p", "_schemaURL": "https://example.com/f", **values}


def test_a_plain_event_has_no_oddities():
    assert read(event(inputs=[], outputs=[])).oddities == ()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T10:00:00.123456789Z", "2026-03-01T10:00:00.123456+00:00"),
        ("2026-03-01T20:00:00.001+10:00", "2026-03-01T10:00:00.001+00:00"),
        ("2026-03-01T10:00:00.641499", "2026-03-01T10:00:00.641499+00:00"),
        ("2026-03-01 10:00:00", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01T11:00:00+01:00[Europe/Paris]", "2026-03-01T10:00:00+00:00"),
        (1772359200, "2026-03-01T10:00:00+00:00"),
        (1772359200000, "2026-03-01T10:00:00+00:00"),
    ],
)
def test_times_are_read_in_every_spelling(text, moment):
    found = read(event(eventTime=text))
    assert found.event_time == dt.datetime.fromisoformat(moment)


@pytest.mark.parametrize("text", ["2026-03-01T10:00:00.641499", 1772359200])
def test_a_time_without_a_zone_is_told(text):
    assert any("eventTime" in words for words in read(event(eventTime=text)).oddities)


@pytest.mark.parametrize(
    "value", [None, "", "soon", True, [], "9999-12-31T23:59:59-23:00", "0001-01-01", 1e300]
)
def test_what_is_no_time_is_refused(value):
    with pytest.raises(RefusedEventError, match="eventTime"):
        read(event(eventTime=value))


def test_the_kind_is_told_by_the_shape_whatever_the_schema_url_says():
    wrong = "https://openlineage.io/spec/1-0-1/OpenLineage.json#/definitions/RunEvent"
    no_run = {key: value for key, value in event(schemaURL=wrong).items() if key not in {"run", "eventType"}}
    assert read(no_run).kind == "job"
    about = {key: value for key, value in no_run.items() if key != "job"}
    assert read(about | {"dataset": {"namespace": PLACE, "name": "a.b.c"}}).kind == "dataset"


def test_any_text_is_a_run_id():
    found = read(event(run={"runId": "scheduled__2026-03-01"}))
    assert found.run_id == "scheduled__2026-03-01"
    assert found.run_uuid is not None
    assert found.run_uuid.version == 5
    assert found.run_uuid == read(event(run={"runId": "scheduled__2026-03-01"})).run_uuid
    upper = read(event(run={"runId": "6F0C13A5-F29B-46A5-90C1-0FFBEBBBD1AA"}))
    assert upper.run_uuid == uuid.UUID("6f0c13a5-f29b-46a5-90c1-0ffbebbbd1aa")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schemaURL": None}, "schemaURL is missing."),
        ({"producer": "starrocks-plugin/1.0"}, "producer is no URI."),
        ({"eventType": "PAUSED"}, "eventType"),
        ({"eventType": "complete"}, "upper case"),
        ({"inputs": {"namespace": "a"}}, "inputs is no list"),
        ({"inputs": ["a"]}, "no object"),
        ({"inputs": [{"name": "a"}]}, "inputs[0] has no namespace or no name"),
        ({"job": {"name": "nightly"}}, "job.namespace is missing"),
        ({"job": None}, "job is missing"),
        ({"run": {"runId": "x", "facets": []}}, "run.facets is no object"),
        (
            {"outputs": [{"namespace": PLACE, "name": "a", "facets": {"schema": {"fields": []}}}]},
            "lacks _producer",
        ),
    ],
)
def test_oddities_are_named(change, words):
    assert any(words in each for each in read(event(**change)).oddities)


def test_facets_without_producer_still_draw_columns():
    flows = {"total": {"inputFields": [{"namespace": PLACE, "name": "s.p.a", "field": "price"}]}}
    target = {"namespace": PLACE, "name": "s.p.b", "facets": {"columnLineage": {"fields": flows}}}
    found = read(event(outputs=[target]))
    assert [(each.source.name, each.source_field, each.target_field) for each in found.columns] == [
        ("s.p.a", "price", "total")
    ]
    assert [(flow.source.name, flow.target.name) for flow in found.flows] == [("s.p.a", "s.p.b")]


def test_what_affects_the_whole_dataset_reaches_all_its_fields():
    flows = facet(
        fields={"total": {"inputFields": []}},
        dataset=[
            {
                "namespace": PLACE,
                "name": "s.p.a",
                "field": "day",
                "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}],
            }
        ],
    )
    schema = facet(fields=[{"name": "total"}, {"name": "other"}])
    target = {"namespace": PLACE, "name": "s.p.b", "facets": {"columnLineage": flows, "schema": schema}}
    found = read(event(outputs=[target]))
    assert {(each.target_field, each.transformation) for each in found.columns} == {
        ("total", "INDIRECT/FILTER"),
        ("other", "INDIRECT/FILTER"),
    }


def test_masking_holds_only_if_every_way_masks():
    def flow(*ways: Any) -> bool:
        source = {"namespace": PLACE, "name": "a", "field": "x", "transformations": list(ways)}
        flows = facet(fields={"y": {"inputFields": [source]}})
        target = {"namespace": PLACE, "name": "b", "facets": {"columnLineage": flows}}
        return read(event(outputs=[target])).columns[0].masking

    assert flow({"type": "DIRECT", "masking": True})
    assert not flow({"type": "DIRECT", "masking": True}, {"type": "DIRECT"})
    assert not flow()


def test_the_explicit_lineage_facet_of_a_job_is_read():
    entry = {
        "type": "DATASET", "namespace": PLACE, "name": "s.p.b",
        "inputs": [{"type": "DATASET", "namespace": PLACE, "name": "s.p.a"}],
        "fields": {"y": {"inputs": [{"type": "DATASET", "namespace": PLACE, "name": "s.p.c", "field": "x"}]}},
    }  # fmt: skip
    reads = {"type": "JOB", "inputs": [{"type": "DATASET", "namespace": PLACE, "name": "s.p.d"}]}
    job = {"namespace": "jobs", "name": "nightly", "facets": {"lineage": facet(entries=[entry, reads])}}
    found = read(event(job=job))
    assert {(flow.source.name, flow.target.name) for flow in found.flows} == {
        ("s.p.a", "s.p.b"),
        ("s.p.c", "s.p.b"),
    }
    assert {(use.dataset.name, use.role) for use in found.job_uses} == {
        ("s.p.b", "output"),
        ("s.p.d", "input"),
    }
    assert [(each.source_field, each.target_field) for each in found.columns] == [("x", "y")]


def test_a_facet_that_is_taken_back_says_nothing():
    linked = facet(identifiers=[{"namespace": "hive://m", "name": "a.b"}])
    name = {"namespace": "hdfs://n", "name": "/a/b"}
    assert read(event(inputs=[name | {"facets": {"symlinks": linked}}])).same
    assert not read(event(inputs=[name | {"facets": {"symlinks": linked | {"_deleted": True}}}])).same


def test_a_rename_joins_both_names():
    renamed = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": PLACE, "name": "s.p.old"})
    found = read(
        event(outputs=[{"namespace": PLACE, "name": "s.p.new", "facets": {"lifecycleStateChange": renamed}}])
    )
    assert [(one.name, other.name) for one, other in found.same] == [("s.p.new", "s.p.old")]


def test_the_newest_of_each_facet_wins_whatever_the_order():
    old = stamped({"schema": facet(fields=[1])}, at="2026-01-01")
    new = stamped({"schema": facet(fields=[2]), "tags": facet()}, at="2026-01-02")
    assert newest(old, new) == newest(new, old)
    assert newest(old, new)["schema"]["value"]["fields"] == [2]
    tie = stamped({"schema": facet(fields=[3])}, at="2026-01-01")
    assert newest(old, tie) == newest(tie, old)


def test_kafka_keys_follow_the_root_of_the_run():
    root = {"run": {"runId": "r"}, "job": {"namespace": "dag", "name": "root"}}
    parent = facet(run={"runId": "p"}, job={"namespace": "dag", "name": "parent"})
    run = {"runId": "x", "facets": {"parent": parent}}
    assert message_key(read(event())) == "run:jobs/nightly"
    assert message_key(read(event(run=run))) == "run:dag/parent"
    run = {"runId": "x", "facets": {"parent": parent | {"root": root}}}
    assert message_key(read(event(run=run))) == "run:dag/root"


def test_spelling_does_not_make_another_event():
    assert digest_of({"a": 1, "b": "ü"}) == digest_of({"b": "ü", "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("postgres://ann:pass@db:5432", "postgres://db:5432"),
        ("jdbc:mysql://ann:p%40ss@db/x?password=abc&ssl=1", "jdbc:mysql://db/x?password=***&ssl=1"),
        ('{"host": "h", "password": "two words"}', '{"host": "h", "password": "***"}'),
        ("Server=h;Pwd=abc;Uid=u", "Server=h;Pwd=***;Uid=u"),
        ("CREATE USER ann IDENTIFIED BY 'abc'", "CREATE USER ann IDENTIFIED BY '***'"),
        ("https://acc.blob.core.windows.net/c?secret=abc", "https://acc.blob.core.windows.net/c?secret=***"),
        (r"{\"password\": \"abc\", \"a\": 1}", r"{\"password\": \"***\", \"a\": 1}"),
        (r"password=\\\"a b\\\" x", r"password=\\\"***\\\" x"),
        (r'password="a\"b" x', 'password="***" x'),
        ("password='it''s' x", "password='***' x"),
        ("jdbc:sqlserver://h;password={a;b};encrypt=1", "jdbc:sqlserver://h;password=***;encrypt=1"),
        ("jdbc:oracle:thin:ann/abc@//h:1521/x", "jdbc:oracle:thin://h:1521/x"),
        ("PGPASSWORD=abc psql", "PGPASSWORD=*** psql"),
        ("job --db-password abc --rows 3", "job --db-password *** --rows 3"),
        ("postgres://ann:a/b@db:5432/shop", "postgres://db:5432/shop"),
        ("spark.hadoop.fs.s3a.secret.key=abc", "spark.hadoop.fs.s3a.secret.key=***"),
    ],
)
def test_passwords_are_masked(text, clean):
    assert masked({"sql": [text]}) == {"sql": [clean]}


@pytest.mark.parametrize(
    "text",
    [
        "abfss://container@account.dfs.core.windows.net/a/b",
        "select token, secret from people where token = other.token",
        "ann@example.com",
        "git@github.com:a/b.git",
        "https://host:8443/@scope/pkg@1",
        "kafka://a:9092,b:9092/topic@x",
        {"fields": {"password": {"inputFields": [{"namespace": "a", "name": "b", "field": "password"}]}}},
        {"name": "password", "type": "VARCHAR"},
    ],
)
def test_what_is_no_password_stays(text):
    assert masked(text) is text


def test_members_that_mean_a_secret_are_masked():
    value = {
        "facets": {
            "env": [{"name": "DB_PASSWORD", "value": "abc"}, {"name": "HOME", "value": "/"}],
            "api_key": "k",
            "javax.jdo.option.ConnectionPassword": "abc",
            "options": {"password": 1234, "passwords": ["a", "b"], "token": 5},
        }
    }
    assert masked(value) == {
        "facets": {
            "env": [{"name": "DB_PASSWORD", "value": "***"}, {"name": "HOME", "value": "/"}],
            "api_key": "***",
            "javax.jdo.option.ConnectionPassword": "***",
            "options": {"password": "***", "passwords": ["***"], "token": 5},
        }
    }


@pytest.mark.parametrize(
    "piece",
    ["a_", "a.", "://", "a@", 'password=\\"', "password='", "password  ", "--password ", "identified by "],
)
def test_looking_for_passwords_takes_time_in_proportion_to_the_text(piece):
    def steps(times: int) -> float:
        text = "@key " + piece * times
        began = time.process_time()
        masked(text)
        return time.process_time() - began

    assert steps(40_000) < 20  # quadratic searches take an hour


def test_a_product_of_inputs_and_fields_is_not_read_for_ever():
    many = [{"name": f"f{number}"} for number in range(5_000)]
    sources = [{"namespace": "a", "name": "same"} for _ in range(5_000)]
    facets = {"schema": facet(fields=many), "columnLineage": facet(fields={}, dataset=sources)}
    found = read(event(outputs=[{"namespace": "a", "name": "b", "facets": facets}]))
    assert len(found.columns) == 5_000
    assert any("the rest was left out" in sentence for sentence in found.oddities)


def test_one_event_names_so_many_sources_at_most():
    sources = [{"namespace": "a", "name": f"s{number}", "field": "c"} for number in range(10_050)]
    facets = {"columnLineage": facet(fields={"c": {"inputFields": sources}})}
    found = read(event(outputs=[{"namespace": "a", "name": "b", "facets": facets}]))
    assert len(found.flows) == len(found.columns) == 10_000
    assert any("the rest was left out" in sentence for sentence in found.oddities)


@pytest.mark.parametrize(
    "moment", [10**400, -(10**400), 10**30, 1e308, True, [], {}, "0000-01-01", "10000-01-01"]
)
def test_a_time_that_is_none_is_refused(moment):
    with pytest.raises(RefusedEventError, match="eventTime cannot be read"):
        read(event(eventTime=moment))
