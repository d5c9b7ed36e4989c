"""The one way in: a connection URL and a scope give a snapshot, or a CrawlError."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aide_crawler.connection_url import URL
from aide_crawler.dialects import reader_for
from aide_crawler.errors import CrawlError
from aide_crawler.limits import Limits, Progress
from aide_crawler.memory import collecting_later
from aide_crawler.options import check_options
from aide_crawler.scope import Scope
from aide_crawler.snapshot import Snapshot
from aide_crawler.trouble import explain
from aide_crawler.urls import read_url, with_password
from aide_crawler.watch import Watch

if TYPE_CHECKING:
    import sqlalchemy


def inspect(
    url: str | URL | sqlalchemy.URL,
    *,
    scope: Scope | None = None,
    limits: Limits | None = None,
    password: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Snapshot:
    """Look at the schemas of a database, reading no row of its data.

    Raises CrawlError, with a sentence without secrets and without the driver's exception behind it,
    when the source cannot be reached or read as a whole; what could not be read of a source that
    answers is told in the snapshot's coverage. The documents share parts; treat them as read-only.
    """
    check_options(read_url(url))
    target = with_password(url, password)
    watch = Watch(limits or Limits(), on_progress=on_progress, should_stop=should_stop)
    failure: CrawlError
    try:
        with collecting_later():
            return reader_for(target)(target, scope or Scope(), watch)
    except CrawlError as error:
        failure = CrawlError(error.code, error.sentence)
    except Exception as error:  # noqa: BLE001 - any driver may raise anything; it becomes a CrawlError below
        failure = explain(error, target, connecting=False)
    finally:
        watch.close()
    # Raised here, outside of the handlers, so that no driver's exception hangs on it as its context.
    raise failure
