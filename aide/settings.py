"""All settings, in one file; values come from `AIDE_*` variables, and what is missing becomes a system check."""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONCE, NONE, SELF

from aide.core.api.choices import NAMES_OF_CHOICES
from aide.core.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = BASE_DIR / "var"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)

env = environ.Env()

# What is missing or unreadable: (check id, message, hint). `aide.checks` reports each as an error.
AIDE_SETTINGS_PROBLEMS: list[tuple[str, str, str]] = []


def _problem(number: str, message: str, hint: str) -> None:
    AIDE_SETTINGS_PROBLEMS.append((f"aide.{number}", message, hint))


def _text(name: str, default: str = "") -> str:
    return env.str(name, default=default).strip()


def _flag(name: str, *, default: bool) -> bool:
    text = _text(name, "1" if default else "0").lower()
    if text not in {"0", "1", "true", "false", "yes", "no", "on", "off", ""}:
        _problem("E010", f"{name} is neither 0 nor 1.", f"Set {name}=0 or {name}=1.")
    return text in {"1", "true", "yes", "on"}


def _number(name: str, default: int) -> int:
    text = _text(name, str(default))
    if not text.isdecimal():
        _problem("E011", f"{name} is not a whole number.", f"Set {name} to a number such as {default}.")
        return default
    return int(text)


def _names(name: str) -> list[str]:
    return [part.strip() for part in _text(name).split(",") if part.strip()]


DEBUG = _flag("AIDE_DEBUG", default=False)
HTTPS = _flag("AIDE_HTTPS", default=not DEBUG)

SECRET_KEY = _text("AIDE_SECRET_KEY")
if not SECRET_KEY:
    if DEBUG:
        SECRET_KEY = "development-only-secret-key-never-use-it-in-production-0123456789"  # noqa: S105
    else:
        _problem(
            "E001",
            "AIDE_SECRET_KEY is not set.",
            "Set it to at least 50 random characters and keep it the same in every process; "
            "AIDE_DEBUG=1 is for development only.",
        )
        SECRET_KEY = secrets.token_urlsafe(64)

ALLOWED_HOSTS = _names("AIDE_ALLOWED_HOSTS")
if not ALLOWED_HOSTS:
    if DEBUG:
        ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", ".localhost"]
    else:
        _problem(
            "E002",
            "AIDE_ALLOWED_HOSTS is not set.",
            "Set it to the names this server answers to, separated by commas: aide.example.com,127.0.0.1",
        )
CSRF_TRUSTED_ORIGINS = _names("AIDE_CSRF_TRUSTED_ORIGINS")

# --- Database ---------------------------------------------------------------------------------------------------


def _database() -> dict[str, Any]:
    url = _text("AIDE_DATABASE_URL") or "sqlite:///var/aide.sqlite3"
    try:
        known = url.startswith(("sqlite://", "postgresql://", "postgres://"))
        config: dict[str, Any] = environ.Env.db_url_config(url) if known else {}
    except (environ.ImproperlyConfigured, ValueError, KeyError, TypeError):
        config = {}
    engine = config.get("ENGINE", "")
    if engine == "django.db.backends.sqlite3":
        name = str(config.get("NAME") or "")
        if name != ":memory:" and not Path(name).is_absolute():
            config["NAME"] = str(BASE_DIR / name)
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    elif engine == "django.db.backends.postgresql":
        config["CONN_MAX_AGE"] = 60
        config["CONN_HEALTH_CHECKS"] = True
        options = {"application_name": "aide", "connect_timeout": 10}
        config["OPTIONS"] = {**options, **config.get("OPTIONS", {})}
    else:
        _problem(
            "E003",
            "AIDE_DATABASE_URL is not a database URL that AIDE knows.",
            "Use postgresql://user:password@host:5432/name, or sqlite:////absolute/path for one computer.",
        )
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Apps and the way of a request ------------------------------------------------------------------------------

INSTALLED_APPS = [
    "aide.core",
    "aide.work",
    "aide.audit",
    "aide.accounts",
    "registry",
    "lineage",
    "crawling",
    "aide.desk",
    "aide.admin_app.AideAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "aide.core.requests.RequestContextMiddleware",
    "aide.core.problems.ProblemMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "aide.ingress.IngressMiddleware",
    "aide.origin.OriginMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "aide.urls"
WSGI_APPLICATION = "aide.wsgi.application"
ASGI_APPLICATION = "aide.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- People -----------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "aide.accounts.backends.EmailBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.BCryptSHA256PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "full_name")},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
LOGOUT_REDIRECT_URL = "admin:login"

# The screens' log-in only; the API counts failed tries itself.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=1)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False
AXES_DISABLE_ACCESS_LOG = True
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_CALLABLE = "aide.desk.sign_in.locked_out"
AXES_SENSITIVE_PARAMETERS = ["password", "token", "secret"]

# --- Security ---------------------------------------------------------------------------------------------------

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 60 * 60
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if HTTPS:
    SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
if _flag("AIDE_BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# A redirect to https loses the body of a POST; the proxy that ends TLS answers plain http.
SILENCED_SYSTEM_CHECKS = ["security.W008"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- Bodies -----------------------------------------------------------------------------------------------------

AIDE_BODY_LIMIT = 5 * 1024 * 1024
AIDE_SNAPSHOT_LIMIT = 64 * 1024 * 1024
# `aide.ingress` bounds every body itself, by path; Django's own limit must not be lower than its highest.
DATA_UPLOAD_MAX_MEMORY_SIZE = AIDE_SNAPSHOT_LIMIT
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000

# --- Static files -----------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [path for path in (BASE_DIR / "static",) if path.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "aide.core.static.CollectedStaticFilesStorage"
    },
}
MEDIA_ROOT = VAR_DIR / "media"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- Words and times --------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
APPEND_SLASH = True

# --- The API ----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "aide.accounts.authentication.BearerAuthentication",
        "aide.accounts.authentication.ScreenSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["aide.core.api.permissions.HasCapability"],
    "DEFAULT_RENDERER_CLASSES": ["aide.core.api.wire.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["aide.core.api.wire.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "aide.core.api.pagination.PageOfItems",
    "DEFAULT_FILTER_BACKENDS": [
        "aide.core.api.filters.FieldFilters",
        "aide.core.api.filters.Sorting",
    ],
    "DEFAULT_SCHEMA_CLASS": "aide.core.api.schema.AideSchema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "aide.core.api.wire.Negotiation",
    "EXCEPTION_HANDLER": "aide.core.problems.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "COERCE_DECIMAL_TO_STRING": False,
    "NON_FIELD_ERRORS_KEY": "",
    "URL_FORMAT_OVERRIDE": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.MultiPartRenderer",
    ],
}
SIMPLE_JWT = {
    "ALGORITHM": "HS256",
    "SIGNING_KEY": SECRET_KEY,
    "ACCESS_TOKEN_LIFETIME": timedelta(minutes=30),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=14),
    "AUTH_HEADER_TYPES": ("Bearer",),
    "ISSUER": "aide",
}
AIDE_LOGIN_TRIES_A_MINUTE = 5
SPECTACULAR_SETTINGS = {
    "TITLE": "AIDE",
    "DESCRIPTION": "The home of a company's data contracts: what data there is, what happened to it, who agreed.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SCHEMA_PATH_PREFIX_TRIM": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "aide.core.api.schema.any_value_is_null_too",
    ],
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": True,
    "ENUM_NAME_OVERRIDES": NAMES_OF_CHOICES,
}

# --- Background work --------------------------------------------------------------------------------------------

AIDE_BROKER_URL = _text("AIDE_BROKER_URL")
CELERY_BROKER_URL = AIDE_BROKER_URL or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- Kafka ------------------------------------------------------------------------------------------------------

AIDE_KAFKA_SERVERS = _names("AIDE_KAFKA_SERVERS")
AIDE_KAFKA_METADATA_TOPIC = _text("AIDE_KAFKA_METADATA_TOPIC", "metadata-ingest")
AIDE_KAFKA_LINEAGE_TOPIC = _text("AIDE_KAFKA_LINEAGE_TOPIC", "lineage-event-out")
AIDE_KAFKA_CATALOG_TOPIC = _text("AIDE_KAFKA_CATALOG_TOPIC", "aide-catalog")
AIDE_KAFKA_CONSUME_METADATA = _names("AIDE_KAFKA_CONSUME_METADATA")
AIDE_KAFKA_CONSUME_LINEAGE = _names("AIDE_KAFKA_CONSUME_LINEAGE")
AIDE_KAFKA_SECURITY_PROTOCOL = _text("AIDE_KAFKA_SECURITY_PROTOCOL", "PLAINTEXT")
AIDE_KAFKA_SASL_MECHANISM = _text("AIDE_KAFKA_SASL_MECHANISM")
AIDE_KAFKA_SASL_USERNAME = _text("AIDE_KAFKA_SASL_USERNAME")
AIDE_KAFKA_SASL_PASSWORD = env.str("AIDE_KAFKA_SASL_PASSWORD", default="")
AIDE_KAFKA_SSL_CAFILE = _text("AIDE_KAFKA_SSL_CAFILE")
AIDE_KAFKA_SSL_CERTFILE = _text("AIDE_KAFKA_SSL_CERTFILE")
AIDE_KAFKA_SSL_KEYFILE = _text("AIDE_KAFKA_SSL_KEYFILE")
AIDE_KAFKA_SSL_PASSWORD = env.str("AIDE_KAFKA_SSL_PASSWORD", default="")

# --- Rules of the house -----------------------------------------------------------------------------------------

AIDE_FOUR_EYES = _text("AIDE_FOUR_EYES") or "breaking"
if AIDE_FOUR_EYES not in {"off", "breaking", "all"}:
    _problem("E004", "AIDE_FOUR_EYES is unknown.", "Set it to off, breaking or all.")
    AIDE_FOUR_EYES = "breaking"
AIDE_EVENT_RETENTION_DAYS = _number("AIDE_EVENT_RETENTION_DAYS", 0)
AIDE_CREDENTIAL_DIR = _text("AIDE_CREDENTIAL_DIR")
if AIDE_CREDENTIAL_DIR and not Path(AIDE_CREDENTIAL_DIR).is_absolute():
    _problem(
        "E005", "AIDE_CREDENTIAL_DIR is not an absolute path.", "Set it to a folder such as /run/secrets."
    )
AIDE_VAULT_URL = _text("AIDE_VAULT_URL")
AIDE_VAULT_TOKEN = env.str("AIDE_VAULT_TOKEN", default="")
AIDE_VAULT_ROLE_ID = _text("AIDE_VAULT_ROLE_ID")
AIDE_VAULT_SECRET_ID = env.str("AIDE_VAULT_SECRET_ID", default="")
AIDE_VAULT_NAMESPACE = _text("AIDE_VAULT_NAMESPACE")
AIDE_VAULT_CAFILE = _text("AIDE_VAULT_CAFILE")
if AIDE_VAULT_URL and not AIDE_VAULT_URL.startswith(("https://", "http://")):
    _problem("E006", "AIDE_VAULT_URL is no address.", "Set it to one such as https://vault.example.com:8200.")
AIDE_ADMIN_EMAIL = _text("AIDE_ADMIN_EMAIL")
AIDE_ADMIN_PASSWORD = env.str("AIDE_ADMIN_PASSWORD", default="")

LOGGING_CONFIG = None
logging_config(debug=DEBUG)
