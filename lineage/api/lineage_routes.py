"""Routes of OpenLineage, of the graph, and of Marquez's reading API."""

from __future__ import annotations

from django.urls import path

from lineage.api.door import door
from lineage.api.lineage import GraphView, LineageBatchView, LineageView, receive_many, receive_one
from lineage.api.lineage_lists import (
    EdgesView,
    EdgeView,
    JobViewSet,
    LineageEventViewSet,
    NameViewSet,
    RunViewSet,
)
from lineage.api.marquez_graph import ColumnLineageView
from lineage.api.marquez_lists import (
    JobsView,
    LineageEventsView,
    NamespacesView,
    NamespaceView,
    SearchView,
    TagsView,
)

urlpatterns = [
    path("lineage", door(LineageView.as_view(), receive_one), name="lineage"),
    path("lineage/batch", door(LineageBatchView.as_view(), receive_many), name="lineage-batch"),
    path("lineage/graph", GraphView.as_view(), name="lineage-graph"),
    path("lineage/events", LineageEventViewSet.as_view({"get": "list"}), name="lineage-events"),
    path("lineage/runs", RunViewSet.as_view({"get": "list"}), name="lineage-runs"),
    path("lineage/jobs", JobViewSet.as_view({"get": "list"}), name="lineage-jobs"),
    path("lineage/names", NameViewSet.as_view({"get": "list"}), name="lineage-names"),
    path("lineage/names/<str:pk>", NameViewSet.as_view({"get": "retrieve"}), name="lineage-name"),
    path("lineage/names/<str:pk>/bind", NameViewSet.as_view({"post": "bind"}), name="lineage-name-bind"),
    path(
        "lineage/names/<str:pk>/unbind", NameViewSet.as_view({"post": "unbind"}), name="lineage-name-unbind"
    ),
    path("lineage/edges", EdgesView.as_view(), name="lineage-edges"),
    path("lineage/edges/<int:pk>", EdgeView.as_view(), name="lineage-edge"),
    path("column-lineage", ColumnLineageView.as_view(), name="marquez-column-lineage"),
    path("namespaces", NamespacesView.as_view(), name="marquez-namespaces"),
    path("namespaces/<path:pk>", NamespaceView.as_view(), name="marquez-namespace"),
    path("jobs", JobsView.as_view(), name="marquez-jobs"),
    path("search", SearchView.as_view(), name="marquez-search"),
    path("events/lineage", LineageEventsView.as_view(), name="marquez-events"),
    path("tags", TagsView.as_view(), name="marquez-tags"),
]
