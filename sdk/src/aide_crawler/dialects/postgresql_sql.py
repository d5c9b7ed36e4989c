"""The catalogue statements of PostgreSQL: few, whatever the size, without parameters and percent signs."""

# ruff: noqa: S608 - only numbers that the server gave and texts of this module are put into the statements
from __future__ import annotations

# Else a search path of the role or database could put a user's objects before the catalogue's.
BEGIN = "set transaction isolation level repeatable read, read only; set local search_path to public"
# By all but the first, the server spells names, dates, numbers and bytes in expressions.
_SETTINGS = (
    ("jit", "off"),
    ("quote_all_identifiers", "off"),
    ("datestyle", "ISO, MDY"),
    ("intervalstyle", "postgres"),
    ("timezone", "UTC"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("standard_conforming_strings", "on"),
)


def setup(*, statement_ms: int, lock_ms: int) -> str:
    """Session settings for this transaction, and the facts of the server with all its schemas.

    A shorter time limit that the role or database already has is respected. Compiling a statement to
    machine code takes longer than any of these statements. The first column is only there to set things.
    """

    def lowered(name: str, limit: int) -> str:
        current = f"(extract(epoch from pg_catalog.current_setting('{name}')::interval) * 1000)"
        return f"case when {current} between 1 and {limit} then {current} else {limit} end::text"

    settings = [(name, f"'{value}'") for name, value in _SETTINGS]
    for name, limit in (("statement_timeout", statement_ms), ("lock_timeout", lock_ms)):
        settings.append((name, lowered(name, limit)))
    calls = ", ".join(f"pg_catalog.set_config('{name}', {value}, true)" for name, value in settings)
    return f"""
        select array[{calls}],
               pg_catalog.current_database()::text,
               pg_catalog.current_setting('server_version_num')::int,
               array(select oid::int8 from pg_namespace order by oid),
               array(select nspname::text from pg_namespace order by oid),
               array(select pg_catalog.has_schema_privilege(oid, 'USAGE') from pg_namespace order by oid)"""


def relations(namespaces: list[int]) -> str:
    """Tables and views of the schemas, and every partition, to count it for its parent.

    pg_get_partkeydef waits for locks, so that the key of a locked table stays unknown. Some databases close
    the views of locks, settings and databases to their users, and none of them is asked here.
    """
    return f"""
        select c.oid::int8, c.relnamespace::int8, c.relname::text, c.relkind::text, c.relispartition,
               c.relpersistence::text, c.relrowsecurity, c.relforcerowsecurity, c.relispopulated,
               d.description,
               case when c.relkind = 'p' and l.relation is null then pg_catalog.pg_get_partkeydef(c.oid) end,
               array(select i.inhparent::int8 from pg_inherits i where i.inhrelid = c.oid
                     order by i.inhseqno),
               array(select {_written("n.nspname")} || '.' || {_written("p.relname")} from pg_inherits i
                     join pg_class p on p.oid = i.inhparent join pg_namespace n on n.oid = p.relnamespace
                     where i.inhrelid = c.oid order by i.inhseqno),
               case when c.reloftype <> 0 then
                    (select {_written("n.nspname")} || '.' || {_written("t.typname")} from pg_type t
                     join pg_namespace n on n.oid = t.typnamespace where t.oid = c.reloftype) end,
               case when c.relkind = 'f' then
                    (select s.srvname::text from pg_foreign_table f
                     join pg_foreign_server s on s.oid = f.ftserver where f.ftrelid = c.oid) end,
               (select e.extname::text from pg_depend x join pg_extension e on e.oid = x.refobjid
                where x.classid = 'pg_class'::regclass and x.objid = c.oid and x.deptype = 'e'
                  and x.refclassid = 'pg_extension'::regclass limit 1),
               pg_catalog.has_table_privilege(c.oid, 'SELECT')
               or pg_catalog.has_any_column_privilege(c.oid, 'SELECT'),
               l.relation is not null
        from pg_class c
        left join pg_description d
               on d.objoid = c.oid and d.objsubid = 0 and d.classoid = 'pg_class'::regclass
        left join (select distinct k.relation from pg_catalog.pg_lock_status() k
                   where k.locktype = 'relation' and k.granted and k.mode = 'AccessExclusiveLock'
                     and k.pid <> pg_catalog.pg_backend_pid()
                     and k.database = (select o.database from pg_catalog.pg_lock_status() o
                                       where o.pid = pg_catalog.pg_backend_pid() and o.locktype = 'relation'
                                         and o.database <> 0 limit 1)) l
               on l.relation = c.oid
        where c.relkind in ('r', 'p', 'v', 'm', 'f')
          and (c.relispartition or c.relnamespace in ({_list(namespaces)}))"""


def columns(wanted: str) -> str:
    """The live columns of the wanted relations."""
    return f"""
        select a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull,
               a.attidentity::text, a.attgenerated::text, a.atthasdef, a.attndims, a.attcollation,
               case when a.attcollation not in (0, 100) then
                    (select pg_catalog.quote_ident(n.nspname::text) || '.'
                            || pg_catalog.quote_ident(l.collname::text) from pg_collation l
                     join pg_namespace n on n.oid = l.collnamespace
                     where l.oid = a.attcollation
                       and a.attcollation <> (select t.typcollation from pg_type t where t.oid = a.atttypid))
                    end
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where a.attnum > 0 and not a.attisdropped and {wanted}"""


def types(wanted: str, *, version: int) -> str:
    """Each distinct (type, modifier) of the wanted columns, with those it is made of."""
    is_array = (
        "y.typtype = 'b' and y.typcategory = 'A' and y.typlen = -1 and y.typelem <> 0 "
        "and y.oid not in ('int2vector'::regtype, 'oidvector'::regtype)"
    )
    members = "from pg_attribute a where a.attrelid = y.typrelid and a.attnum > 0 and not a.attisdropped"
    checks = "from pg_constraint k where k.contypid = y.oid and k.contype = 'c'"
    multirange = (
        """when y.typtype = 'm' then
            (select pg_catalog.format_type(r.rngsubtype, null::int) from pg_range r where r.rngmultitypid = y.oid)"""
        if version >= 140000
        else ""
    )
    return f"""
        with recursive used(t, m) as (
            select distinct a.atttypid, a.atttypmod
            from pg_attribute a join pg_class c on c.oid = a.attrelid
            where a.attnum > 0 and not a.attisdropped and {wanted}
            union
            select x.t, x.m from used u join pg_type y on y.oid = u.t
            cross join lateral (
                select y.typelem, u.m where {is_array}
                union all
                select y.typbasetype, y.typtypmod where y.typtype = 'd') x(t, m))
        select u.t::int8, u.m, pg_catalog.format_type(u.t, u.m), y.typname::text, n.nspname::text, y.typtype::text,
               {is_array}, y.typelem::int8, y.typbasetype::int8, y.typtypmod, y.typnotnull,
               pg_catalog.pg_get_expr(y.typdefaultbin, 0::oid),
               case when y.typtype = 'e' then
                    array(select e.enumlabel::text from pg_enum e where e.enumtypid = y.oid
                          order by e.enumsortorder) end,
               case when y.typtype = 'c' then
                    array(select a.attname::text {members} order by a.attnum) end,
               case when y.typtype = 'c' then
                    array(select pg_catalog.format_type(a.atttypid, a.atttypmod) {members} order by a.attnum) end,
               case when y.typtype = 'r' then
                    (select pg_catalog.format_type(r.rngsubtype, null::int) from pg_range r where r.rngtypid = y.oid)
                    {multirange} end,
               case when y.typtype = 'd' then array(select k.conname::text {checks} order by k.conname) end,
               case when y.typtype = 'd' then
                    array(select pg_catalog.pg_get_constraintdef(k.oid) {checks} order by k.conname) end
        from used u join pg_type y on y.oid = u.t join pg_namespace n on n.oid = y.typnamespace"""


def defaults(wanted: str, free: str) -> str:
    """Default and generation expressions.

    pg_get_expr waits for locks on the relation that it is told. A default names no column, and needs none;
    generated columns do, and those of relations that are not `free` stay unknown.
    """
    return f"""
        select d.adrelid, d.adnum,
               case when a.attgenerated = '' then pg_catalog.pg_get_expr(d.adbin, 0::oid)
                    when {free} then pg_catalog.pg_get_expr(d.adbin, d.adrelid) end
        from pg_attrdef d join pg_class c on c.oid = d.adrelid
        join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum where {wanted}"""


def comments(wanted: str) -> str:
    """Comments on columns."""
    return f"""
        select d.objoid, d.objsubid, d.description
        from pg_description d join pg_class c on c.oid = d.objoid
        where d.classoid = 'pg_class'::regclass and d.objsubid > 0 and {wanted}"""


def constraints(wanted: str, loaded: str, *, version: int) -> str:
    """Primary, unique and foreign keys; not the copies that are kept for single partitions."""
    set_columns = "k.confdelsetcols::int2[]" if version >= 150000 else "null::int2[]"
    return f"""
        select k.conrelid, k.conname::text, k.contype::text, k.conkey::int2[], k.conindid::int8,
               k.condeferrable, k.condeferred, k.convalidated, k.confrelid::int8, k.confkey::int2[],
               n.nspname::text, r.relname::text, k.confupdtype::text, k.confdeltype::text,
               k.confmatchtype::text, {set_columns},
               case when k.contype = 'f' and not ({loaded}) then
                    array(select a.attname::text from pg_catalog.unnest(k.confkey) with ordinality x(num, place)
                          join pg_attribute a on a.attrelid = k.confrelid and a.attnum = x.num
                          order by x.place) end
        from pg_constraint k join pg_class c on c.oid = k.conrelid
        left join pg_class r on r.oid = k.confrelid left join pg_namespace n on n.oid = r.relnamespace
        where k.contype in ('p', 'u', 'f') and (k.contype <> 'f' or k.conparentid = 0) and {wanted}"""


def indexes(wanted: str, free: str, *, version: int) -> str:
    """Unique indexes that hold and are not the primary key; expressions only of relations not locked."""
    distinct = "i.indnullsnotdistinct" if version >= 150000 else "false"
    return f"""
        select i.indrelid, x.relname::text, i.indexrelid::int8, i.indkey::int2[], i.indnkeyatts,
               i.indpred is not null, i.indexprs is not null, {distinct},
               case when i.indpred is not null and {free} then pg_catalog.pg_get_expr(i.indpred, i.indrelid) end,
               case when i.indexprs is not null and {free} then
                    array(select pg_catalog.pg_get_indexdef(i.indexrelid, k, true)
                          from pg_catalog.generate_series(1, i.indnkeyatts::int) k where i.indkey[k - 1] = 0) end
        from pg_index i join pg_class x on x.oid = i.indexrelid join pg_class c on c.oid = i.indrelid
        where i.indisunique and not i.indisprimary and not i.indisexclusion and i.indisvalid and {wanted}"""


def sequences(wanted: str) -> str:
    """Sequences that belong to a column: identity, or serial where the column's default uses it."""
    return f"""
        select d.refobjid, d.refobjsubid, d.deptype::text,
               {_written("n.nspname")} || '.' || {_written("x.relname")},
               s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcycle, s.seqcache,
               exists (select from pg_depend u join pg_attrdef f on f.oid = u.objid
                       where u.classid = 'pg_attrdef'::regclass and u.refclassid = 'pg_class'::regclass
                         and u.refobjid = s.seqrelid and f.adrelid = d.refobjid
                         and f.adnum = d.refobjsubid)
        from pg_sequence s
        join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.seqrelid and d.objsubid = 0
             and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0 and d.deptype in ('a', 'i')
        join pg_class x on x.oid = s.seqrelid join pg_namespace n on n.oid = x.relnamespace
        join pg_class c on c.oid = d.refobjid
        where {wanted}"""


def in_namespaces(alias: str, namespaces: list[int]) -> str:
    """Condition: a relation of these schemas that is no partition."""
    return (
        f"{alias}.relkind in ('r', 'p', 'v', 'm', 'f') and not {alias}.relispartition "
        f"and {alias}.relnamespace in ({_list(namespaces)})"
    )


def among(alias: str, oids: list[int]) -> str:
    """Condition: one of these relations."""
    return f"{alias}.oid in ({_list(oids)})"


def not_among(alias: str, oids: list[int]) -> str:
    """Condition: none of these relations."""
    return f"{alias}.oid not in ({_list(oids)})"


def _list(numbers: list[int]) -> str:
    return ", ".join(str(int(number)) for number in numbers) or "0"


def _written(name: str) -> str:
    """A name as part of a qualified name: quoted where it holds a dot or a double quote."""
    quoted = f"'\"' || pg_catalog.replace({name}::text, '\"', '\"\"') || '\"'"
    return f"(case when {name} ~ '[.\"]' then {quoted} else {name}::text end)"
