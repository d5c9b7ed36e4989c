"""The page people see when something is not there; with AIDE_DEBUG=1 too, since the demo runs so."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    context = {name: getattr(exception, name, "") for name in ("sentence", "url", "words")}
    return render(request, "404.html", context, status=404)
