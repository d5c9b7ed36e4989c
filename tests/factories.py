"""Rows for tests, made by plain functions; each takes what matters to the test and fills in the rest."""

from __future__ import annotations

import itertools
from typing import Any

from django.contrib.auth.hashers import BCryptSHA256PasswordHasher
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from aide.accounts import tokens
from aide.accounts.keys import make_key
from aide.accounts.models import ApiKey, User
from aide.accounts.roles import GROUPS
from registry import versions
from registry.documents import clean
from registry.models import Dataset, DatasetSchema, DataType, System, SystemFlavor, SystemKind
from registry.reading import place_of
from registry.seeding import bundled_catalogue
from registry.typesystem import TypeDef

# The real hash, but cheap: a suite makes hundreds of users.
BCryptSHA256PasswordHasher.rounds = 4

PASSWORD = "correct horse 7 battery"
_numbers = itertools.count(1)


def make_user(*roles: str, email: str = "", password: str = PASSWORD, **values: Any) -> User:
    """An active user in the given groups."""
    name = roles[0] if roles else "nobody"
    user = User.objects.create_user(email or f"{name}{next(_numbers)}@example.com", password, **values)
    make_groups()
    user.groups.set(Group.objects.filter(name__in=roles))
    return User.objects.get(pk=user.pk)


def make_groups() -> None:
    """The six groups, which a migration ships where the tests run migrations."""
    Group.objects.bulk_create([Group(name=name) for name in GROUPS], ignore_conflicts=True)


def make_service(**values: Any) -> User:
    """A program's account."""
    return make_user("service", user_type=User.Type.TECHNICAL, **values)


def make_api_key(user: User, *scopes: str, **values: Any) -> tuple[ApiKey, str]:
    """A key and its secret."""
    return make_key(user=user, name=f"key {next(_numbers)}", scopes=scopes, **values)


def api_client(user: User | None = None, *, secret: str = "") -> APIClient:
    """A client of the API that is logged in with an access token or an API key, or not at all."""
    client = APIClient(raise_request_exception=False)
    if user is not None:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens.issue(user).access_token}")
    if secret:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def make_kind(code: str = "RDBMS", **values: Any) -> SystemKind:
    """A category of platforms; the same code gives the same row."""
    return SystemKind.objects.alive().get_or_create(code=code, defaults={"name": code.title(), **values})[0]


def make_flavor(code: str = "postgresql", *, types: bool = True) -> SystemFlavor:
    """A technology, with its bundled type catalogue unless that is unwanted."""
    dialects = {"postgresql": ["postgresql"], "mariadb": ["mysql", "mariadb"], "sqlite": ["sqlite"]}
    flavor, is_new = SystemFlavor.objects.alive().get_or_create(
        code=code,
        defaults={
            "kind": make_kind(),
            "name": code.title(),
            "sqlalchemy_dialects": dialects.get(code, []),
        },
    )
    if is_new and types:
        DataType.objects.bulk_create(data_type(flavor, typedef) for typedef in bundled_catalogue(code))
    return flavor


def data_type(flavor: SystemFlavor, typedef: TypeDef) -> DataType:
    """One type of a bundled catalogue, not saved."""
    return DataType(
        flavor=flavor,
        code=typedef.code,
        name=typedef.name,
        category=typedef.category,
        logical_type=typedef.logical_type,
        kind=typedef.kind,
        params_schema=dict(typedef.params_schema),
        render_template=typedef.render_template or "",
        slots=[slot.name for slot in typedef.slots],
        aliases=list(typedef.aliases),
    )


def make_system(code: str = "", *, flavor: str = "postgresql", **values: Any) -> System:
    """A system; its flavor comes with types."""
    code = code or f"system-{next(_numbers)}"
    return System.objects.create(
        code=code, name=values.pop("name", code), flavor=make_flavor(flavor), **values
    )


def make_dataset(name: str = "", *, system: System | None = None, **values: Any) -> Dataset:
    """A table `public.<name>`, without a version."""
    table = name or f"table_{next(_numbers)}"
    values = {
        "kind": Dataset.Kind.RDBMS,
        "name": f"public.{table}",
        "location": {"schema": "public", "table": table},
        **values,
    }
    return Dataset.objects.create(system=system or make_system(), **values)


def make_document(*fields: tuple[str, str], **values: Any) -> dict[str, Any]:
    """A schema document with fields given as (name, native type)."""
    listed = fields or (("id", "bigint"), ("name", "text"))
    return {"fields": [{"name": name, "native_type": native} for name, native in listed], **values}


def publish(
    dataset: Dataset, *fields: tuple[str, str], by: User | None = None, **values: Any
) -> DatasetSchema:
    """The next version of a dataset, with these fields."""
    schema, name = place_of(dataset)
    document = clean(make_document(*fields, schema=schema, name=name, **values))
    publication = versions.Publication(document, dataset=dataset)
    return versions.publish(publication, system=dataset.system, by=by, origin="api").schema
