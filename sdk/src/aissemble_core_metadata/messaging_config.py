"""Where Kafka is: environment variables of AIDE, else Krausening's `messaging.properties`, else the defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEFAULT_SERVER = "kafka-cluster:9093"
DEFAULT_TOPIC = "metadata-ingest"
_FOLDERS = ("KRAUSENING_BASE", "KRAUSENING_EXTENSIONS", "KRAUSENING_OVERRIDE_EXTENSIONS")
_FILE = "messaging.properties"
_OPTIONS = {
    "AIDE_KAFKA_SECURITY_PROTOCOL": "security_protocol",
    "AIDE_KAFKA_SASL_MECHANISM": "sasl_mechanism",
    "AIDE_KAFKA_SASL_USERNAME": "sasl_plain_username",
    "AIDE_KAFKA_SASL_PASSWORD": "sasl_plain_password",
    "AIDE_KAFKA_SSL_CAFILE": "ssl_cafile",
    "AIDE_KAFKA_SSL_CERTFILE": "ssl_certfile",
    "AIDE_KAFKA_SSL_KEYFILE": "ssl_keyfile",
    "AIDE_KAFKA_SSL_PASSWORD": "ssl_password",
}


class MessagingConfig:
    """The messaging settings at the time of asking.

    | setting | variable | key of `messaging.properties` | default |
    |---|---|---|---|
    | server | `AIDE_KAFKA_SERVERS` | `server` | `kafka-cluster:9093` |
    | topic | `AIDE_KAFKA_METADATA_TOPIC` | `metadata_topic` | `metadata-ingest` |

    The file is looked for in the folders of `KRAUSENING_BASE`, `KRAUSENING_EXTENSIONS` and
    `KRAUSENING_OVERRIDE_EXTENSIONS`; a later folder's value wins. Encrypted values (`ENC(…)`) are refused.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    def server(self) -> str:
        """The bootstrap servers, divided by commas."""
        return self._environ.get("AIDE_KAFKA_SERVERS") or self._property("server") or DEFAULT_SERVER

    def servers(self) -> list[str]:
        """The same as a list."""
        return [part.strip() for part in self.server().split(",") if part.strip()]

    def metadata_topic(self) -> str:
        """Where metadata goes."""
        chosen = self._environ.get("AIDE_KAFKA_METADATA_TOPIC") or self._property("metadata_topic")
        return chosen or DEFAULT_TOPIC

    def options(self) -> dict[str, Any]:
        """kafka-python's settings for security, from `AIDE_KAFKA_SECURITY_PROTOCOL`, `_SASL_…`, `_SSL_…`."""
        found = {option: self._environ.get(name, "") for name, option in _OPTIONS.items()}
        return {option: value for option, value in found.items() if value}

    def _property(self, name: str) -> str:
        found = ""
        for variable in _FOLDERS:
            folder = self._environ.get(variable)
            path = Path(folder) / _FILE if folder else None
            if path is not None and path.is_file():
                found = read_properties(_text_of(path)).get(name, found)
        if found.startswith("ENC("):
            raise ValueError(f"The {name} of {_FILE} is encrypted; set the AIDE_KAFKA_… variable instead.")
        return found.strip()


def _text_of(path: Path) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def read_properties(text: str) -> dict[str, str]:
    """A Java properties file: `key=value`, `key: value` or `key value`, comments, continued lines, escapes."""
    found: dict[str, str] = {}
    lines = iter(re.split(r"\r\n|\n|\r", text))
    for line in lines:
        whole = line.lstrip(" \t\f")
        if whole.startswith(("#", "!")):
            continue
        while _is_continued(whole):
            whole = whole[:-1] + next(lines, "").lstrip(" \t\f")
        match = re.match(r"((?:\\.|[^\\=: \t\f])+)[ \t\f]*[=:]?[ \t\f]*(.*)\Z", whole, re.DOTALL)
        if match is not None:
            found[_unescaped(match[1])] = _unescaped(match[2])
    return found


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    plain = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

    def meant(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return plain.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", meant, text)
