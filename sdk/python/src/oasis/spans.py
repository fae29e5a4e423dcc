"""Spans: pieces of work, how long each took and how it ended, as samples of the ready-made `span` type (pdl/instrument/span.pdl)."""

from __future__ import annotations

import functools
import inspect
import itertools
import threading
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")


class Recorder(Protocol):
    """Records ended spans. Never waits."""

    def is_enabled(self) -> bool:
        """Return whether spans are recorded."""

    def ended(
        self,
        time: int,
        name: str,
        target: str,
        duration: int,
        failed: bool,
        thread: str,
        number: int,
        parent: int,
        fields: list[tuple[str, str]],
    ) -> None:
        """Record an ended span."""


_recorder: Recorder | None = None
_numbers = itertools.count(1)
_current: ContextVar[Span | None] = ContextVar("oasis span", default=None)


def record_to(recorder: Recorder) -> None:
    """Send all following spans of the program to this recorder."""
    global _recorder
    _recorder = recorder


def text_of(value: object) -> str:
    """Return the text of a value, even if its class raises."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__qualname__} without text>"


def current_path() -> str:
    """Return the names of the spans around the caller, outermost first, separated by colons."""
    span = _current.get()
    return "" if span is None else span.path


class Span:
    """A timed piece of work: for a `with`, or as the decorator of a function or a coroutine function, with one span for each call.

    A span fails if an exception leaves it.
    """

    __slots__ = ("_began", "_fields", "_id", "_parent", "_token", "name", "path", "target")

    def __init__(self, name: str, target: str, fields: dict[str, object]) -> None:
        self.name = name
        self.target = target
        self.path = name
        self._fields = fields
        self._id = 0
        self._parent = 0
        self._began = 0
        self._token: Token[Span | None] | None = None

    def set(self, **fields: object) -> None:
        """Add fields to a running span."""
        self._fields = {**self._fields, **fields}

    def __enter__(self) -> Span:
        """Begin."""
        if self._token is not None:
            raise RuntimeError(f"the span {self.name!r} has already begun: create a new span each time")
        around = _current.get()
        if around is not None:
            self.path = f"{around.path}:{self.name}"
            self._parent = around._id
        self._id = next(_numbers)
        self._token = _current.set(self)
        self._began = time.perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        duration = time.perf_counter_ns() - self._began
        if self._token is not None:
            _current.reset(self._token)
            self._token = None
        recorder = _recorder
        if recorder is None or not recorder.is_enabled():
            return
        fields = [(name, text_of(value)) for name, value in self._fields.items()]
        if kind is not None:
            fields.append(("exception", kind.__qualname__))
        recorder.ended(
            time.time_ns(),
            self.name,
            self.target,
            duration,
            kind is not None,
            threading.current_thread().name,
            self._id,
            self._parent,
            fields,
        )

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Make each call of a function a span like this one."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaiting(*args: P.args, **kwargs: P.kwargs) -> object:
                with self._again():
                    return await cast("Awaitable[object]", function(*args, **kwargs))

            return cast("Callable[P, T]", awaiting)

        @functools.wraps(function)
        def calling(*args: P.args, **kwargs: P.kwargs) -> T:
            with self._again():
                return function(*args, **kwargs)

        return calling

    def _again(self) -> Span:
        return Span(self.name, self.target, self._fields)


def span(name: str, /, **fields: object) -> Span:
    """Time a piece of work: `with oasis.span("step", number=4):`, or `@oasis.span("step")` before a function.

    The node whose builder had `spans` called last sends the spans; without such a node nothing is sent. A running span takes more
    fields: `with oasis.span("step") as step: step.set(found=3)`. Fields are texts, made by `str` when the span ends.
    """
    frame = inspect.currentframe()
    caller = None if frame is None else frame.f_back
    return Span(name, "" if caller is None else caller.f_globals.get("__name__", ""), fields)
