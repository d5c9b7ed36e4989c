"""Which environment variables are AIDE's own, so that no credential reference may send them to a source."""

from __future__ import annotations

_OWN = frozenset(
    {
        "AIDE_ADMIN_EMAIL",
        "AIDE_ADMIN_PASSWORD",
        "AIDE_ALLOWED_HOSTS",
        "AIDE_BEHIND_PROXY",
        "AIDE_BROKER_URL",
        "AIDE_CREDENTIAL_DIR",
        "AIDE_CSRF_TRUSTED_ORIGINS",
        "AIDE_DATABASE_URL",
        "AIDE_DEBUG",
        "AIDE_EVENT_RETENTION_DAYS",
        "AIDE_FOUR_EYES",
        "AIDE_HTTPS",
        "AIDE_SECRET_KEY",
    }
)
_OWN_BEGINNINGS = ("AIDE_KAFKA_", "AIDE_VAULT_", "DJANGO_")


def own_variable(name: str) -> str | None:
    """Why the variable cannot hold a source's password, in a sentence; None where it can."""
    folded = name.strip().upper()
    if folded in _OWN or folded.startswith(_OWN_BEGINNINGS):
        return (
            f"The variable {name.strip()} is a setting of AIDE itself; keep the password in another variable."
        )
    return None
