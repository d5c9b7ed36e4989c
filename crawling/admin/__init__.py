"""The screens of crawling: reviews, runs, schedules. Each view checks a right, calls one rule, tells the outcome."""

from crawling.admin import plans, proposals, runs

__all__ = ["plans", "proposals", "runs"]
