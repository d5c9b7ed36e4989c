"""The time of the story: while it is told, the product's rules see the moments that it happens at.

Only the demo's command uses it, in a process of its own: the clock is the whole process's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.utils import timezone

STEP = timedelta(milliseconds=2)


class Clock:
    """Stands at a moment and goes on a little each time it is read, so that what follows is later."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def __call__(self) -> datetime:
        self._moment += STEP
        return self._moment

    def at(self, moment: datetime) -> datetime:
        """Set it; what happens next happens then."""
        self._moment = moment
        return moment

    def on(self, **delta: float) -> datetime:
        """Let some time pass, given as for `timedelta`."""
        return self.at(self._moment + timedelta(**delta))

    @contextmanager
    def running(self) -> Iterator[None]:
        """For this block the whole process goes by this clock."""
        real = timezone.now
        timezone.now = self
        try:
            yield
        finally:
            timezone.now = real


def last_time(hour: int, minute: int, *, before: datetime) -> datetime:
    """The latest moment not after `before` at which clocks showed that time."""
    moment = before.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return moment if moment <= before else moment - timedelta(days=1)


def first_of_march(now: datetime) -> datetime:
    """The beginning of the latest 1 March that is two weeks ago at least."""
    year = now.year if now >= now.replace(month=3, day=15, hour=0, minute=0) else now.year - 1
    return datetime(year, 3, 1, tzinfo=now.tzinfo)
