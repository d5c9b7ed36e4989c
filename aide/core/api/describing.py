"""The OpenAPI document, JSON unless YAML is asked for, and the page that shows it."""

from __future__ import annotations

from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from aide.core.api.wire import JSONRenderer


class YamlRenderer(OpenApiYamlRenderer):
    media_type = "application/yaml"


class SchemaView(SpectacularAPIView):
    """`/api/v1/schema`."""

    renderer_classes = [JSONRenderer, YamlRenderer, OpenApiYamlRenderer]


class DocsView(SpectacularSwaggerSplitView):
    """`/api/v1/docs`; its scripts and styles are our own files, so the strictest policy holds."""

    template_name = "api/docs.html"
    url_name = "api-schema"
