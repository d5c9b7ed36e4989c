"""The database's own refusal to change or delete audit rows. Installed by a migration.

Someone who may change the schema can lift it; the chain finds what they did then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection as default_connection

TABLE = "audit_auditentry"
SEALING = ("place", "hash")
SENTENCE = "The audit log only grows: its rows are neither changed nor deleted."

_POSTGRESQL = f"""
CREATE OR REPLACE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.place IS NULL AND NEW.place IS NOT NULL
       AND to_jsonb(NEW) - 'place' - 'hash' = to_jsonb(OLD) - 'place' - 'hash' THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '{SENTENCE}' USING ERRCODE = '23000';
END $$;
DROP TRIGGER IF EXISTS audit_entries_stay ON {TABLE};
CREATE TRIGGER audit_entries_stay BEFORE UPDATE OR DELETE ON {TABLE}
  FOR EACH ROW EXECUTE FUNCTION audit_entries_stay();
DROP TRIGGER IF EXISTS audit_entries_stay_all ON {TABLE};
CREATE TRIGGER audit_entries_stay_all BEFORE TRUNCATE ON {TABLE}
  FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_stay();
"""
_POSTGRESQL_LIFT = f"""
DROP TRIGGER IF EXISTS audit_entries_stay ON {TABLE};
DROP TRIGGER IF EXISTS audit_entries_stay_all ON {TABLE};
"""


def install(connection: Any = default_connection) -> None:
    """Let the database refuse from now on; an existing guard is renewed. Sealing a row once stays possible."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL)
        elif connection.vendor == "sqlite":
            for statement in _sqlite(connection):
                cursor.execute(statement)


def lift(connection: Any = default_connection) -> None:
    """Take the guard away."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_LIFT)
        elif connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER IF EXISTS audit_entries_keep")
            cursor.execute("DROP TRIGGER IF EXISTS audit_entries_stay")


@contextmanager
def lifted(connection: Any = default_connection) -> Iterator[None]:
    """Without the guard for a while: for emptying a database as a whole."""
    lift(connection)
    try:
        yield
    finally:
        install(connection)


def _sqlite(connection: Any) -> list[str]:
    """A table that a later migration rebuilds loses its triggers, and that migration installs them again."""
    with connection.cursor() as cursor:
        columns = [each.name for each in connection.introspection.get_table_description(cursor, TABLE)]
    same = " AND ".join(f'OLD."{name}" IS NEW."{name}"' for name in columns if name not in SEALING)
    refuse = f"BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
    return [
        "DROP TRIGGER IF EXISTS audit_entries_keep",
        f'CREATE TRIGGER audit_entries_keep BEFORE UPDATE ON "{TABLE}" FOR EACH ROW '
        f"WHEN NOT (OLD.place IS NULL AND NEW.place IS NOT NULL AND {same}) {refuse}",
        "DROP TRIGGER IF EXISTS audit_entries_stay",
        f'CREATE TRIGGER audit_entries_stay BEFORE DELETE ON "{TABLE}" FOR EACH ROW {refuse}',
    ]
