"""Background work of crawling: carry out a run, start what is due, free what is lost."""

from __future__ import annotations

from collections.abc import Sequence

from aide.work.registry import every_tick, task
from crawling import crawl, plans, sampling


@task("crawling.crawl", lease_seconds=60, max_attempts=1)
def carry_out(run_id: int) -> None:
    """Carry out a queued run. A run whose worker died is not taken up again: it is lost, and can be retried."""
    crawl.crawl(run_id)


@task(sampling.TASK, lease_seconds=120, max_attempts=2)
def sample_values(dataset_ids: Sequence[int]) -> None:
    """Look at values where the system allows it; only counts of shapes are kept."""
    sampling.sample_now(dataset_ids)


@every_tick("crawling.lost_runs")
def free_lost_runs() -> None:
    """End the runs whose worker is silent."""
    crawl.mark_lost()


@every_tick("crawling.due_plans")
def start_due_plans() -> None:
    """Start the crawls that are due."""
    plans.start_due()
