"""The middleware that reads bodies before any view: bounded, whole, decoded; it also drops a closing slash."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from io import BytesIO

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import RawPostDataException, UnreadablePostError
from gunicorn.http.errors import ParseException

from aide.core.problems import is_api, problem_response

_SNAPSHOT_PATH = re.compile(r"^/api/v1/crawl-runs/?\Z")
_CHUNK = 64 * 1024
_MOST_MEMBERS = 100
_NOT_ZERO = re.compile(rb"[^\x00]")


class BodyRefusedError(Exception):
    """The body cannot be taken; `status` is 400, 413 or 415."""

    def __init__(self, status: int, detail: str) -> None:
        self.status = status
        self.detail = detail
        super().__init__(detail)


class IngressMiddleware:
    """Under /api/v1: one closing slash is dropped, and gzip and chunked bodies become plain ones within bounds."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request.path):
            return self.get_response(request)
        snapshot = bool(_SNAPSHOT_PATH.match(request.path))
        _drop_closing_slash(request)
        limit = settings.AIDE_SNAPSHOT_LIMIT if snapshot else settings.AIDE_BODY_LIMIT
        try:
            _take_body(request, limit)
        except BodyRefusedError as refusal:
            response = problem_response(refusal.status, detail=refusal.detail)
            # What was not read must not be taken for the next request on this connection.
            response["Connection"] = "close"
            return response
        return self.get_response(request)


def _drop_closing_slash(request: HttpRequest) -> None:
    if request.path_info.endswith("/") and not request.path_info.endswith("//"):
        request.path_info = request.path_info[:-1]
        request.path = request.path[:-1]


def _take_body(request: HttpRequest, limit: int) -> None:
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    chunked = "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()
    if encoding not in {"", "identity", "gzip", "x-gzip"}:
        raise BodyRefusedError(415, f"Bodies may be sent plain or as gzip, not as {encoding[:40]!r}.")
    length = _declared_length(request)
    if length is None and not chunked:
        return
    if length is not None and length > limit:
        raise BodyRefusedError(413, _too_large(limit))
    if not chunked and not encoding.endswith("gzip"):
        return
    raw = _read(request, None if chunked else length, limit)
    body = _unzip(raw, limit) if encoding.endswith("gzip") else raw
    _replace_body(request, body)


def _declared_length(request: HttpRequest) -> int | None:
    text = request.META.get("CONTENT_LENGTH")
    if text in (None, ""):
        return None
    if not str(text).isascii() or not str(text).isdecimal():
        raise BodyRefusedError(400, "Content-Length is not a number.")
    return int(text)


def _read(request: HttpRequest, length: int | None, limit: int) -> bytes:
    """The raw body, at most `limit` bytes; a body without a length is read to its end where the server ends it."""
    environ = getattr(request, "environ", None)
    if environ is None or length is not None or not environ.get("wsgi.input_terminated"):
        try:
            body = request.body
        except (RawPostDataException, UnreadablePostError) as error:
            raise BodyRefusedError(400, "The body ended before it was complete.") from error
        if len(body) > limit:
            raise BodyRefusedError(413, _too_large(limit))
        return body
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := environ["wsgi.input"].read(_CHUNK):
            size += len(chunk)
            if size > limit:
                raise BodyRefusedError(413, _too_large(limit))
            parts.append(chunk)
    except ParseException as error:
        raise BodyRefusedError(400, "The body is not chunked as its header says.") from error
    except (OSError, ValueError) as error:
        raise BodyRefusedError(400, "The body ended before it was complete.") from error
    return b"".join(parts)


def _unzip(raw: bytes, limit: int) -> bytes:
    """One or more gzip members, decoded to at most `limit` bytes; the work grows only with the size of both."""
    if not raw:
        raise BodyRefusedError(400, "The gzip body is empty.")
    parts: list[bytes] = []
    size = members = start = 0
    while start < len(raw):
        members += 1
        if members > _MOST_MEMBERS:
            raise BodyRefusedError(400, f"The gzip body has more than {_MOST_MEMBERS} members.")
        start, decoded = _unzip_member(raw, start, limit - size)
        if decoded is None:
            raise BodyRefusedError(413, _too_large(limit))
        size += len(decoded)
        parts.append(decoded)
        start = _after_padding(raw, start)
    return b"".join(parts)


def _unzip_member(raw: bytes, start: int, room: int) -> tuple[int, bytes | None]:
    """Where the member that begins at `start` ends, and its content; None where that is more than `room` bytes.

    It is fed in chunks, as a decoder copies whatever it was given beyond the end of its member.
    """
    decoder = zlib.decompressobj(16 + zlib.MAX_WBITS)
    view = memoryview(raw)
    parts: list[bytes] = []
    while not decoder.eof:
        chunk = view[start : start + _CHUNK]
        if not chunk:
            raise BodyRefusedError(400, "The gzip body ended before it was complete.")
        try:
            part = decoder.decompress(chunk, room + 1)
        except zlib.error as error:
            raise BodyRefusedError(400, "The body is not valid gzip.") from error
        room -= len(part)
        if room < 0:
            return start, None
        parts.append(part)
        start += len(chunk) - len(decoder.unused_data)
    return start, b"".join(parts)


def _after_padding(raw: bytes, start: int) -> int:
    """The place of the first byte from `start` on that is not zero: members may be padded."""
    found = _NOT_ZERO.search(raw, start)
    return found.start() if found else len(raw)


def _replace_body(request: HttpRequest, body: bytes) -> None:
    stream = BytesIO(body)
    request._body = body
    request._stream = stream
    request._read_started = False  # type: ignore[attr-defined]
    request.META["CONTENT_LENGTH"] = str(len(body))
    request.META.pop("HTTP_CONTENT_ENCODING", None)
    request.META.pop("HTTP_TRANSFER_ENCODING", None)
    if "environ" in request.__dict__:
        request.environ["wsgi.input"] = stream  # type: ignore[attr-defined]


def _too_large(limit: int) -> str:
    return f"The body is larger than {limit // (1024 * 1024)} MiB."
