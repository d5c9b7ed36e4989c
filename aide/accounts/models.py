"""People and programs: users, their API keys, and what log-in remembers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from aide.accounts import roles
from aide.core.models import Editable, Timestamped

# A mail address as people in a company have it: a domain without a dot (user@localhost) is fine.
check_email = RegexValidator(
    r"^[^\s@\x00-\x1f\x7f,;:<>()\[\]\\\"]{1,64}@[^\s@\x00-\x1f\x7f,;:<>()\[\]\\\"]{1,189}\Z",
    message="This is not an e-mail address.",
    code="invalid",
)


class UserManager(BaseUserManager["User"]):
    """Finds users by e-mail without regard to case."""

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username or "")

    def create_user(self, email: str, password: str | None = None, **values: Any) -> User:
        user = self.model(email=email.strip(), **values)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **values: Any) -> User:
        """Django's own command; the flag decides nothing here, so the user joins the group `admin`."""
        user = self.create_user(email, password, is_superuser=True, **values)
        user.groups.add(Group.objects.get_or_create(name=roles.ADMIN)[0])
        return user


class User(AbstractBaseUser, Editable):
    """One person, or one program (`user_type` technical), that may log in."""

    class Type(models.TextChoices):
        REGULAR = "regular", "Person"
        TECHNICAL = "technical", "Program"

    email = models.CharField("e-mail", max_length=254, unique=True, validators=[check_email])
    full_name = models.CharField(max_length=200, blank=True, default="")
    user_type = models.CharField(max_length=16, choices=Type.choices, default=Type.REGULAR)
    is_active = models.BooleanField(default=True)
    # Some packages ask for it; no right follows from it.
    is_superuser = models.BooleanField(default=False, editable=False)
    groups = models.ManyToManyField(Group, blank=True, related_name="users", related_query_name="user")
    # Access tokens issued before this moment are refused ("log out everywhere").
    tokens_valid_from = models.DateTimeField(null=True, blank=True, editable=False)

    objects = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = []

    # The API key that authenticated this request, set by the authentication class.
    acting_key: ApiKey | None = None

    class Meta:
        ordering = ("email",)
        constraints = [models.UniqueConstraint(Lower("email"), name="accounts_user_email_any_case")]

    def __str__(self) -> str:
        return self.full_name or self.email

    def clean(self) -> None:
        super().clean()
        self.email = self.email.strip()

    def get_full_name(self) -> str:
        return self.full_name or self.email

    def get_short_name(self) -> str:
        return self.full_name.split(" ")[0] or self.email

    @cached_property
    def role_names(self) -> frozenset[str]:
        return frozenset(group.name for group in self.groups.all()) & frozenset(roles.GROUPS)

    @cached_property
    def steward_system_ids(self) -> frozenset[int]:
        systems = getattr(self, "systems", None)
        return frozenset() if systems is None else frozenset(systems.values_list("pk", flat=True))

    def know(self, *, groups: Iterable[str], system_ids: Iterable[int]) -> None:
        """Take groups and systems that were read together with the row, instead of asking for them again."""
        self.__dict__["role_names"] = frozenset(groups) & frozenset(roles.GROUPS)
        self.__dict__["steward_system_ids"] = frozenset(system_ids)

    @property
    def is_staff(self) -> bool:
        """Whether the screens are open: a person with any people's group; programs never."""
        return self.user_type == self.Type.REGULAR and bool(self.role_names & roles.SCREEN_GROUPS)

    def can(self, capability: str, system: Any = None) -> bool:
        """`roles.can` for this user; the layers below ask it this way."""
        return roles.can(self, roles.Capability(capability), system)

    def system_codes_for(self, capability: str) -> frozenset[str] | None:
        """The codes of the systems that a capability is limited to, by role or by key; None means every system."""
        ids = roles.systems_limit(self, roles.Capability(capability))
        codes: frozenset[str] | None = None
        if ids is not None:
            codes = frozenset(self.systems.filter(pk__in=ids).values_list("code", flat=True))
        key = roles.key_of(self)
        if key is None or not key.system_codes:
            return codes
        return frozenset(key.system_codes) if codes is None else codes & frozenset(key.system_codes)

    def why_not(self, capability: str, system: Any = None) -> str:
        """The sentence for a refusal."""
        key = roles.key_of(self)
        if (
            system is not None
            and key is not None
            and key.system_codes
            and system.code not in key.system_codes
        ):
            return "This API key is limited to other systems."
        wanted = roles.Capability(capability)
        if key is not None and not roles.key_allows(key, wanted) and roles.holds(self, wanted):
            return roles.why_not_by_key(wanted)
        return roles.why_not(wanted, system)

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        return roles.allows(self, perm, system_of(obj))

    def has_perms(self, perm_list: list[str], obj: Any = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perm_list)

    def has_module_perms(self, app_label: str) -> bool:
        return roles.allows_app(self, app_label)

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        super().refresh_from_db(*args, **kwargs)
        for name in ("role_names", "steward_system_ids"):
            self.__dict__.pop(name, None)


def system_of(thing: Any) -> Any:
    """The system that a row belongs to, or None where it belongs to none (or nothing was asked about)."""
    if thing is None or not isinstance(thing, models.Model):
        return None
    if thing._meta.label_lower == "registry.system":
        return thing if thing.pk else None
    for name in ("system", "dataset", "proposal", "field", "crawl_run"):
        if any(field.name == name for field in thing._meta.concrete_fields):
            return system_of(getattr(thing, name, None))
    return None


class ApiKey(Editable):
    """A program's credential: a secret that is shown once and stored hashed, with scopes that narrow its owner."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=200)
    public_id = models.CharField(max_length=32, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    scopes = models.JSONField(default=list)
    # Codes of the systems that the key is limited to; empty means all that its owner may.
    system_codes = models.JSONField(default=list, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_reason = models.CharField(max_length=500, blank=True, default="", editable=False)

    class Meta:
        ordering = ("name", "pk")
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} (…{self.last_four})"

    def clean(self) -> None:
        super().clean()
        unknown = sorted({str(scope) for scope in self.scopes or []} - set(roles.SCOPES))
        if unknown:
            raise ValidationError({"scopes": f"Unknown scope: {', '.join(unknown)}."})

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


class RefreshToken(Timestamped):
    """One refresh token that was issued, by its hash; using it twice revokes its whole family."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="refresh_tokens")
    family = models.UUIDField(db_index=True)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)


class FailedLogin(models.Model):
    """One failed try to log in over the API, by a hash of account and address; rows live for minutes."""

    key = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["key", "at"], name="accounts_failedlogin_key_at")]


class IdempotentAnswer(models.Model):
    """The answer to a POST that came with an `Idempotency-Key`, kept for 24 hours to be given again."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=300)
    key_hash = models.CharField(max_length=64)
    body_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "path", "key_hash"], name="accounts_idempotency_once")
        ]
