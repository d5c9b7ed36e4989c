"""Secrets never reach the log."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from aide.core.logs import hide_secrets, logging_config, mask


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://reader:hunter2@db/shop failed",
        "url=mysql+pymysql://u:hunter2@h:3306/x?ssl=1",
        "https://h/x?password=hunter2&a=1",
        "Authorization: Bearer hunter2hunter2hunter2",
        "key aide_abcdefgh_hunter2hunter2",
    ],
)
def test_secrets_in_texts_are_masked(text):
    assert "hunter2" not in mask(text)


def test_secrets_in_values_are_hidden_however_deep():
    event = {"event": "x", "password": "hunter2", "deep": {"list": [{"api_key": "hunter2"}]}, "count": 3}
    cleaned = hide_secrets(None, "info", event)
    assert "hunter2" not in str(cleaned)
    assert cleaned["count"] == 3


def test_production_lines_are_json_with_masked_tracebacks(capsys, settings):
    logging_config(debug=False)
    try:
        try:
            raise ValueError("postgresql://u:hunter2@h/db")
        except ValueError:
            logging.getLogger("aide.test").exception("broke %s", "token=hunter2")
        structlog.get_logger("aide.test2").info("fine", secret="hunter2")
    finally:
        logging_config(debug=settings.DEBUG)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
    assert [line["level"] for line in lines] == ["error", "info"]
    assert "hunter2" not in json.dumps(lines)
    assert "Traceback" in json.dumps(lines[0])


def test_a_line_that_cannot_be_written_tells_nothing_of_what_is_handled(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    stream.close()
    logger = logging.getLogger("tests.closed")
    logger.addHandler(handler)
    try:
        raise RuntimeError("a bug that knows hunter2")
    except RuntimeError as error:
        logger.error("it broke: %s", type(error).__name__)
    finally:
        logger.removeHandler(handler)
    captured = capfd.readouterr()
    assert "hunter2" not in captured.out + captured.err
