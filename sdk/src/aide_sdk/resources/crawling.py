"""Crawls, what they propose, and what people decide."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Literal

from aide_sdk.calls import Call, Repeat, given, plain, text
from aide_sdk.engine import Sleep
from aide_sdk.models import Comment, CrawlPlan, CrawlRun, Imported, Outcome, Preview, Proposal
from aide_sdk.models.base import one
from aide_sdk.operations import Mode, Procedure, operation
from aide_sdk.resources.crud import Editable, Readable

Chosen = Iterable[int] | Literal["all", "safe"] | None
Rejections = Iterable[Mapping[str, Any]]


class CrawlPlans(Editable[CrawlPlan, Mode]):
    """`/crawl-plans`"""

    path = "/crawl-plans"
    model = CrawlPlan

    @operation("POST", "/preview", repeat=Repeat.SAFE)
    def preview(self, system: str, *, scope: Mapping[str, Any] | None = None) -> Call[Preview]:
        """What a crawl of a scope would read, looked up at the source now; nothing is written."""
        return Call(one(Preview), json={"system": system, **given(scope=scope)})


class CrawlRuns(Readable[CrawlRun, Mode]):
    """`/crawl-runs`"""

    path = "/crawl-runs"
    model = CrawlRun

    @operation("POST", repeat=Repeat.KEYED)
    def create(
        self,
        system: str,
        *,
        config: Mapping[str, Any] | None = None,
        snapshot: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> Call[CrawlRun]:
        """Start a crawl on the server, or hand over the `snapshot` of one's own.

        config: `{"schemas", "tables", "exclude_schemas", "exclude_tables"}`, lists of names with `*` and `?`.
        """
        body = {"system": system, "dry_run": dry_run, **given(config=config, snapshot=snapshot)}
        return Call(one(CrawlRun), json=body, key=idempotency_key)

    @Procedure
    def wait(self, key: int, *, every: float = 0.5, at_most: float = 3600.0) -> Generator[Any, Any, CrawlRun]:
        """The run once it has ended, however it ended; after `at_most` seconds as it is then."""
        get = CrawlRuns.get.call
        waited = 0.0
        while True:
            run: CrawlRun = yield from self._runner.perform(get(self, key))
            if run.is_finished or waited >= at_most:
                return run
            yield Sleep(every)
            waited += every

    @operation("POST", "/{key}/cancel")
    def cancel(self, key: int) -> Call[CrawlRun]:
        """Ask a run to stop."""
        return Call(one(CrawlRun), at={"key": key})

    @operation("POST", "/{key}/retry")
    def retry(self, key: int) -> Call[CrawlRun]:
        """Start the same crawl again, as a new run."""
        return Call(one(CrawlRun), at={"key": key})

    @operation("GET", "/{key}/report")
    def report(self, key: int) -> Call[dict[str, Any]]:
        """What the run found: `{"schema_version", "new_datasets", "type_changes", …, "summary"}`."""
        return Call(plain, at={"key": key}, query={"format": "json"})

    @operation("GET", "/{key}/report")
    def report_text(self, key: int) -> Call[str]:
        """The same for people."""
        return Call(text, at={"key": key}, query={"format": "text"}, accept="text/plain")

    @operation("POST", "/{key}/decide-and-apply", repeat=Repeat.KEYED)
    def decide_and_apply(
        self,
        key: int,
        *,
        approve: Chosen = None,
        reject: Rejections = (),
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> Call[Outcome]:
        """Decide everything that waits after this run, and carry it out. `approve` is ids, "all" or "safe"."""
        body = decisions(approve, reject, comment)
        return Call(one(Outcome), at={"key": key}, json=body, key=idempotency_key)


class Proposals(Readable[Proposal, Mode]):
    """`/proposals`"""

    path = "/proposals"
    model = Proposal

    @operation("POST", repeat=Repeat.KEYED)
    def create(
        self,
        dataset_id: int,
        document: Mapping[str, Any],
        *,
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> Call[Proposal]:
        """Propose a dataset's next version by hand."""
        body = {"dataset_id": dataset_id, "document": document, **given(comment=comment)}
        return Call(one(Proposal), json=body, key=idempotency_key)

    @operation("POST", "/import", repeat=Repeat.KEYED)
    def bring(
        self,
        system: str,
        document: Mapping[str, Any],
        *,
        comment: str | None = None,
        remove_missing: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Call[Imported]:
        """Propose that a system's datasets be as a ChartDB file draws them."""
        more = given(comment=comment, remove_missing=remove_missing)
        body = {"system": system, "document": document, **more}
        return Call(one(Imported), query={"format": "chartdb"}, json=body, key=idempotency_key)

    @operation("POST", "/{key}/decide", repeat=Repeat.KEYED)
    def decide(
        self,
        key: int,
        *,
        approve: Chosen = None,
        reject: Rejections = (),
        comment: str | None = None,
        idempotency_key: str | None = None,
    ) -> Call[Proposal]:
        """Note decisions: `reject=[{"id", "reason", "mode": "once" | "mute" | "exclude"}]`. Nothing takes
        effect before `apply`."""
        body = decisions(approve, reject, comment)
        return Call(one(Proposal), at={"key": key}, json=body, key=idempotency_key)

    @operation("POST", "/{key}/apply", repeat=Repeat.KEYED)
    def apply(self, key: int, *, idempotency_key: str | None = None) -> Call[Outcome]:
        """Carry out what was noted. AuthError `FOUR_EYES_REQUIRED` when another person has to."""
        return Call(one(Outcome), at={"key": key}, key=idempotency_key)

    @operation("POST", "/{key}/comment", repeat=Repeat.KEYED)
    def comment(
        self, key: int, *, change_id: int, text: str, idempotency_key: str | None = None
    ) -> Call[Comment]:
        """Say something about a change."""
        body = {"change_id": change_id, "text": text}
        return Call(one(Comment), at={"key": key}, json=body, key=idempotency_key)

    @operation("POST", "/{key}/pair", repeat=Repeat.KEYED)
    def pair(
        self, key: int, *, drop_id: int, add_id: int, idempotency_key: str | None = None
    ) -> Call[Proposal]:
        """One dropped and one added become one renamed."""
        body = {"drop_id": drop_id, "add_id": add_id}
        return Call(one(Proposal), at={"key": key}, json=body, key=idempotency_key)

    @operation("POST", "/{key}/split", repeat=Repeat.KEYED)
    def split(self, key: int, *, change_id: int, idempotency_key: str | None = None) -> Call[Proposal]:
        """One renamed becomes one dropped and one added."""
        return Call(one(Proposal), at={"key": key}, json={"change_id": change_id}, key=idempotency_key)


def decisions(approve: Chosen, reject: Rejections, comment: str | None) -> dict[str, Any]:
    chosen = approve if approve is None or isinstance(approve, str) else [*approve]
    rejected = [dict(each) for each in reject]
    return given(approve=chosen, reject=rejected or None, comment=comment)
