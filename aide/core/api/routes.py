"""The router of every app's API: paths without a closing slash, which the ingress drops."""

from __future__ import annotations

from rest_framework.routers import SimpleRouter


class Router(SimpleRouter):
    """`Router()` makes `/things` and `/things/{id}`; details may hold any character but a slash."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False)
