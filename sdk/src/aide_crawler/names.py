"""Qualified names of datasets: how `schema.table` is written and read back without ambiguity."""

from __future__ import annotations


def quote_part(part: str) -> str:
    """The part as it is, or as a quoted SQL identifier where it holds a dot or a double quote."""
    if "." in part or '"' in part:
        return '"' + part.replace('"', '""') + '"'
    return part


def qualified_name(schema: str, name: str) -> str:
    """`schema.table`, each part quoted where needed, so that two datasets never share a name."""
    return f"{quote_part(schema)}.{quote_part(name)}"


def split_qualified_name(text: str) -> tuple[str, str]:
    """The schema and the table that `qualified_name` joined.

    Raises ValueError where the text has not exactly two parts or a quote is left open.
    """
    parts: list[str] = []
    rest = text
    while True:
        part, rest, more = _take_part(rest)
        parts.append(part)
        if not more:
            break
    if len(parts) != 2:
        raise ValueError(f"A qualified name has two parts, schema and table, and {text!r} has {len(parts)}.")
    return parts[0], parts[1]


def _take_part(text: str) -> tuple[str, str, bool]:
    """The first part, what follows its dot, and whether there was a dot."""
    if not text.startswith('"'):
        part, dot, rest = text.partition(".")
        return part, rest, bool(dot)
    taken: list[str] = []
    position = 1
    while position < len(text):
        char = text[position]
        if char == '"':
            if text[position + 1 : position + 2] == '"':
                position += 1
            else:
                rest = text[position + 1 :]
                if rest and not rest.startswith("."):
                    raise ValueError(f"A quoted part of {text!r} is followed by other text.")
                return "".join(taken), rest[1:], bool(rest)
        taken.append(char)
        position += 1
    raise ValueError(f"A quoted part of {text!r} is not closed.")
