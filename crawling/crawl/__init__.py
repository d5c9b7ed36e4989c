"""Look, compare, propose, supersede: the only code that writes crawl runs, observations and new proposals."""

from crawling.crawl.bring import Brought, bring_chartdb, bring_document
from crawling.crawl.look import crawl, crawl_now
from crawling.crawl.offer import Offered, offer, present_of
from crawling.crawl.receive import receive
from crawling.crawl.runs import cancel, mark_lost, retry, start
from crawling.crawl.upload import upload

__all__ = [
    "Brought",
    "Offered",
    "bring_chartdb",
    "bring_document",
    "cancel",
    "crawl",
    "crawl_now",
    "mark_lost",
    "offer",
    "present_of",
    "receive",
    "retry",
    "start",
    "upload",
]
