"""Taking over events of the logging and the Kafka service: JSON lines, log texts and messages, without repetition."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from aide.core.api.wire import load_json
from lineage import events, logtexts
from lineage.consuming import Came, id_of

AT_ONCE = 1000
MAX_LINE = 5 * 1024 * 1024
MAX_REASONS = 100


@dataclass
class Taken:
    """What became of what was read; `reasons` are the first refusals with their line."""

    stored: int = 0
    duplicate: int = 0
    refused: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list)


def take_messages(came: Sequence[Came]) -> dict[int, str]:
    """Store messages of the metadata topic; the reasons for those that are no events, by their place."""
    refused: dict[int, str] = {}
    values: list[Any] = []
    places: list[int] = []
    for place, each in enumerate(came):
        if each.value is None:
            refused[place] = "The message has no value."
            continue
        try:
            values.append(load_json(each.value, read_float=float))
            places.append(place)
        except ValueError as error:
            refused[place] = str(error)
    answers = events.accept(values, ids=[id_of(came[place]) for place in places])
    for place, answer in zip(places, answers, strict=True):
        if answer.status == events.REFUSED:
            refused[place] = answer.reason
    return refused


def take_lines(lines: Iterable[bytes]) -> Taken:
    """Store the events of a file: one JSON object a line, an array, or a log of the logging service.

    Lines without an event are skipped and counted. An event without an id gets one from its content and from how many
    times the same came before, so that the same file brings nothing twice.
    """
    taken = Taken()
    seen: Counter[str] = Counter()
    batch: list[tuple[int, Any]] = []
    for number, value in _values_of(lines, taken):
        batch.append((number, value))
        if len(batch) >= AT_ONCE:
            _store(batch, seen, taken)
            batch = []
    _store(batch, seen, taken)
    return taken


def _store(batch: list[tuple[int, Any]], seen: Counter[str], taken: Taken) -> None:
    if not batch:
        return
    ids = [_id_by_content(value, seen) for _, value in batch]
    for (number, _), answer in zip(batch, events.accept([value for _, value in batch], ids=ids), strict=True):
        if answer.status == events.STORED:
            taken.stored += 1
        elif answer.status == events.DUPLICATE:
            taken.duplicate += 1
        else:
            _refuse(taken, number, answer.reason)


def _id_by_content(value: Any, seen: Counter[str]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()[:40]
    seen[digest] += 1
    return f"import:{digest}:{seen[digest]}"


def _refuse(taken: Taken, number: int, reason: str) -> None:
    taken.refused += 1
    if len(taken.reasons) < MAX_REASONS:
        taken.reasons.append(f"line {number}: {reason}")


def _values_of(lines: Iterable[bytes], taken: Taken) -> Iterator[tuple[int, Any]]:
    """(line, value) of every event; texts of the logging service reach over several lines."""
    block: list[str] = []
    began = 0
    for number, raw in enumerate(lines, start=1):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if block and logtexts.goes_on(line):
            block.append(line)
            continue
        if block:
            yield began, logtexts.read(block)
            block = []
        if logtexts.begins(line):
            block, began = [line], number
        else:
            yield from _from_line(number, raw, taken)
    if block:
        yield began, logtexts.read(block)


def _from_line(number: int, raw: bytes, taken: Taken) -> Iterator[tuple[int, Any]]:
    text = raw.strip()
    if not text:
        return
    if len(text) > MAX_LINE:
        _refuse(taken, number, "The line is too long.")
        return
    start = 0 if text[:1] in b"[{" else text.find(b"{")
    if start < 0:
        taken.skipped += 1
        return
    try:
        value = load_json(text[start:], read_float=float)
    except ValueError as error:
        if start:
            taken.skipped += 1  # a line of a log that only holds a brace
        else:
            _refuse(taken, number, str(error))
        return
    if isinstance(value, list):
        yield from ((number, each) for each in value)
    elif isinstance(value, dict) and isinstance(value.get("payload"), str) and "event_id" in value:
        yield number, load_json(value["payload"].encode(), read_float=float)  # a line of our own log
    else:
        yield number, value
