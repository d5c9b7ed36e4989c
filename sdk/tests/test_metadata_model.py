"""The metadata model: fresh defaults, every form of a timestamp, values as texts; and searching and settings."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from aissemble_core_metadata.logging_metadata_api_service import KEPT, LoggingMetadataAPIService
from aissemble_core_metadata.messaging_config import MessagingConfig, read_properties
from aissemble_core_metadata.metadata_api import MetadataAPI
from aissemble_core_metadata.metadata_model import MetadataModel
from aissemble_core_metadata.moments import seconds
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError


def test_each_object_has_a_resource_and_a_moment_of_its_own() -> None:
    before = time.time()
    one, two = MetadataModel(), MetadataModel()
    assert one.resource != two.resource
    assert len(one.resource) == 32
    assert int(one.resource, 16)
    assert before <= one.timestamp <= two.timestamp <= time.time()
    one.additionalValues["a"] = "b"
    assert two.additionalValues == {}


def pickled(packed: str, *zone: Any) -> dict[str, Any]:
    return {
        "py/object": "datetime.datetime",
        "__reduce__": [{"py/type": "datetime.datetime"}, [packed, *zone]],
    }


UTC_BY_PYDANTIC = {
    "py/reduce": [{"py/type": "pydantic_core._pydantic_core.TzInfo"}, {"py/tuple": [0]}],
}
TWO_HOURS_EAST = {
    "py/reduce": [
        {"py/type": "datetime.timezone"},
        {"py/tuple": [{"py/reduce": [{"py/type": "datetime.timedelta"}, {"py/tuple": [0, 7200, 0]}]}]},
    ],
}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (1725530400.25, 1725530400.25),
        (1725530400, 1725530400.0),
        ("1725530400.25", 1725530400.25),
        ("2024-09-05T10:00:00.25Z", 1725530400.25),
        ("2024-09-05T12:00:00.25+02:00", 1725530400.25),
        ("2024-09-05 10:00:00", 1725530400.0),
        ("2024-09-05", 1725494400.0),
        (datetime(2024, 9, 5, 10, 0, 0, 250_000, tzinfo=UTC), 1725530400.25),
        (datetime(2024, 9, 5, 12, tzinfo=timezone(timedelta(hours=2))), 1725530400.0),
        (pickled("B+gJBQoAAAPQkA=="), 1725530400.25),
        (pickled("B+gJBQoAAAPQkA==", UTC_BY_PYDANTIC), 1725530400.25),
        (pickled("B+gJBQoAAAAAAA=="), 1725530400.0),
        (pickled("B+gJBQwAAAAAAA==", TWO_HOURS_EAST), 1725530400.0),
    ],
)
def test_a_timestamp_is_taken_in_every_form(given: Any, meant: float) -> None:
    event = MetadataModel(timestamp=given)
    assert event.timestamp == meant
    assert isinstance(event.timestamp, float)


def test_a_datetime_without_a_zone_is_local_time() -> None:
    moment = datetime(2024, 9, 5, 10)  # noqa: DTZ001 (the point of this test)
    assert MetadataModel(timestamp=moment).timestamp == moment.timestamp()


@pytest.mark.parametrize(
    "wrong",
    [
        True,
        None,
        "soon",
        "",
        float("nan"),
        float("inf"),
        1e300,
        10**400,
        -(10**12),
        [],
        {},
        {"py/object": "os.system", "__reduce__": [{"py/type": "os.system"}, ["true"]]},
        pickled("AAAA"),
        pickled("////////////////////"),
        pickled("B+gJBQoAAAPQkA==", {"py/reduce": [{"py/type": "os.system"}, {"py/tuple": ["true"]}]}),
        pickled("B+gJBQoAAAPQkA==", {"py/object": "os.system"}),
        {"py/object": "datetime.datetime", "__reduce__": 3},
    ],
    ids=str,
)
def test_what_is_no_timestamp_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        MetadataModel(timestamp=wrong)


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_the_ten_bytes_of_a_datetime_are_read_as_they_are_written(moment: datetime) -> None:
    import base64

    packed = moment.replace(tzinfo=None).__reduce__()[1][0]  # type: ignore[index]
    assert seconds(pickled(base64.b64encode(packed).decode())) == moment.timestamp()


def test_values_become_texts() -> None:
    event = MetadataModel(
        additionalValues={"n": 1, "f": 0.5, "b": True, "none": None, "list": [1, "a"], 3: "key", "s": "s"}
    )
    assert event.additionalValues == {
        "n": "1",
        "f": "0.5",
        "b": "True",
        "none": "",
        "list": '[1, "a"]',
        "3": "key",
        "s": "s",
    }
    event.additionalValues["later"] = 7  # type: ignore[assignment]
    assert event.to_wire()["additionalValues"]["later"] == "7"
    assert MetadataModel(additionalValues=None).additionalValues == {}
    with pytest.raises(ValidationError):
        MetadataModel(additionalValues="a=b")


def test_the_wire_has_the_five_published_keys_and_a_number_of_seconds() -> None:
    class WithTeam(MetadataModel):
        team: str = "blue"
        size: int = 3

    event = WithTeam(resource="r", timestamp="2024-09-05T10:00:00.25Z", additionalValues={"size": "own"})
    assert json.loads(json.dumps(event.to_wire())) == {
        "resource": "r",
        "subject": "",
        "action": "",
        "timestamp": 1725530400.25,
        "additionalValues": {"team": "blue", "size": "own"},
    }
    assert MetadataModel.model_validate_json(event.model_dump_json()).timestamp == 1725530400.25


def test_the_log_service_finds_what_this_process_logged(caplog: pytest.LogCaptureFixture) -> None:
    service = LoggingMetadataAPIService()
    assert isinstance(service, MetadataAPI)
    for number in (2, 1, 3):
        service.create_metadata(
            MetadataModel(
                resource="logged-only",
                subject="s",
                action=f"A{number}",
                timestamp=number,
                additionalValues={"stage": number, "line": "one\ntwo"},
            )
        )
    assert "Action: A2" in caplog.text
    assert "\tstage: 2" in caplog.text
    assert "Use another service in production" in caplog.text
    again = LoggingMetadataAPIService()

    def found(**params: Any) -> list[str]:
        return [event.action for event in again.get_metadata({"resource": "logged-only", **params})]

    assert found() == ["A1", "A2", "A3"]
    assert found(action="A2") == ["A2"]
    assert found(timestamp=3) == ["A3"]
    assert found(**{"from": 2, "to": datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC)}) == ["A2", "A3"]
    assert found(**{"additionalValues.stage": "1"}) == ["A1"]
    assert found(additionalValues={"stage": 3, "line": "one\ntwo"}) == ["A3"]
    assert found(subject="other") == []
    with pytest.raises(ValueError, match="colour"):
        found(colour="blue")
    assert LoggingMetadataAPIService._logged.maxlen == KEPT


def test_the_broker_is_found_where_the_environment_says(tmp_path: Path) -> None:
    assert MessagingConfig({}).server() == "kafka-cluster:9093"
    assert MessagingConfig({}).metadata_topic() == "metadata-ingest"
    base, more = tmp_path / "base", tmp_path / "more"
    for folder, text in (
        (base, "# settings\nserver=one:9092, two:9092\nmetadata_topic: from-\\\n   file\n"),
        (more, "server = three:9092\n"),
    ):
        folder.mkdir()
        (folder / "messaging.properties").write_text(text)
    config = MessagingConfig({"KRAUSENING_BASE": str(base)})
    assert config.servers() == ["one:9092", "two:9092"]
    assert config.metadata_topic() == "from-file"
    both = {"KRAUSENING_BASE": str(base), "KRAUSENING_EXTENSIONS": str(more)}
    assert MessagingConfig(both).servers() == ["three:9092"]
    assert MessagingConfig({**both, "AIDE_KAFKA_SERVERS": "four:1,five:2"}).servers() == ["four:1", "five:2"]
    secure = {
        "AIDE_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "AIDE_KAFKA_SASL_MECHANISM": "PLAIN",
        "AIDE_KAFKA_SASL_USERNAME": "u",
    }
    assert MessagingConfig(secure).options() == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "u",
    }
    (more / "messaging.properties").write_text("server=ENC(abc)\n")
    with pytest.raises(ValueError, match="encrypted"):
        MessagingConfig(both).server()


def test_properties_are_read_as_java_does() -> None:
    text = "! c\n\na=1\nb : two words \nc three\nd\\ e=\\u00e9\\n\nf=\nlong=one,\\\r\n  two\ng\n"
    assert read_properties(text) == {
        "a": "1",
        "b": "two words ",
        "c": "three",
        "d e": "é\n",
        "f": "",
        "long": "one,two",
        "g": "",
    }
