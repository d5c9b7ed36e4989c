"""The events of one resource as sessions: runs with what they were given, what came out, how long it took. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lineage.phases import Phase, read

RUN_KEYS = (
    *("run_id", "runId", "run", "training_run_id", "training_id", "pipeline_run_id", "execution_id"),
    *("session_id", "job_run_id"),
)
STAGE_KEYS = ("stage", "stage_name", "pipeline_stage", "step", "stage_number")
_COUNT = re.compile(r"(records?|rows?|count|bytes|files)(_|$)|(^|_)(records?|rows?)", re.IGNORECASE)
_METRIC = re.compile(
    r"(^|_)(accuracy|loss|precision|recall|f1|auc|rmse|mae|mse|r2|error_rate|score|metric|quality|duration|latency)",
    re.IGNORECASE,
)
_PARAMETER = re.compile(
    r"(^|_)(param|parameter|hyperparameter|learning_rate|epochs?|batch_size|max_depth|estimators|seed|algorithm)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Told:
    """One event as the rules about events need it."""

    event_id: str
    resource: str
    subject: str
    action: str
    at: dt.datetime
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Step:
    """One event in its session: what it is about, its phase, and its values by what they mean."""

    event_id: str
    at: dt.datetime
    action: str
    phase: Phase
    stage: str
    seconds_after: float | None
    parameters: dict[str, str]
    metrics: dict[str, float]
    counts: dict[str, float]
    values: dict[str, str]


@dataclass(slots=True)
class Session:
    """One run on a resource; open while nothing says that it is over."""

    subject: str
    about: str
    run: str
    state: str = "open"
    steps: list[Step] = field(default_factory=list)

    @property
    def began_at(self) -> dt.datetime:
        return self.steps[0].at

    @property
    def ended_at(self) -> dt.datetime | None:
        return self.steps[-1].at if self.state != "open" else None

    @property
    def seconds(self) -> float:
        return (self.steps[-1].at - self.steps[0].at).total_seconds()

    @property
    def parameters(self) -> dict[str, str]:
        return {key: value for step in self.steps for key, value in step.parameters.items()}

    @property
    def metrics(self) -> dict[str, float]:
        return {key: value for step in self.steps for key, value in step.metrics.items()}

    @property
    def counts(self) -> dict[str, float]:
        return {key: value for step in self.steps for key, value in step.counts.items()}


def sessions(events: Iterable[Told]) -> list[Session]:
    """The sessions of a resource, oldest first, from its events in the order in which they happened.

    Events that name the same run belong together. Without a run, a beginning opens a session of its subject, which
    takes what that subject does until its end; a beginning of the same thing opens another one. What happens outside
    of any session is one of its own.
    """
    found: list[Session] = []
    by_run: dict[tuple[str, str], Session] = {}
    open_now: dict[str, list[Session]] = {}
    for event in events:
        about, phase = read(event.action)
        run = next((event.values[key] for key in RUN_KEYS if event.values.get(key)), "")
        session = (
            by_run.get((event.subject, run)) if run else _open_for(open_now, event.subject, about, phase)
        )
        if session is None:
            session = Session(event.subject, about, run)
            found.append(session)
            if run:
                by_run[(event.subject, run)] = session
            elif phase is Phase.BEGAN:
                open_now.setdefault(event.subject, []).append(session)
            else:
                session.state = "failed" if phase is Phase.FAILED else "completed"
        session.steps.append(_step(event, phase, session))
        if phase in {Phase.OVER, Phase.FAILED} and about in {session.about, ""}:
            session.state = "failed" if phase is Phase.FAILED else "completed"
            if session in open_now.get(event.subject, ()):
                open_now[event.subject].remove(session)
    return found


def _open_for(open_now: dict[str, list[Session]], subject: str, about: str, phase: Phase) -> Session | None:
    waiting = open_now.get(subject, [])
    same = [session for session in waiting if session.about == about]
    if phase is Phase.BEGAN:
        return None if same or not waiting else waiting[-1] if about else None
    if same:
        return same[-1]
    return waiting[-1] if waiting else None


def _step(event: Told, phase: Phase, session: Session) -> Step:
    parameters: dict[str, str] = {}
    metrics: dict[str, float] = {}
    counts: dict[str, float] = {}
    for key, value in event.values.items():
        number = _number(value)
        if _PARAMETER.search(key):
            parameters[key] = value
        elif number is not None and _COUNT.search(key):
            counts[key] = number
        elif number is not None and _METRIC.search(key):
            metrics[key] = number
    return Step(
        event.event_id,
        event.at,
        event.action,
        phase,
        next((event.values[key] for key in STAGE_KEYS if event.values.get(key)), ""),
        (event.at - session.steps[-1].at).total_seconds() if session.steps else None,
        parameters,
        metrics,
        counts,
        event.values,
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
