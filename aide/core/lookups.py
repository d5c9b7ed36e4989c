"""The lookup `like`: a whole text against a pattern with `%`, in any case, by the database's own LIKE."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import CharField, TextField
from django.db.models.lookups import IContains


class Like(IContains):
    """`name__like="cust%id"`. Only `%` is a wildcard.

    A regular expression would do the same, but SQLite's are Python's: some patterns never end there, and
    hold up the whole process. LIKE takes time in proportion to pattern and text on both databases.
    """

    def process_rhs(self, compiler: Any, connection: Any) -> Any:
        sql, params = super().process_rhs(compiler, connection)
        parts = (connection.ops.prep_for_like_query(part) for part in re.split("%+", str(self.rhs)))
        return sql, ["%".join(parts), *params[1:]]


for kind in (CharField, TextField):
    kind.register_lookup(Like, "like")
