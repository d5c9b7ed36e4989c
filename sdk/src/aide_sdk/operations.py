"""Operations of the API as descriptors: written once without I/O, called with and without `await`.

A resource knows in its type (`Resource[Async]`, `Resource[Sync]`) who carries its calls out, so that
`client.systems.get("shop")` is an awaitable for the one and a `System` for the other, also for a type checker.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from aide_sdk.calls import API, Call, Repeat
from aide_sdk.models import Page

if TYPE_CHECKING:
    from aide_sdk.engine import Steps

T = TypeVar("T")
P = ParamSpec("P")


class Async:
    """Marks resources whose operations are awaited."""


class Sync:
    """Marks resources whose operations answer at once."""


Mode = TypeVar("Mode", Async, Sync)


class Runner:
    """What a client lends to its resources: `run` carries out steps, `perform` makes steps of a call."""

    is_async: bool

    def run(self, steps: Steps[Any]) -> Any:
        raise AssertionError("a client has its own")

    def perform(self, call: Call[T]) -> Steps[T]:
        raise AssertionError("a client has its own")

    def logged_out(self) -> None:
        """The present log-in has ended."""


class Resource(Generic[Mode]):
    """The operations of one address of the API."""

    path: str = ""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}>"


class Operation(Generic[P, T]):
    """One method and address. Made by `operation`, which see."""

    def __init__(
        self,
        function: Callable[Concatenate[Any, P], Call[T]],
        method: str,
        suffix: str,
        repeat: Repeat,
        is_open: bool,
    ) -> None:
        self.function = function
        self.method = method
        self.suffix = suffix
        self.repeat = repeat
        self.is_open = is_open
        self.__doc__ = function.__doc__

    def template(self, path: str) -> str:
        """The address with placeholders, for a resource at `path` (`/systems` → `/api/v1/systems/{key}`)."""
        return self.suffix[1:] if self.suffix.startswith("//") else f"{API}{path}{self.suffix}"

    def call(self, resource: Resource[Any], /, *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        made = self.function(resource, *args, **kwargs)
        place = self.template(resource.path)
        return made.placed(self.method, place, repeat=self.repeat, is_open=self.is_open)

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Operation[P, T]: ...

    @overload
    def __get__(self, instance: Resource[Async], owner: type[Any]) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, instance: Resource[Sync], owner: type[Any]) -> Callable[P, T]: ...

    def __get__(self, instance: Resource[Any] | None, owner: type[Any]) -> Any:
        if instance is None:
            return self
        runner = instance._runner

        @functools.wraps(self.function)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return runner.run(runner.perform(self.call(instance, *args, **kwargs)))

        return _without_self(bound, self.function)


def operation(
    method: str, suffix: str = "", *, repeat: Repeat | None = None, is_open: bool = False
) -> Callable[[Callable[Concatenate[Any, P], Call[T]]], Operation[P, T]]:
    """Declares `METHOD /api/v1{path of the resource}{suffix}`; the function makes its Call out of arguments.

    Placeholders of the suffix (`/{key}/restore`) are filled from the call's `at`; a suffix with two slashes
    begins at the server's root. GET and DELETE may be repeated unless told otherwise.
    """
    if repeat is None:
        repeat = Repeat.SAFE if method in {"GET", "DELETE"} else Repeat.NEVER

    def declare(function: Callable[Concatenate[Any, P], Call[T]]) -> Operation[P, T]:
        return Operation(function, method, suffix, repeat, is_open)

    return declare


class Listing(Generic[P, T]):
    """All items of a list, page by page as they are asked for. Made by `listing`."""

    def __init__(
        self, function: Callable[Concatenate[Any, P], Call[Page[T]]], suffix: str, cursor: bool
    ) -> None:
        self.function = function
        self.suffix = suffix
        self.by_cursor = cursor
        self.method = "GET"
        self.__doc__ = function.__doc__

    def template(self, path: str) -> str:
        return f"{API}{path}{self.suffix}"

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Listing[P, T]: ...

    @overload
    def __get__(self, instance: Resource[Async], owner: type[Any]) -> Callable[P, AsyncIterator[T]]: ...

    @overload
    def __get__(self, instance: Resource[Sync], owner: type[Any]) -> Callable[P, Iterator[T]]: ...

    def __get__(self, instance: Resource[Any] | None, owner: type[Any]) -> Any:
        if instance is None:
            return self
        runner = instance._runner
        first_of = self.first

        @functools.wraps(self.function)
        def each(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            call: Call[Page[T]] | None = first_of(instance, *args, **kwargs)
            while call is not None:
                page: Page[T] = runner.run(runner.perform(call))
                yield from page.items
                call = following(call, page)

        @functools.wraps(self.function)
        async def each_later(*args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
            call: Call[Page[T]] | None = first_of(instance, *args, **kwargs)
            while call is not None:
                page: Page[T] = await runner.run(runner.perform(call))
                for item in page.items:
                    yield item
                call = following(call, page)

        return _without_self(each_later if runner.is_async else each, self.function)

    def first(self, resource: Resource[Any], /, *args: P.args, **kwargs: P.kwargs) -> Call[Page[T]]:
        call = self.function(resource, *args, **kwargs)
        if self.by_cursor and "page" not in call.query:
            call = replace(call, query={"cursor": "", **call.query})
        return call.placed("GET", self.template(resource.path), repeat=Repeat.SAFE, is_open=False)


def listing(
    suffix: str = "", *, by_cursor: bool = False
) -> Callable[[Callable[Concatenate[Any, P], Call[Page[T]]]], Listing[P, T]]:
    """Declares a list whose pages are fetched as needed; by cursor where the server offers it."""

    def declare(function: Callable[Concatenate[Any, P], Call[Page[T]]]) -> Listing[P, T]:
        return Listing(function, suffix, by_cursor)

    return declare


def following(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    """The call for the page after this one, or None after the last."""
    if page.next_cursor:
        return replace(call, query={**call.query, "cursor": page.next_cursor})
    if page.has_next and page.items:
        return replace(call, query={**call.query, "page": page.page + 1})
    return None


class Procedure(Generic[P, T]):
    """Several calls in a row, told as steps. Made by decorating a generator."""

    def __init__(self, function: Callable[Concatenate[Any, P], Generator[Any, Any, T]]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Procedure[P, T]: ...

    @overload
    def __get__(self, instance: Resource[Async], owner: type[Any]) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, instance: Resource[Sync], owner: type[Any]) -> Callable[P, T]: ...

    def __get__(self, instance: Resource[Any] | None, owner: type[Any]) -> Any:
        if instance is None:
            return self

        @functools.wraps(self.function)
        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return instance._runner.run(self.function(instance, *args, **kwargs))

        return _without_self(bound, self.function)


def operations_of(kind: type[Resource[Any]]) -> Mapping[str, Operation[Any, Any] | Listing[Any, Any]]:
    """The declared operations of a resource by name, inherited ones included."""
    found: dict[str, Operation[Any, Any] | Listing[Any, Any]] = {}
    for ancestor in reversed(kind.__mro__):
        for name, value in vars(ancestor).items():
            if isinstance(value, Operation | Listing):
                found[name] = value
            else:
                found.pop(name, None)
    return found


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    whole = inspect.signature(function)
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _without_self(bound: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Let `help` and `inspect.signature` show the method as it is called."""
    bound.__signature__ = _signature(function)  # type: ignore[attr-defined]
    return bound
