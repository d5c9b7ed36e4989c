"""Look, compare, propose, supersede: the only code that writes crawl runs, observations and new proposals."""

from crawling.crawl.look import crawl
from crawling.crawl.receive import receive
from crawling.crawl.runs import cancel, mark_lost, retry, start, upload

__all__ = ["cancel", "crawl", "mark_lost", "receive", "retry", "start", "upload"]
