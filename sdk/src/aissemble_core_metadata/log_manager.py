"""Loggers of the metadata services. Where a program sets up no logging, they write to stderr."""

from __future__ import annotations

import logging
from typing import ClassVar


class _OnlyWithoutOthers(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stderr unless the program has handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            super().emit(record)


class LogManager:
    """Hands out loggers: `LogManager.get_instance().get_logger("MyPipeline")`."""

    _instance: ClassVar[LogManager | None] = None

    def __init__(self) -> None:
        self._root = logging.getLogger("aissemble")
        if not any(isinstance(each, _OnlyWithoutOthers) for each in self._root.handlers):
            handler = _OnlyWithoutOthers()
            handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
            self._root.addHandler(handler)
        if self._root.level == logging.NOTSET:
            self._root.setLevel(logging.INFO)

    @classmethod
    def get_instance(cls) -> LogManager:
        if cls._instance is None:
            cls._instance = cls()
        return cls._instance

    def get_logger(self, name: str) -> logging.Logger:
        return self._root.getChild(name)
