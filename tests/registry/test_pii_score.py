"""What the classifier must reach on labelled schemas; `bench/bench_pii.py` prints the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.pii.scoring import FILES, Scores, measure, read

PRECISION, RECALL, LANGUAGE, LABEL, TRAPS = 0.93, 0.85, 0.70, 0.90, 0.05


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def scores(request: pytest.FixtureRequest) -> Scores:
    return measure(read(request.param))


def test_suggestions_are_right(scores: Scores) -> None:
    assert scores.total.precision >= PRECISION, scores.total.examples


def test_personal_columns_are_found(scores: Scores) -> None:
    assert scores.total.recall >= RECALL, scores.total.examples


def test_traps_stay_silent(scores: Scores) -> None:
    assert scores.total.trap_alarms <= TRAPS, scores.total.examples


def test_hits_have_the_right_label(scores: Scores) -> None:
    assert scores.total.right_labels >= LABEL, scores.total.examples


def test_no_language_is_left_behind(scores: Scores) -> None:
    weak = {name: score.recall for name, score in scores.languages.items() if score.recall < LANGUAGE}
    assert weak == {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_schemas_mixed_in_one_call_do_not_spoil_each_other(path: Path) -> None:
    total = measure(read(path), together=True).total
    assert (total.precision >= PRECISION, total.recall >= RECALL) == (True, True), total.examples
