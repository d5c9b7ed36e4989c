"""Routes of the registry's API."""

from django.urls import path

from aide.core.api.routes import Router
from registry.api.casts import CastPlanView, CastRuleViewSet, CastsView
from registry.api.classifying import ClassifyView
from registry.api.datasets import DatasetViewSet
from registry.api.fields import FieldViewSet
from registry.api.pii import FieldTagViewSet, PIITagViewSet
from registry.api.schemas import DatasetSchemaViewSet, FieldBindingViewSet
from registry.api.stateless import CompatibilityView, ParseTypeView
from registry.api.systems import (
    CredentialRefViewSet,
    SystemFlavorViewSet,
    SystemKindViewSet,
    SystemViewSet,
)
from registry.api.types import DataTypeViewSet, TypeInstanceViewSet

router = Router()
router.register("system-kinds", SystemKindViewSet)
router.register("system-flavors", SystemFlavorViewSet)
router.register("data-types", DataTypeViewSet)
router.register("cast-rules", CastRuleViewSet)
router.register("credential-refs", CredentialRefViewSet)
router.register("systems", SystemViewSet)
router.register("datasets", DatasetViewSet)
router.register("fields", FieldViewSet)
router.register("dataset-schemas", DatasetSchemaViewSet)
router.register("field-bindings", FieldBindingViewSet)
router.register("type-instances", TypeInstanceViewSet)
router.register("pii-tags", PIITagViewSet)
router.register("field-tags", FieldTagViewSet)

urlpatterns = [
    path("casts", CastsView.as_view()),
    path("datasets/<str:dataset_id>/cast-plan", CastPlanView.as_view()),
    path("types/parse", ParseTypeView.as_view()),
    path("pii/classify", ClassifyView.as_view()),
    path("compatibility", CompatibilityView.as_view()),
    *router.urls,
]
