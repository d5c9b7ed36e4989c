"""The quiet work of ninety days: small changes in many tables, decided the next morning, until there are enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aide.desk.demo import nights
from crawling.models import Decision

if TYPE_CHECKING:
    from aide.desk.demo.story import Story

DECISIONS = 640
NIGHTS = 16
LATER = 3
"""So many decisions at most belong to a coming version of customers, and to last week's rejection."""
PLACES = ("pg-crm", "pg-billing", "pg-billing", "hive-dwh", "pg-crm", "kafka-events", "pg-billing", "s3-lake")
NEW = (
    "batch_key", "source_channel", "import_line", "quality_mark", "campaign_hint", "sort_weight", "origin_system",
    "archive_flag", "risk_band", "price_group", "review_state", "partner_ref", "sales_team", "bundle_key",
    "delivery_hint", "return_reason", "stock_hint", "shift_hint", "margin_band", "rebate_group",
)  # fmt: skip
WORDS = (
    "Set by the nightly job", "As the source system has it", "Empty until it was checked", "Only for reports",
    "Kept for two years", "Taken over from the old system", "See the handbook of the team",
)  # fmt: skip
TYPES = {
    "pg-crm": "varchar(20)", "pg-billing": "varchar(20)", "hive-dwh": "string", "kafka-events": "string",
    "s3-lake": "string",
}  # fmt: skip
WHY_GONE = "No reader uses it any more; the team agreed."
LEFT_ALONE = frozenset({"crm.customers", "lake/archive/letters-2019"})


def scenes(story: Story, *, later: Sequence[datetime]) -> list[tuple[datetime, Callable[[], None]]]:
    """Nights over the ninety days; the last one makes the number of decisions full. `later` are customers' nights."""
    last = story.tonight - timedelta(days=3, minutes=-8)
    first = max(story.window, story.beginning) + timedelta(days=2)
    added: dict[str, list[tuple[str, str]]] = {}
    found = []
    for number in range(NIGHTS):
        at = (first + (last - first) * (number / (NIGHTS - 1))).replace(hour=2, minute=20)
        found.append((at, _scene(story, number, at, later, added)))
    return found


def _scene(
    story: Story,
    number: int,
    at: datetime,
    later: Sequence[datetime],
    added: dict[str, list[tuple[str, str]]],
) -> Callable[[], None]:
    def scene() -> None:
        left = NIGHTS - number
        coming = 0 if left == 1 else sum(LATER for each in later if each > at) + LATER
        done = Decision.objects.filter(at__gte=story.window).count()
        wanted = DECISIONS - done - coming
        _night(story, PLACES[number % len(PLACES)], at, wanted if left == 1 else wanted // left, added)

    return scene


def _night(
    story: Story, code: str, at: datetime, decisions: int, added: dict[str, list[tuple[str, str]]]
) -> None:
    """A night with changes that ask for just so many decisions: a dropped column asks for two."""
    chance = story.random
    documents = story.sources[code].documents
    known = added.setdefault(code, [])
    edits: dict[str, list[str]] = {}
    touched: set[tuple[str, str]] = set()
    tables = chance.sample([name for name in documents if name not in LEFT_ALONE], k=8)
    while decisions > 0:
        name = chance.choice(tables)
        names = [each["name"] for each in documents[name]["fields"]]
        draw = chance.random()
        old = [each for each in known if each[0] == name and each not in touched]
        if draw < 0.08 and old and decisions >= 2 and code.startswith("pg-"):
            touched.add(old[0])
            known.remove(old[0])
            edits.setdefault(name, []).append(f"drop {old[0][1]}")
            decisions -= 2
            continue
        if draw < 0.5:
            column = chance.choice(NEW)
            if column in names or (name, column) in touched:
                continue
            edits.setdefault(name, []).append(f"add {column} {TYPES[code]}")
            known.append((name, column))
        else:
            column = chance.choice(names)
            words = chance.choice(WORDS)
            field = next(each for each in documents[name]["fields"] if each["name"] == column)
            if (name, column) in touched or field.get("comment") == words:
                continue
            edits.setdefault(name, []).append(f"comment {column} {words}")
        touched.add((name, column))
        decisions -= 1
    gone = any(line.startswith("drop ") for lines in edits.values() for line in lines)
    story.edit(code, edits)
    run = story.crawl(code, at=at)
    mine = code.startswith("pg-")
    nights.decide(
        run,
        first=story.people["steward" if mine else "approver"],
        second=story.people["approver"] if mine else None,
        at=at + timedelta(hours=6, minutes=chance.randrange(180)),
        clock=story.clock,
        why=WHY_GONE if gone else "",
    )
