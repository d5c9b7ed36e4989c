"""Taking back the edges that a run drew before it read and wrote too many pairs of datasets. For the task alone."""

from __future__ import annotations

import json

from django.db import transaction

from lineage.merging.merge import merge
from lineage.merging.statements import lock_graph
from lineage.models import Edge, Job, LineageEvent
from lineage.openlineage import read

AT_ONCE = 100


def redraw(job_id: int) -> None:
    """Draw the edges of a job anew from all of its events, which say again what is left of them.

    Merging does not depend on repetition, so nothing else changes. Edges that people ended stay as they are. What
    comes meanwhile is merged as ever; until all is read again some edges are missing.
    """
    job = Job.objects.filter(pk=job_id).first()
    if job is None:
        return
    with transaction.atomic():
        lock_graph()
        Edge.objects.filter(job=job, origin=Edge.Origin.EVENT, reason="").delete()
    after = 0
    while True:
        told = LineageEvent.objects.filter(
            job_key=job.key, state=LineageEvent.State.MERGED, pk__gt=after
        ).order_by("pk")
        rows = list(told.values_list("pk", "body")[:AT_ONCE])
        if not rows:
            return
        after = rows[-1][0]
        with transaction.atomic():
            merge([read(json.loads(body)) for _, body in rows])
