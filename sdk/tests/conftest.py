"""Fixtures of the SDK's own tests."""

from __future__ import annotations

import pytest

from tests.processes import free_port


@pytest.fixture
def unused_address() -> str:
    """A host and port where nobody listens."""
    return f"127.0.0.1:{free_port()}"
