"""Look, compare, propose, supersede: the only code that writes crawl runs, observations and new proposals."""

from crawling.crawl.look import crawl, crawl_now
from crawling.crawl.receive import receive
from crawling.crawl.runs import cancel, mark_lost, retry, start
from crawling.crawl.upload import upload

__all__ = ["cancel", "crawl", "crawl_now", "mark_lost", "receive", "retry", "start", "upload"]
