"""The OpenAPI document, JSON unless YAML is asked for, and the page that shows it."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from aide.core.api.wire import JSONRenderer


class YamlRenderer(OpenApiYamlRenderer):
    media_type = "application/yaml"


class OneGenerator(SchemaGenerator):
    """The document is the same for everyone, so each process writes it once."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        return _document() if public else super().get_schema(request=request, public=public)


@cache
def _document() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)


class SchemaView(SpectacularAPIView):
    """`/api/v1/schema`."""

    generator_class = OneGenerator
    renderer_classes = [JSONRenderer, YamlRenderer, OpenApiYamlRenderer]


class DocsView(SpectacularSwaggerSplitView):
    """`/api/v1/docs`; its scripts and styles are our own files, so the strictest policy holds."""

    template_name = "api/docs.html"
    url_name = "api-schema"
