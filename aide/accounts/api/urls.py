"""Routes of log-in, users and API keys."""

from django.urls import path

from aide.accounts.api.login import LoginView, LogoutAllView, LogoutView, RefreshView, TokenView
from aide.accounts.api.views import ApiKeyViewSet, UserViewSet
from aide.core.api.routes import Router

router = Router()
router.register("users", UserViewSet)
router.register("api-keys", ApiKeyViewSet)

urlpatterns = [
    path("login", LoginView.as_view()),
    path("login/refresh", RefreshView.as_view()),
    path("login/logout", LogoutView.as_view()),
    path("login/logout-all", LogoutAllView.as_view()),
    path("login/token", TokenView.as_view()),
    *router.urls,
]
