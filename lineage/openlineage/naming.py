"""Names of datasets in normal form: two spellings of one place become the same. After the naming of OpenLineage."""

from __future__ import annotations

import re
from typing import NamedTuple

from lineage.openlineage.secrets import without_userinfo

SCHEMES = {
    "postgresql": "postgres", "s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs", "gcs": "gs",
    "sqlserver": "mssql", "mariadb": "mysql", "thrift": "hive",
}  # fmt: skip
PORTS = {
    "postgres": ("5432",), "mysql": ("3306",), "mssql": ("1433",), "oracle": ("1521",), "redshift": ("5439",),
    "hive": ("10000", "9083"), "kafka": ("9092",), "trino": ("8080",),
}  # fmt: skip
STORAGE = frozenset(
    {"s3", "gs", "abfss", "wasbs", "hdfs", "file", "dbfs", "sftp", "ftp", "oss", "cos", "webhdfs"}
)
WITH_DATABASE = {"postgres": 3, "redshift": 3, "mssql": 3, "mysql": 2}
"""Where names begin with the database, and how many parts they have; some write it into the namespace."""
FOLDED = {
    "postgresql": str.lower, "redshift": str.lower, "hive": str.lower, "iceberg": str.lower,
    "snowflake": str.upper, "oracle": str.upper, "mysql": str.lower, "mariadb": str.lower,
    "sqlserver": str.lower, "sqlite": str.lower,
}  # fmt: skip
"""By flavor: how names that were not quoted compare. What is not here compares as it is written."""

_URL = re.compile(r"\A([A-Za-z][A-Za-z0-9+.\-]*)(:/{0,3})(.*)\Z", re.DOTALL)
_PARTITION = re.compile(r"\A[^=/]+=[^/]*\Z")
_GLOB = re.compile(r"[*?\[{]")


class NormalName(NamedTuple):
    """A namespace and a name in normal form, and what was left out of the name, in words."""

    namespace: str
    name: str
    why: str = ""


def scheme_of(namespace: str) -> str:
    """The scheme under its usual name, or empty."""
    found = _URL.match(namespace)
    if found is None:
        return namespace.lower() if namespace.lower() == "file" else ""
    scheme = found[1].lower().partition("+")[0]
    return SCHEMES.get(scheme, scheme)


def authority_of(namespace: str) -> str:
    """A namespace in normal form: scheme, hosts and ports as everybody would write them, nobody's user."""
    namespace = without_userinfo(namespace.strip())
    scheme = scheme_of(namespace)
    if not scheme:
        return namespace
    if scheme == "file":
        return "file"
    found = _URL.match(namespace)
    assert found is not None
    hosts, slash, rest = found[3].lstrip("/").partition("/")
    if scheme in {"abfss", "wasbs"} and "@" in hosts:
        container, _, account = hosts.partition("@")
        hosts = f"{container}@{account.lower()}"
    elif scheme not in STORAGE or scheme in {"hdfs", "webhdfs", "sftp", "ftp"}:
        settings = hosts.partition(";")
        listed = sorted({_host(one, scheme) for one in settings[0].split(",") if one})
        hosts = ",".join(listed) + settings[1] + settings[2].lower()
    rest = rest.rstrip("/")
    return f"{scheme}://{hosts}{slash if rest else ''}{rest}"


def _host(text: str, scheme: str) -> str:
    text = text.strip().lower()
    if text.startswith("["):
        return text
    host, colon, port = text.partition(":")
    host = host.rstrip(".")
    usual = PORTS.get(scheme, ())
    if len(usual) > 1 and port in usual:
        port = ""  # which of them goes without saying depends on who speaks
    elif not colon and len(usual) == 1:
        port = usual[0]
    return f"{host}:{port}" if port else host


def normal_form(namespace: str, name: str) -> NormalName:
    """The normal form of a name. Quotes around parts, slashes at the ends, partitions and patterns go."""
    authority = authority_of(namespace)
    scheme = scheme_of(namespace)
    name = without_userinfo(name.strip())
    if scheme in STORAGE or (name.startswith("/") and scheme != "kafka"):
        return _path(authority, name)
    if scheme == "kafka":
        return NormalName(authority, name)
    parts = [part for part in split_name(name) if part] or [name]
    server, _, database = authority.partition("://")[2].partition("/")
    if scheme in WITH_DATABASE and database and "/" not in database and len(parts) < WITH_DATABASE[scheme]:
        authority, parts = f"{scheme}://{server}", [database, *parts]
    return NormalName(authority, ".".join(_part(part) for part in parts))


def _path(authority: str, name: str) -> NormalName:
    parts = [part for part in name.split("/") if part not in {"", "."}]
    kept = list(parts)
    while len(kept) > 1 and (_PARTITION.match(kept[-1]) or _GLOB.search(kept[-1])):
        kept.pop()
    why = f"{'/'.join(parts[len(kept) :])} was left out" if len(kept) < len(parts) else ""
    return NormalName(authority, "/".join(kept), why[:200])


def split_name(name: str) -> list[str]:
    """The parts of a dotted name; quotes of SQL ("a.b", `a.b`, [a.b]) hold a part together and are taken off."""
    if not any(mark in name for mark in '"`['):
        return name.split(".")
    parts: list[str] = []
    place = 0
    while place <= len(name):
        mark = name[place : place + 1]
        close = {'"': '"', "`": "`", "[": "]"}.get(mark)
        end = _closing(name, place + 1, close) if close else -1
        if close and end > 0 and name[end + 1 : end + 2] in {"", "."}:
            parts.append(name[place + 1 : end].replace(close * 2, close))
            place = end + 2
            if place == len(name) + 1:
                break
            continue
        dot = name.find(".", place)
        dot = len(name) if dot < 0 else dot
        parts.append(name[place:dot])
        place = dot + 1
    return parts


def _closing(name: str, start: int, close: str | None) -> int:
    """Where the quote ends; a doubled one is a part of the text."""
    assert close is not None
    while (end := name.find(close, start)) >= 0:
        if name[end + 1 : end + 2] != close or close == "]":
            return end
        start = end + 2
    return -1


def _part(part: str) -> str:
    return '"' + part.replace('"', '""') + '"' if "." in part or '"' in part else part


def display_rank(namespace: str, name: str) -> tuple[bool, str, str]:
    """Which of a dataset's names is shown: the least; names of tables come before paths."""
    return (scheme_of(namespace) in STORAGE or name.startswith("/"), namespace, name)
