"""What can go wrong with a crawl, as one plain sentence that never holds a secret."""

from __future__ import annotations


class CrawlError(Exception):
    """A crawl that could not be done or finished.

    `code` is one of bad_url, missing_driver, unknown_host, refused, timeout, auth_failed,
    no_such_database, tls_failed, open_failed, denied, cancelled, connection_lost, failed.
    """

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[CrawlError], tuple[str, str]]:
        return type(self), (self.code, self.sentence)


class ScopeInvalid(ValueError):  # noqa: N818 - reads like the errors of forms
    """A name pattern of a scope that cannot be read; str() is a plain sentence."""


class SnapshotInvalid(ValueError):  # noqa: N818 - reads like the errors of forms
    """A snapshot document that has not the right shape: where, and what is wrong there."""

    def __init__(self, path: str, sentence: str) -> None:
        super().__init__(f"{path}: {sentence}" if path else sentence)
        self.path = path
        self.sentence = sentence


class MetastoreError(Exception):
    """The AIDE server refused or could not be reached; str() is one plain sentence without a secret."""
