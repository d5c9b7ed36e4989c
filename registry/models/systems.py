"""The platforms a company runs, what technology they are, and where their credentials can be found."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from aide.core.models import Editable, SoftDeletable
from registry.credentials import own_variable

ALIVE = Q(deleted_at__isnull=True)

code_validator = RegexValidator(
    r"^[a-z0-9._-]{1,64}\Z", "Use 1 to 64 of the characters a-z, 0-9, dot, underscore and hyphen."
)


class SystemKind(Editable, SoftDeletable):
    """One row is a category of platforms, such as RDBMS or MESSAGE_QUEUE."""

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["code"], condition=ALIVE, name="registry_systemkind_code_once")
        ]

    def __str__(self) -> str:
        return self.name


class SystemFlavor(Editable, SoftDeletable):
    """One row is a technology, such as PostgreSQL, with the dialects that reach it."""

    kind = models.ForeignKey(SystemKind, on_delete=models.PROTECT, related_name="flavors")
    code = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    vendor = models.CharField(max_length=200, blank=True)
    versions = models.JSONField(default=list, blank=True)
    sqlalchemy_dialects = models.JSONField(
        default=list, blank=True, help_text="Dialects whose connections this technology accepts."
    )

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["code"], condition=ALIVE, name="registry_systemflavor_code_once")
        ]

    def __str__(self) -> str:
        return self.name


class CredentialRef(Editable, SoftDeletable):
    """One row says where a password can be found. The password itself is never stored here."""

    class Provider(models.TextChoices):
        ENV = "env", "Environment variable"
        FILE = "file", "File"
        VAULT = "vault", "Vault"

    provider = models.CharField(max_length=64, choices=Provider.choices)
    path = models.CharField(
        max_length=500,
        help_text="A variable's name, a file in the credential folder, or a path in the vault.",
    )
    version = models.PositiveIntegerField(null=True, blank=True, help_text="Empty means the latest.")

    class Meta:
        ordering = ["provider", "path"]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "path"], condition=ALIVE, name="registry_credentialref_path_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider}: {self.path}"

    def clean(self) -> None:
        reason = own_variable(self.path) if self.provider == self.Provider.ENV else None
        if reason is not None:
            raise ValidationError({"path": ValidationError(reason, code="reserved")})


class System(Editable, SoftDeletable):
    """One row is a platform that holds datasets: a database, a broker, a bucket, a server."""

    code = models.CharField(max_length=64, validators=[code_validator])
    name = models.CharField(max_length=200)
    flavor = models.ForeignKey(SystemFlavor, on_delete=models.PROTECT, related_name="systems")
    connection_url = models.CharField(
        max_length=2000, blank=True, help_text="SQLAlchemy's form, without a password."
    )
    credential_ref = models.ForeignKey(
        CredentialRef, on_delete=models.PROTECT, null=True, blank=True, related_name="systems"
    )
    environment = models.CharField(max_length=64, blank=True)
    owner = models.CharField(max_length=255, blank=True)
    tags = models.JSONField(default=list, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    is_active = models.BooleanField(default=True)
    sample_values = models.BooleanField(
        default=False, help_text="Look at some values for signs of personal data. No value is ever kept."
    )
    stewards = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="systems", blank=True, help_text="Stewards who care for it."
    )

    class Meta:
        ordering = ["code"]
        constraints = [
            models.UniqueConstraint(fields=["code"], condition=ALIVE, name="registry_system_code_once")
        ]

    def __str__(self) -> str:
        return self.name


class SystemNamespace(models.Model):
    """One row is an OpenLineage authority (such as postgres://db1:5432) that a system answers to."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="namespace_rows")
    namespace = models.CharField(max_length=500, unique=True)

    class Meta:
        ordering = ["namespace"]

    def __str__(self) -> str:
        return self.namespace
