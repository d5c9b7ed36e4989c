"""How the project logs: structlog, JSON in production and readable lines in development, without secrets."""

from __future__ import annotations

import logging
import logging.config
import re
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

_HIDDEN = "[hidden]"
_SECRET_KEY = re.compile(
    r"(?i)(passw|secret|token|authorization|cookie|api_?key|credential|connection_url|dsn)"
)
_NO_SECRET = frozenset({"credential_ref", "credential_ref_id", "token_type"})
_URL_PASSWORD = re.compile(r"(?i)\b([a-z][a-z0-9+.\-]*://)([^/\s@]*):([^/\s]*)@")
_QUERY_SECRET = re.compile(r"(?i)\b(passw[a-z]*|pwd|secret|token|api_?key|sslpassword)=([^&\s'\"]+)")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=\-]{8,}")
_OWN_KEY = re.compile(r"\baide_[A-Za-z0-9_\-]{12,}")


def mask(text: str) -> str:
    """The text without passwords in URLs, tokens in headers, and our own API keys."""
    text = _URL_PASSWORD.sub(rf"\1\2:{_HIDDEN}@", text)
    text = _QUERY_SECRET.sub(rf"\1={_HIDDEN}", text)
    text = _BEARER.sub(rf"\1 {_HIDDEN}", text)
    return _OWN_KEY.sub(f"aide_{_HIDDEN}", text)


def hide_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The structlog processor: values of secret-sounding keys go, text is masked."""
    return {key: _clean(key, value, depth=0) for key, value in event.items()}


def _clean(key: Any, value: Any, *, depth: int) -> Any:
    if isinstance(key, str) and key not in _NO_SECRET and _SECRET_KEY.search(key) and value:
        return _HIDDEN
    if isinstance(value, str):
        return mask(value)
    if depth < 5 and isinstance(value, dict):
        return {k: _clean(k, v, depth=depth + 1) for k, v in value.items()}
    if depth < 5 and isinstance(value, list | tuple):
        return [_clean(None, v, depth=depth + 1) for v in value]
    return value


def logging_config(*, debug: bool) -> None:
    """Configures structlog and the standard library's logging to one stream on stderr."""
    # A line that cannot be written would print the exception that is being handled, whose text may hold a secret.
    logging.raiseExceptions = False
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.PositionalArgumentsFormatter(),
    ]
    tail: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if debug:
        # Local variables in tracebacks could show a secret: plain tracebacks only.
        plain = structlog.dev.plain_traceback
        tail += [structlog.processors.format_exc_info, hide_secrets]
        tail += [structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    else:
        tail += [
            structlog.processors.format_exc_info,
            hide_secrets,
            structlog.processors.JSONRenderer(default=str),
        ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": shared,
                    "processors": tail,
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
            "root": {"handlers": ["stderr"], "level": "INFO"},
            "loggers": {
                "django": {"level": "INFO"},
                "django.server": {"level": "WARNING"},
                # Every 4xx is in our own request line; an unhandled exception comes with its traceback.
                "django.request": {"level": "ERROR"},
                "django.security": {"level": "WARNING"},
                "django.security.DisallowedHost": {"level": "CRITICAL"},
                "axes": {"level": "WARNING"},
                "kafka": {"level": "WARNING"},
            },
        }
    )
