"""The SDK and the server's OpenAPI document have the same addresses and methods."""

from __future__ import annotations

import functools
import re
from typing import Any

from aide_sdk import AideClient
from aide_sdk.operations import Resource, operations_of

# About the API itself, and what is answered only for Marquez' screens.
OTHERS = ("/api/v1/schema", "/api/v1/docs", "/api/v1/namespaces/{}/")
# Named by the API's description as coming; the client is ready for them.
COMING = ("/api/v1/contracts",)


def shape(method: str, path: str) -> tuple[str, str]:
    return method.upper(), re.sub(r"\{[^}]*\}", "{}", path)


@functools.cache
def served() -> frozenset[tuple[str, str]]:
    from drf_spectacular.generators import SchemaGenerator

    document: Any = SchemaGenerator().get_schema(public=True)
    return frozenset(
        shape(method, path)
        for path, methods in document["paths"].items()
        for method in methods
        if method in {"get", "post", "put", "patch", "delete"}
    )


def offered() -> dict[tuple[str, str], str]:
    client = AideClient.sync("http://127.0.0.1:1", api_key="none")
    found: dict[tuple[str, str], str] = {}
    for name, resource in vars(client).items():
        if isinstance(resource, Resource):
            for operation_name, each in operations_of(type(resource)).items():
                found[shape(each.method, each.template(resource.path))] = f"{name}.{operation_name}"
    return found


def test_every_address_of_the_server_has_a_resource() -> None:
    missing = {each for each in served() if each not in offered() and not each[1].startswith(OTHERS)}
    assert missing == set()


def test_every_operation_of_the_sdk_has_an_address() -> None:
    unknown = {
        name: place
        for place, name in offered().items()
        if place not in served() and place[1].startswith("/api/v1") and not place[1].startswith(COMING)
    }
    assert unknown == {}


def test_every_resource_can_what_the_contract_says() -> None:
    client = AideClient.sync("http://127.0.0.1:1", api_key="none")
    for name in ("users", "systems", "datasets", "fields", "crawl_plans", "pii_tags", "api_keys"):
        resource = getattr(client, name)
        for verb in ("list", "page", "get", "create", "create_many", "update", "delete"):
            assert callable(getattr(resource, verb)), (name, verb)
