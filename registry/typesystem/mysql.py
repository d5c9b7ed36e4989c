"""Reads the spellings of MySQL and MariaDB (DDL and COLUMN_TYPE) and knows which parameters mean the same. Pure."""

from __future__ import annotations

import re
from typing import Any

from registry.typesystem.lexing import Shape, Token, shape, tokens, whole
from registry.typesystem.model import Catalogue, TypeDef
from registry.typesystem.reading import Found, Reading, as_text, positional, text_list, without

INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
TEXT_BYTES = {"tinytext": 255, "text": 65_535, "mediumtext": 16_777_215, "longtext": 4_294_967_295}
BLOB_BYTES = {"tinyblob": 255, "blob": 65_535, "mediumblob": 16_777_215, "longblob": 4_294_967_295}
CHARSET_BYTES = {"utf8mb4": 4, "utf8mb3": 3, "utf16": 4, "utf16le": 4, "utf32": 4, "ucs2": 2, "big5": 2, "gbk": 2,
                 "gb2312": 2, "gb18030": 4, "sjis": 2, "cp932": 2, "euckr": 2, "ujis": 3, "eucjpms": 3}  # fmt: skip
_USUAL_CHARSET = "utf8mb4"
_NAMED = (
    "latin1_swedish_ci latin2_general_ci latin5_turkish_ci dec8_swedish_ci swe7_swedish_ci tis620_thai_ci "
    "hp8_english_ci big5_chinese_ci gbk_chinese_ci gb2312_chinese_ci gb18030_chinese_ci sjis_japanese_ci "
    "cp932_japanese_ci ujis_japanese_ci eucjpms_japanese_ci euckr_korean_ci binary"
)
_USUAL_COLLATIONS = {each.partition("_")[0]: each for each in _NAMED.split()}
_NATIONAL = ("national ", "nchar", "nvarchar")
_ATTRIBUTE_WORDS = ("compressed", "signed")
_CHARSET_WORDS = {"ascii": "latin1", "unicode": "ucs2", "byte": "binary"}
_OF_BYTES = {"char": "binary", "varchar": "varbinary", "tinytext": "tinyblob", "text": "blob",
             "mediumtext": "mediumblob", "longtext": "longblob"}  # fmt: skip


def read(reading: Reading) -> Found | None:
    pieces = tokens(reading.text, backslash=True)
    cut = shape(pieces) if pieces else None
    if cut is None:
        return None
    told = reading.parameters
    name, params = _attributes((*cut.name, *cut.tail), cut)
    if told.get("json_alias"):
        return Found("json")
    if name.startswith(_NATIONAL):
        params.setdefault("charset", "utf8mb3")
    if params.pop("binary", False):
        params.setdefault("collation", f"{_modern(params.get('charset') or _USUAL_CHARSET)}_bin")
    if name == "serial":
        return Found("bigint", {"unsigned": True})
    if name == "float" and cut.numbers and len(cut.numbers) == 1:
        if not 0 <= cut.numbers[0] <= 53:
            return None
        return Found("float" if cut.numbers[0] <= 24 else "double", params)
    typedef = reading.catalogue.find(name)
    if typedef is None:
        return None
    arguments = _arguments(typedef, cut, reading)
    if arguments is None:
        return None
    params.update(arguments)
    for each in ("charset", "collation"):
        if as_text(told.get(each)) and each in typedef.takes:
            params[each] = told[each]
    return Found(typedef.code, params)


def normal(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return _normal(code, params, unicode_collation="utf8mb4_0900_ai_ci")


def normal_mariadb(catalogue: Catalogue, code: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return _normal(code, params, unicode_collation="utf8mb4_general_ci")


def charset_of(params: Any) -> str:
    """The character set of a type in normal form."""
    if params.get("charset"):
        return str(params["charset"])
    named = str(params.get("collation") or "").partition("_")[0]
    return named if named and named != "uca1400" else _USUAL_CHARSET


def _normal(code: str, params: dict[str, Any], *, unicode_collation: str) -> tuple[str, dict[str, Any]]:
    if code == "boolean":
        return "tinyint", {}
    if code in _OF_BYTES and params.get("charset") == "binary":
        return _OF_BYTES[code], without(params, charset="binary", collation="binary")
    params.pop("display_width", None)
    if params.get("zerofill"):
        params["unsigned"] = True
    params = _plain_charset(without(params, unsigned=False, zerofill=False, fsp=0), unicode_collation)
    if code == "decimal":
        params = {"precision": 10, **params}
        params.setdefault("scale", 0)
    elif code in ("char", "binary", "bit"):
        params.setdefault("length", 1)
    elif code in ("text", "blob") and "length" in params:
        length = params.pop("length")
        sizes, width = (
            (BLOB_BYTES, 1) if code == "blob" else (TEXT_BYTES, CHARSET_BYTES.get(charset_of(params), 1))
        )
        if length:
            code = next((each for each, most in sizes.items() if length * width <= most), "long" + code)
    return code, params


def _plain_charset(params: dict[str, Any], unicode_collation: str) -> dict[str, Any]:
    """Without the usual character set and without the default collation of the character set."""
    charset = _modern(as_text(params.pop("charset", "")).lower())
    collation = _modern(as_text(params.pop("collation", "")).lower())
    if not charset and collation:
        charset = charset_of({"collation": collation})
    usual = {"utf8mb4": unicode_collation, "utf8mb3": "utf8mb3_general_ci"}
    default = (
        usual.get(charset or _USUAL_CHARSET) or _USUAL_COLLATIONS.get(charset) or f"{charset}_general_ci"
    )
    if charset and charset != _USUAL_CHARSET:
        params["charset"] = charset
    if collation and collation != default:
        params["collation"] = collation
    return params


def _modern(name: str) -> str:
    return re.sub(r"^utf8(?=_|$)", "utf8mb3", name)


def _attributes(words: tuple[Token, ...], cut: Shape) -> tuple[str, dict[str, Any]]:
    """The type's own name, and what the words around it say."""
    name: list[str] = []
    params: dict[str, Any] = {}
    rest = [token.text.lower() for token in words if token.raw not in ("=",)]
    n = 0
    while n < len(rest):
        word, after = rest[n], rest[n + 1 : n + 3]
        if not name:
            name.append(word)
        elif word in ("unsigned", "zerofill", "binary"):
            params[word] = True
        elif word in _CHARSET_WORDS:
            params["charset"] = _CHARSET_WORDS[word]
        elif word == "character" and after[:1] == ["set"] and len(after) == 2:
            params["charset"], n = after[1], n + 2
        elif word in ("charset", "collate") and after:
            params["charset" if word == "charset" else "collation"], n = after[0], n + 1
        elif word in ("srid", "ref_system_id") and after and (srid := whole(after[0])) is not None:
            params["srid"], n = srid, n + 1
        elif word not in _ATTRIBUTE_WORDS:
            name.append(word)
        n += 1
    return " ".join(name), params


def _arguments(typedef: TypeDef, cut: Shape, reading: Reading) -> dict[str, Any] | None:
    """The bracketed arguments under their names; None when they do not suit the type."""
    if "values" in typedef.takes:
        told = text_list(reading.parameters.get("values"))
        if told is not None:
            return {"values": told}
        if not cut.arguments or any(len(each) != 1 or not _is_text(*each) for each in cut.arguments):
            return None
        # Blanks at a value's end are cut off by the server.
        return {"values": [argument[0].text.rstrip(" ") for argument in cut.arguments]}
    numbers = cut.numbers
    if numbers is None:
        return None
    if not numbers or typedef.code == "year":
        return {}
    if typedef.code in ("float", "double"):
        return dict(zip(("precision", "scale"), numbers, strict=True)) if len(numbers) == 2 else None
    names = [each for each in positional(typedef) if each != "srid"]
    return dict(zip(names, numbers, strict=False)) if len(numbers) <= len(names) else None


def _is_text(token: Token) -> bool:
    return token.kind == "string" or (token.kind == "quoted" and token.raw.startswith('"'))
