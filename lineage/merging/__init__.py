"""From OpenLineage events to the graph: the only writer of LineageEvent, Job, Run, RunDataset, JobDataset, Edge.

`lineage/resolve.py` and `lineage/drawing.py` use parts of it under the same lock.
"""

from lineage.merging.receiving import DUPLICATE, REFUSED, STORED, Incoming, Receipt, merge_again, receive

__all__ = ["DUPLICATE", "REFUSED", "STORED", "Incoming", "Receipt", "merge_again", "receive"]
