"""Passwords from a HashiCorp Vault (or OpenBao), key/value version 2. Only `crawling.connect` asks here.

`hvac` is imported when a reference of this provider is used, so that nobody else needs it. AIDE's own token stays in
AIDE's environment and is never part of an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aide_crawler import CrawlError
from django.conf import settings

TIMEOUT_SECONDS = 5
USUAL_KEY = "password"
MAX_SECRET_BYTES = 64 * 1024


@dataclass(frozen=True)
class Place:
    """Where a password is: the mount of the engine, the secret's path in it, and which of its keys."""

    mount: str
    path: str
    key: str | None


def place_of(path: str) -> Place:
    """`mount/path/of/the/secret`, with `#key` for a key that is not called password. Raises CrawlError."""
    where, _, key = path.partition("#")
    mount, _, rest = where.strip("/").partition("/")
    parts = rest.split("/")
    if not mount or not rest or any(part in ("", ".", "..") for part in (mount, *parts)):
        raise _failed(
            f"The vault path {path} cannot be read; write mount/path/of/the/secret, with #key after it."
        )
    return Place(mount, rest, key or None)


def password_at(path: str, *, version: int | None = None) -> str:
    """What Vault holds there. Raises CrawlError, whose one sentence names the path and holds no secret."""
    if not settings.AIDE_VAULT_URL:
        raise _failed(
            "The credential provider vault is not set up on this server: AIDE_VAULT_URL is not set."
        )
    place = place_of(path)
    try:
        import hvac
        from hvac import exceptions
        from requests import exceptions as transport
    except ImportError:
        raise _failed("The credential provider vault needs the Python package hvac on this server.") from None
    failure = f"The vault did not give {path}"
    try:
        data = _read(_client(hvac), place, version=version)
    except exceptions.InvalidPath:
        failure = f"The vault has no secret {path}{f' of version {version}' if version else ''}"
    except (exceptions.Forbidden, exceptions.Unauthorized):
        failure = f"The vault does not let AIDE read {path}, or did not accept its log-in"
    except exceptions.VaultDown:
        failure = "The vault is sealed or not in service"
    except exceptions.VaultError as error:
        failure = f"The vault refused to give {path} ({type(error).__name__})"
    except transport.Timeout:
        failure = "The vault did not answer in time"
    except transport.SSLError:
        failure = "A TLS connection to the vault could not be made as demanded"
    except (transport.RequestException, OSError):
        failure = "Nothing that speaks as a vault does answers at AIDE_VAULT_URL"
    except (KeyError, TypeError, ValueError, AttributeError):
        failure = f"The vault answered for {path} with something that is no secret of key/value version 2"
    else:
        return _chosen(data, place, path)
    raise _failed(f"{failure}.")


def _client(hvac: Any) -> Any:
    """A client that is logged in with AIDE's token, or with its role."""
    client = hvac.Client(
        url=settings.AIDE_VAULT_URL,
        token=settings.AIDE_VAULT_TOKEN,
        namespace=settings.AIDE_VAULT_NAMESPACE or None,
        verify=settings.AIDE_VAULT_CAFILE or True,
        timeout=TIMEOUT_SECONDS,
        allow_redirects=False,  # the token goes to no other host
    )
    if settings.AIDE_VAULT_ROLE_ID:
        client.token = None
        client.auth.approle.login(
            role_id=settings.AIDE_VAULT_ROLE_ID, secret_id=settings.AIDE_VAULT_SECRET_ID or None
        )
    return client


def _read(client: Any, place: Place, *, version: int | None) -> dict[str, Any]:
    answer = client.secrets.kv.v2.read_secret_version(
        path=place.path, mount_point=place.mount, version=version, raise_on_deleted_version=True
    )
    return dict(answer["data"]["data"])


def _chosen(data: dict[str, Any], place: Place, path: str) -> str:
    key = place.key or (USUAL_KEY if USUAL_KEY in data or len(data) != 1 else next(iter(data)))
    if key not in data:
        raise _failed(f"The secret {path} in the vault has no key {key}.")
    value = data[key]
    if not isinstance(value, str) or not value or len(value.encode()) > MAX_SECRET_BYTES:
        raise _failed(f"What the vault holds at {path} is no password.")
    return value


def _failed(sentence: str) -> CrawlError:
    return CrawlError("auth_failed", sentence)
