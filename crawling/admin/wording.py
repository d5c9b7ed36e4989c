"""How a change reads on screen: its kind in words, and its two values as small pieces of escaped HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from aide.core.html import short_name
from crawling.models import Change

Op = Change.Op
TYPE_OPS = (Op.CHANGE_TYPE, Op.CHANGE_PARAMETERS)
PLACE_OPS = (Op.RENAME_DATASET, Op.MOVE_DATASET)
RENAME_OPS = (Op.RENAME_FIELD, *PLACE_OPS)
DATASET_OPS = (Op.ADD_DATASET, Op.DROP_DATASET)
FIELD_OPS = (Op.ADD_FIELD, Op.DROP_FIELD)
LONG_TEXT = 160
NO_VALUE = SafeString('<span class="muted">none</span>')

_BY_RULE = {
    "type_wider": "Type widened",
    "type_narrower": "Type narrowed",
    "enum_added": "Value added to the type",
    "enum_removed": "Value removed from the type",
    "enum_reordered": "Values of the type reordered",
    "collation": "Character set or collation changed",
    "foreign_key_added": "Foreign key added",
    "foreign_key_dropped": "Foreign key dropped",
    "foreign_key_target": "Foreign key points elsewhere",
    "foreign_key_actions": "Foreign key's actions changed",
    "foreign_key_follows": "Foreign key follows a rename",
}
_ADDED_OR_REMOVED: dict[str, str] = {
    Op.CHANGE_COMMENT: "Comment",
    Op.CHANGE_DEFAULT: "Default",
    Op.CHANGE_PRIMARY_KEY: "Primary key",
    Op.CHANGE_GENERATED: "Generated expression",
    Op.CHANGE_IDENTITY: "Identity",
    Op.CHANGE_ON_UPDATE: "On-update rule",
}


def kind_in_words(change: Change) -> str:
    """ "Column dropped", "Now required", "Type widened"."""
    if change.op in DATASET_OPS:
        what = _object_kind(change.after or change.before or {}).capitalize()
        return f"{what} added" if change.op == Op.ADD_DATASET else f"{what} dropped"
    if change.op == Op.CHANGE_NULLABLE:
        return "Now optional" if change.after else "Now required"
    if change.rule in _BY_RULE:
        return _BY_RULE[change.rule]
    noun = _ADDED_OR_REMOVED.get(change.op)
    if noun and not change.before and change.after:
        return f"{noun} added"
    if noun and change.before and not change.after:
        return f"{noun} removed"
    return str(change.get_op_display())


def title_of(change: Change) -> str:
    """A change in one line of plain text, for messages and lists: "Column dropped: main.customers, fax"."""
    where = f"{change.dataset_name}, {change.field_path}" if change.field_path else change.dataset_name
    return f"{kind_in_words(change)}: {where}"


def subject(change: Change) -> SafeString:
    """What the row is about: the column's name, or words for what concerns the whole dataset."""
    if change.field_path:
        return format_html('<code class="subject">{}</code>', short_name(change.field_path))
    columns = _key_columns(change.after) or _key_columns(change.before)
    if columns:
        return format_html('<code class="subject">{}</code>', short_name(", ".join(columns)))
    if change.op == Op.ADD_DATASET:
        return format_html('<code class="subject">{}</code>', short_name(change.dataset_name, length=56))
    return SafeString('<span class="subject">The whole dataset</span>')


def before(change: Change) -> SafeString | str:
    """The registry's value, struck through where it goes; empty where there was none to speak of."""
    if change.op in (Op.ADD_FIELD, Op.ADD_DATASET, Op.ADD_UNIQUE):
        return ""
    return format_html("<del>{}</del>", _value(change, change.before))


def after(change: Change) -> SafeString | str:
    """The source's value; empty where it is gone."""
    if change.op in (Op.DROP_FIELD, Op.DROP_DATASET, Op.DROP_UNIQUE):
        return ""
    return format_html("<ins>{}</ins>", _value(change, change.after))


def columns_of(change: Change) -> list[dict[str, Any]]:
    """The columns of a whole dataset that comes or goes, to be shown on request."""
    if change.op not in DATASET_OPS:
        return []
    document = change.after or change.before or {}
    key = set((document.get("primary_key") or {}).get("columns") or ())
    return [
        {
            "name": field["name"],
            "type": field.get("native_type") or "",
            "required": field.get("nullable") is False,
            "is_key": field["name"] in key or bool(field.get("primary_key")),
            "comment": field.get("comment") or "",
        }
        for field in document.get("fields") or ()
    ]


def comment_of(change: Change) -> str:
    """What the source says about a new dataset or column in its own words."""
    value = change.after if isinstance(change.after, dict) else {}
    return str(value.get("comment") or "") if change.op in (Op.ADD_DATASET, Op.ADD_FIELD) else ""


def value_of(change: Change, value: Any) -> SafeString | str:
    """Any value that stands, or stood, at a change's place: what the registry has now, for example."""
    return _value(change, value)


def _value(change: Change, value: Any) -> SafeString | str:
    op = change.op
    if op in DATASET_OPS:
        return _dataset(value or {})
    if op in FIELD_OPS:
        return _field(value or {})
    if op in TYPE_OPS:
        other = change.after if value is change.before else change.before
        return _type(value or {}, other or {})
    if op == Op.CHANGE_NULLABLE:
        return "required" if value is False else "optional"
    if op == Op.CHANGE_FOREIGN_KEY:
        return _foreign_key(value, same_columns=_key_columns(change.before) == _key_columns(change.after))
    if op in (Op.ADD_UNIQUE, Op.DROP_UNIQUE, Op.CHANGE_PRIMARY_KEY):
        return _columns(value)
    if op == Op.CHANGE_COMMENT:
        return _long(f"“{value}”") if value else NO_VALUE
    if op == Op.CHANGE_KIND:
        return str(value).replace("_", " ")
    if value in (None, "", {}):
        return NO_VALUE
    if isinstance(value, Mapping):
        return _pairs(value)
    return format_html("<code>{}</code>", _long(str(value)))


def _dataset(document: Mapping[str, Any]) -> str:
    count = len(document.get("fields") or ())
    return f"{_object_kind(document)}, {count} column{'' if count == 1 else 's'}"


def _object_kind(document: Mapping[str, Any]) -> str:
    return str(document.get("kind") or "table").replace("_", " ")


def _field(field: Mapping[str, Any]) -> SafeString:
    words = ["required" if field.get("nullable") is False else "optional"]
    if field.get("default") is not None:
        words.append(f"default {_shortened(str(field['default']))}")
    if field.get("generated"):
        words.append("generated")
    if field.get("identity"):
        words.append("numbered by the database")
    return format_html("<code>{}</code> {}", field.get("native_type") or "no type", ", ".join(words))


def _type(value: Mapping[str, Any], other: Mapping[str, Any]) -> SafeString:
    native = str(value.get("native_type") or "no type")
    spelled = format_html("<code>{}</code>", _long(native))
    if native != str(other.get("native_type") or "no type"):
        return spelled
    mine, theirs = value.get("parameters") or {}, other.get("parameters") or {}
    differing = {key: mine[key] for key in sorted(mine) if mine[key] != theirs.get(key)}
    return (
        format_html('{} <span class="note">{}</span>', spelled, _pairs(differing)) if differing else spelled
    )


def _columns(value: Any) -> SafeString | str:
    columns = _key_columns(value)
    return format_html("<code>({})</code>", ", ".join(columns)) if columns else NO_VALUE


def _foreign_key(value: Any, *, same_columns: bool) -> SafeString | str:
    """Where it points to; its own columns only where they differ, because the row bears their names."""
    if not value:
        return NO_VALUE
    target = f"{value['ref_table']} ({', '.join(value.get('ref_columns') or ())})"
    actions = [
        f"on {verb} {str(value[key]).lower()}"
        for verb, key in (("update", "on_update"), ("delete", "on_delete"))
        if value.get(key) and str(value[key]).upper() != "NO ACTION"
    ]
    note = format_html(' <span class="note">{}</span>', ", ".join(actions)) if actions else ""
    own = "" if same_columns else format_html("{} ", _columns(value))
    return format_html("{}to <code>{}</code>{}", own, target, note)


def _key_columns(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [str(each) for each in value.get("columns") or value.get("expressions") or ()]
    return [str(each) for each in value] if isinstance(value, list) else []


def _pairs(value: Mapping[str, Any]) -> SafeString:
    shown = [
        (key.replace("_", " "), _shortened(_flat(inner))) for key, inner in value.items() if inner is not None
    ]
    return format_html_join(", ", "{} <code>{}</code>", shown)


def _flat(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_flat(each) for each in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_flat(inner)}" for key, inner in value.items())
    return str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= LONG_TEXT else f"{text[: LONG_TEXT - 1]}…"


def _long(text: str) -> SafeString | str:
    if len(text) <= LONG_TEXT:
        return text
    return format_html('<span title="{}">{}…</span>', text[:2000], text[: LONG_TEXT - 1])
