"""How well columns are classified, on schemas that the rules know and on others, and how fast.

`bench_pii.py -v` lists the mistakes, too. The speed is that of a new classifier on names that it has not read before;
its floor is a look-up of every name in a dictionary.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from bench.measuring import in_turn
from bench.pii.scoring import FILES, UNSEEN, measure, mistakes, read
from registry.pii import Column, default_rules
from registry.pii.classifying import Classifier

COLUMNS = 10_000


def of_processor(action: Callable[[], object]) -> Callable[[], float]:
    """An action that tells how long one core worked for it."""

    def run() -> float:
        began = time.process_time()
        action()
        return time.process_time() - began

    return run


def main() -> None:
    for path in FILES:
        scores = measure(read(path))
        print(scores.table(path.name), end="\n\n")
        if "-v" in sys.argv[1:]:
            print(*mistakes(scores), sep="\n", end="\n\n")
    known = [each.column for each in read(UNSEEN)]
    columns = [
        Column(f"{each.table}_{number // len(known)}", f"{each.name}_{number}", each.native_type)
        for number in range(COLUMNS)
        for each in [known[number % len(known)]]
    ]
    names = {each.name: each.table for each in columns}
    rules = default_rules()
    ratio = in_turn(
        of_processor(lambda: Classifier(rules).classify(columns)),
        of_processor(lambda: [names[each.name].lower().split("_") for each in columns]),
    )
    print(ratio.line(f"classify {COLUMNS} columns", "a look-up of each"))


if __name__ == "__main__":
    main()
