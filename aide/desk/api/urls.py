"""Routes of the desk's API."""

from django.urls import path

from aide.desk.api.datasets import DatasetQuestions

urlpatterns = [
    path("datasets/<str:pk>/diff", DatasetQuestions.as_view({"get": "diff"}), name="dataset-diff"),
    path("datasets/<str:pk>/check", DatasetQuestions.as_view({"post": "check"}), name="dataset-check"),
]
