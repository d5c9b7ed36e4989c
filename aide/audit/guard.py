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

PENDING = "audit_pendingentry"
ANCHORS = "audit_chainanchor"
HEAD = "audit_chainhead"

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
# What else tells of the rows: which wait for their sealing, and how long the chain was.
_WAIT = "INSERT INTO audit_pendingentry (entry_id) SELECT id FROM fresh WHERE place IS NULL ON CONFLICT DO NOTHING;"
_IS_SEALED = (
    "EXISTS (SELECT 1 FROM audit_auditentry "
    "WHERE id = (to_jsonb(OLD)->>'entry_id')::bigint AND place IS NOT NULL)"
)
_POSTGRESQL_TRACES = f"""
CREATE OR REPLACE FUNCTION audit_entries_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  {_WAIT}
  RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS audit_entries_wait ON {TABLE};
CREATE TRIGGER audit_entries_wait AFTER INSERT ON {TABLE} REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_wait();
CREATE OR REPLACE FUNCTION audit_traces_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = '{PENDING}' THEN
    IF {_IS_SEALED} THEN
      RETURN OLD;
    END IF;
  ELSIF TG_OP = 'UPDATE' AND TG_TABLE_NAME = '{HEAD}' THEN
    IF (to_jsonb(NEW)->>'count')::bigint >= (to_jsonb(OLD)->>'count')::bigint THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '{SENTENCE}' USING ERRCODE = '23000';
END $$;
""" + "".join(
    f"""
DROP TRIGGER IF EXISTS audit_traces_stay ON {table};
CREATE TRIGGER audit_traces_stay BEFORE UPDATE OR DELETE ON {table}
  FOR EACH ROW EXECUTE FUNCTION audit_traces_stay();
DROP TRIGGER IF EXISTS audit_traces_stay_all ON {table};
CREATE TRIGGER audit_traces_stay_all BEFORE TRUNCATE ON {table}
  FOR EACH STATEMENT EXECUTE FUNCTION audit_traces_stay();
"""
    for table in (PENDING, ANCHORS, HEAD)
)
_POSTGRESQL_TRACES_LIFT = "".join(
    f"DROP TRIGGER IF EXISTS audit_traces_stay ON {table};"
    f"DROP TRIGGER IF EXISTS audit_traces_stay_all ON {table};"
    for table in (PENDING, ANCHORS, HEAD)
)
_SQLITE = ("audit_entries_keep", "audit_entries_stay")
_SQLITE_TRACES = (
    *("audit_entries_wait", "audit_pending_stays", "audit_anchors_stay", "audit_anchors_keep"),
    *("audit_head_stays", "audit_head_grows"),
)


def install(connection: Any = default_connection) -> None:
    """Let the database refuse from now on; an existing guard is renewed. Sealing a row once stays possible.

    Where the tables that tell of the rows are there already, they are guarded too, and new rows are announced.
    """
    traces = PENDING in connection.introspection.table_names()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL)
            if traces:
                cursor.execute(_POSTGRESQL_TRACES)
        elif connection.vendor == "sqlite":
            for statement in (*_sqlite(connection), *(_sqlite_traces() if traces else ())):
                cursor.execute(statement)


def lift(connection: Any = default_connection) -> None:
    """Take the refusal away. New rows are still announced."""
    traces = PENDING in connection.introspection.table_names()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_LIFT)
            if traces:
                cursor.execute(_POSTGRESQL_TRACES_LIFT)
        elif connection.vendor == "sqlite":
            for name in (*_SQLITE, *_SQLITE_TRACES[1:]):
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


def lift_traces(connection: Any = default_connection) -> None:
    """Nothing is announced any more, and what tells of the rows is as any other table: for taking these away."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_TRACES_LIFT)
            cursor.execute(f"DROP TRIGGER IF EXISTS audit_entries_wait ON {TABLE}")
        elif connection.vendor == "sqlite":
            for name in _SQLITE_TRACES:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


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


def _sqlite_traces() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{SENTENCE}'); END"
    is_sealed = "EXISTS (SELECT 1 FROM audit_auditentry WHERE id = OLD.entry_id AND place IS NOT NULL)"
    wait = "BEGIN INSERT OR IGNORE INTO audit_pendingentry (entry_id) VALUES (NEW.id); END"
    made = {
        "audit_entries_wait": f'AFTER INSERT ON "{TABLE}" FOR EACH ROW WHEN NEW.place IS NULL {wait}',
        "audit_pending_stays": f'BEFORE DELETE ON "{PENDING}" FOR EACH ROW WHEN NOT {is_sealed} {refuse}',
        "audit_anchors_stay": f'BEFORE DELETE ON "{ANCHORS}" FOR EACH ROW {refuse}',
        "audit_anchors_keep": f'BEFORE UPDATE ON "{ANCHORS}" FOR EACH ROW {refuse}',
        "audit_head_stays": f'BEFORE DELETE ON "{HEAD}" FOR EACH ROW {refuse}',
        "audit_head_grows": f'BEFORE UPDATE ON "{HEAD}" FOR EACH ROW WHEN NEW."count" < OLD."count" {refuse}',
    }
    dropped = [f"DROP TRIGGER IF EXISTS {name}" for name in made]
    return dropped + [f"CREATE TRIGGER {name} {what}" for name, what in made.items()]
