"""How a run reads on screen: its state, its progress, what it found and what it could not read, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from aide.core.html import count_in_words
from aide.work.queue import workers_alive
from crawling.models import CrawlRun

Status = CrawlRun.Status
NO_WORKER_AFTER = timedelta(minutes=2)
FOUND = (
    ("new_datasets", "new dataset", "new datasets"),
    ("removed_datasets", "removed dataset", "removed datasets"),
    ("renames", "rename", "renames"),
    ("new_fields", "new column", "new columns"),
    ("removed_fields", "removed column", "removed columns"),
    ("type_changes", "type change", "type changes"),
    ("other_changes", "other change", "other changes"),
)
PHASES = (("look", "Reading the source"), ("compare", "Comparing"), ("propose", "Preparing the review"))


@dataclass(frozen=True)
class Progress:
    """Numbers of a run under way; `percent` is None while nobody knows how much there is."""

    percent: int | None
    words: str
    hint: str


def progress_of(run: CrawlRun) -> Progress:
    parts = []
    if run.schemas_total:
        parts.append(f"{run.schemas_done} of {count_in_words(run.schemas_total, 'schema')}")
    if run.tables_total:
        parts.append(f"{run.tables_done:,} of {run.tables_total:,} tables and views")
    percent = min(100, round(100 * run.tables_done / run.tables_total)) if run.tables_total else None
    return Progress(percent, ", ".join(parts), _hint(run))


def _hint(run: CrawlRun) -> str:
    if run.status == Status.CANCELLING:
        return "Stopping after the current table (up to 30 s)."
    if run.status != Status.QUEUED:
        return ""
    if timezone.now() - run.created_at < NO_WORKER_AFTER:
        return "Waiting for a worker."
    return f"No worker has taken this. Workers alive: {workers_alive()}."


def state_sentence(run: CrawlRun) -> str:
    """The state as one announces it; changes at each state and each quarter."""
    if run.status == Status.RUNNING:
        percent = progress_of(run).percent
        quarter = 25 * (percent // 25) if percent is not None else 0
        return f"Running, {quarter} % read" if quarter else "Running"
    return str(run.get_status_display())


def found_in_words(run: CrawlRun) -> str:
    """ "2 new datasets, 3 type changes", or that nothing changed."""
    if not run.summary:
        return ""
    parts = [count_in_words(run.summary[key], one, many) for key, one, many in FOUND if run.summary.get(key)]
    return ", ".join(parts) or "No changes"


def problems_of(run: CrawlRun) -> list[dict[str, str]]:
    """What could not be read or was left out, with why; failures first."""
    coverage = run.coverage or {}
    found = [
        {
            "what": each["name"],
            "kind": "Schema",
            "state": "failed",
            "why": each.get("reason") or "It could not be listed.",
        }
        for each in coverage.get("schemas") or ()
        if each.get("status") == "failed"
    ]
    for state in ("failed", "skipped"):
        found += [
            {
                "what": f"{each.get('schema', '')}.{each.get('name', '')}".strip("."),
                "kind": "Table or view",
                "state": state,
                "why": each.get("reason") or "",
            }
            for each in coverage.get(state) or ()
        ]
    return found


def took(run: CrawlRun) -> str:
    """How long it took, or takes so far."""
    if run.started_at is None:
        return ""
    seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def phases_of(run: CrawlRun) -> list[tuple[str, str]]:
    return [(label, f"{run.timings[key]:.2f} s") for key, label in PHASES if key in (run.timings or {})]


def scope_in_words(run: CrawlRun) -> list[tuple[str, str]]:
    labels = (
        ("schemas", "Only schemas"),
        ("tables", "Only tables"),
        ("exclude_schemas", "Without schemas"),
        ("exclude_tables", "Without tables"),
    )
    return [(label, ", ".join(run.config[key])) for key, label in labels if run.config.get(key)]


def who_started(run: CrawlRun) -> str:
    if run.started_by is not None:
        name = run.started_by.get_full_name()
        return name if run.trigger == CrawlRun.Trigger.PERSON else f"{name}, {run.get_trigger_display()}"
    return str(run.get_trigger_display())


def next_step(run: CrawlRun) -> str:
    """What one does about a run that did not go well."""
    if run.status == CrawlRun.Status.CANCELLED:
        return "Nothing was proposed. Retry it whenever you like."
    return {
        "auth_failed": "Check the log-in in the URL and the credential reference of the system.",
        "refused": "Check host and port in the system's connection, and that the server is up.",
        "unknown_host": "Check the host's name in the system's connection.",
        "timeout": "The server did not answer in time; try again, or check the network between.",
        "no_such_database": "Check the database's name in the system's connection.",
        "bad_url": "Correct the connection URL of the system.",
        "missing_driver": "Install the driver on this server, or choose another technology.",
        "tls_failed": "Check the TLS settings in the connection URL.",
        "denied": "Ask the database's administrator for the right to read its catalogue.",
    }.get(run.error_code, "Retry it; if it fails again, ask whoever runs AIDE to look into the log.")


def as_row(run: CrawlRun) -> dict[str, Any]:
    """Everything the parts of the run page show."""
    return {
        "progress": progress_of(run),
        "is_active": run.status in CrawlRun.ACTIVE,
        "state": state_sentence(run),
        "found": found_in_words(run),
        "counts": [
            (run.summary[key], one if run.summary[key] == 1 else many)
            for key, one, many in FOUND
            if (run.summary or {}).get(key)
        ],
        "unmapped": (run.report or {}).get("unmapped_types") or [],
        "problems": problems_of(run),
        "took": took(run),
        "phases": phases_of(run),
        "scope": scope_in_words(run),
        "who": who_started(run),
        "next_step": next_step(run) if run.error else "",
    }
