"""The node inside a Python program: it sends the samples of its probes to a DAC and executes commands from the page.

builder = NodeBuilder("machine")
probe = builder.pushed("control loop", ControlLoop)
with builder.start("127.0.0.1:7071"):
    probe.flush(ControlLoop(turns=1))
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from oasis import _native, processes, spans
from oasis.errors import NodeEndedWarning, SampleTooLongWarning
from oasis.plan import Plan
from oasis.probe import Probe

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from oasis.arrays import Columns
    from oasis.watch import Value, Watched

Sample = TypeVar("Sample")

Overflow: TypeAlias = Literal["drop-newest", "drop-oldest"] | float
"""Policy of a full ring; a number is the timeout in seconds for which a flush waits for room."""

_running: weakref.WeakSet[Node] = weakref.WeakSet()
_ending: set[Node] = set()
_has_ended = False
_is_logging = False


def now() -> int:
    """Nanoseconds since 1970-01-01 UTC by the clock that samples are stamped with."""
    return _native.now()


def log(wanted: str | None = None) -> None:
    """Log connections, refusals and probe failures of nodes to standard error.

    `wanted` is a filter such as "info" or "oasis_probe=debug"; the default is the environment variable OASIS_LOG, else "warn".
    A second call changes nothing, nor does one in a child of `fork`, which logs as its parent does.
    Raises ValueError for an invalid filter.
    """
    global _is_logging
    if not _is_logging:
        _native.log(os.environ.get("OASIS_LOG", "warn") if wanted is None else wanted)
        _is_logging = True


def warn_of_end(name: str, level: int = 3) -> bool:
    """Warn that samples of this name are refused because their node was shut down. Returns True."""
    text = f"a sample of {name} after the shutdown of its node is refused, and all later ones are: sample before, or start another node"
    warnings.warn(text, NodeEndedWarning, stacklevel=level)
    return True


class PushedProbe(Generic[Sample]):
    """A probe that the program flushes. Use it from one thread at a time.

    In a child of `fork` the first flush builds a node like the parent's, named `NAME-PID`.
    """

    def __init__(self, probe: type[Sample], plan: Plan) -> None:
        self._native: _native.PushedProbe
        self._probe = probe
        self._plan = plan
        self._state = 0
        self._has_warned = False

    def set_state(self, state: int) -> None:
        """Set the state of all following samples, 0 to 65,535. 0 is normal; the program defines the other values."""
        self._native.set_state(state)
        self._state = state

    def flush(self, sample: Sample, time: int | None = None) -> bool:
        """Take a sample, now or at `time` in nanoseconds since 1970-01-01 UTC.

        Waits only if the overflow policy of the ring says so. Returns whether the ring had room; a sample without room is dropped and counted,
        and the DAC reports the loss. After the shutdown of the node it returns False: a `NodeEndedWarning` says so once. Raises EncodeError for a value that its metric cannot represent.
        """
        row = sample.to_row()  # type: ignore[attr-defined]
        try:
            is_taken = self._native.flush(row, time)
        except _native.ForkedError:
            self._plan.renew()
            is_taken = self._native.flush(row, time)
        if not is_taken and not self._has_warned and self._native.has_ended():
            self._has_warned = warn_of_end(self._probe.__name__)
        elif not is_taken and not self._has_warned and len(row) > self._native.max_row_bytes():
            self._has_warned = True
            text = (
                f"a sample of {self._probe.__name__} has {len(row)} bytes, at most {self._native.max_row_bytes()}:"
                " such samples are dropped and counted; cut its texts and lists, or set ring_bytes"
            )
            warnings.warn(text, SampleTooLongWarning, stacklevel=2)
        return is_taken

    def flush_arrays(self, samples: npt.NDArray[np.void] | Columns, time: npt.ArrayLike | None = None) -> int:
        """Take many samples in one call: a structured array, or a column for each metric; now, or each at its time.

        Never waits. Returns the number of samples that found room; the others are dropped and counted, and the DAC reports the loss. Needs numpy
        (`pip install oasis-monitor[numpy]`) and a probe type whose metrics have fixed sizes (`oasis.arrays`).
        Raises TypeError for a type that does not match, ValueError for values or lengths that do not.
        """
        from oasis import arrays

        rows, count = arrays.rows(_probe(self._probe), samples)
        stamps = None if time is None else arrays.times(time, count)
        try:
            taken = self._native.flush_rows(rows, count, stamps)
        except _native.ForkedError:
            self._plan.renew()
            taken = self._native.flush_rows(rows, count, stamps)
        if taken < count and not self._has_warned and self._native.has_ended():
            self._has_warned = warn_of_end(self._probe.__name__)
        return taken

    def adopt(self, native: _native.PushedProbe) -> None:
        """Belong to this node from now on."""
        self._native = native
        native.set_state(self._state)


class Node:
    """A running node. Call `shutdown`, or use it in a `with`; the end of the program shuts it down in any case.

    A child of `fork` gets its own at its first sample: with the same probes, named `NAME-PID`.
    """

    def __init__(self, native: _native.Node, plan: Plan) -> None:
        self.native = native
        self.watched: dict[str, Watched] = {}
        self.has_warned_of_end = False
        self._plan = plan
        self._end_lock = threading.Lock()
        _running.add(self)
        plan.belong_to(self)
        processes.prepare_end()

    @property
    def is_running(self) -> bool:
        """Whether it was not shut down."""
        return self in _running

    def pushed(
        self,
        instance: str,
        probe: type[Sample],
        *,
        ring_bytes: int = 64 * 1024,
        overflow: Overflow = "drop-newest",
    ) -> PushedProbe[Sample]:
        """Add a probe as `NodeBuilder.pushed` does, while the node runs. It never waits for a DAC.

        Raises ValueError as there, RuntimeError if the node was shut down.
        """
        schema = _probe(probe).SCHEMA
        added = PushedProbe(probe, self._plan)
        added.adopt(self._here().pushed(instance, schema, "pushed", ring_bytes, overflow))
        self._plan.add_later(_pushing(added, instance, schema, "pushed", ring_bytes, overflow))
        return added

    def watch(self, instance: str, /, *, units: Mapping[str, str] | None = None, **metrics: Value) -> bool:
        """Take a sample as `oasis.watch` does, at this node. After its shutdown, returns False."""
        from oasis.watch import watch_at

        return watch_at(self, instance, units, metrics)

    def add(self, instance: str, schema: str, ring_bytes: int) -> _native.PushedProbe:
        """Add a pushed probe of this schema."""
        return self._here().pushed(instance, schema, "pushed", ring_bytes, "drop-newest")

    def _here(self) -> _native.Node:
        """Return the node of this process."""
        if self.native.is_forked():
            self._plan.renew()
        return self.native

    def shutdown(self) -> None:
        """Take the last samples, send them, and wait up to two seconds for the DAC to acknowledge them.

        Raises `ConnectionRefusedError` if the DAC refuses the node, such as for a name that another node has: then it
        has not received the samples. In a child of `fork` that has taken no samples there is nothing to do.
        """
        _ending.add(self)
        _running.discard(self)
        try:
            # The process may be told to end meanwhile: then it waits for this.
            with self._end_lock:
                self.native.shutdown()
        finally:
            _ending.discard(self)

    def __enter__(self) -> Node:
        """Run until the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Shut down. An error of the block is not replaced by that of the shutdown."""
        try:
            self.shutdown()
        except ConnectionRefusedError:
            if kind is None:
                raise


def running() -> list[Node]:
    """Return the nodes that were started and not shut down."""
    return list(_running)


def _probe(declared: type[object]) -> type[Probe]:
    if not issubclass(declared, Probe):
        remedy = "decorate it with @oasis.probe, or generate it from PDL"
        raise TypeError(f"{declared.__name__} is no probe type: {remedy}")
    return declared


def _pushing(
    probe: PushedProbe[Sample],
    instance: str,
    schema: str,
    kind: str | dict[str, float],
    ring_bytes: int,
    overflow: Overflow,
) -> Callable[[_native.NodeBuilder], None]:
    """Return the step that adds a pushed probe. The probe does not live longer because of that."""
    reference = weakref.ref(probe)

    def push(native: _native.NodeBuilder) -> None:
        pushed, probe = native.pushed(instance, schema, kind, ring_bytes, overflow), reference()
        if probe is not None:
            probe.adopt(pushed)

    return push


class _Spans:
    """Records spans at the node of this process."""

    def __init__(self, plan: Plan, instance: str, ring_bytes: int) -> None:
        self._plan = plan
        self._instance = instance
        self._ring_bytes = ring_bytes
        self._native: _native.Spans

    def add_to(self, native: _native.NodeBuilder) -> None:
        """Add the instance."""
        self._native = _native.Spans(native, self._instance, self._ring_bytes)

    def is_enabled(self) -> bool:
        """Return whether spans are recorded."""
        return self._native.is_enabled()

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
        values = (time, name, target, duration, failed, thread, number, parent, fields)
        try:
            self._native.ended(*values)
        except _native.ForkedError:
            try:
                self._plan.renew()
                self._native.ended(*values)
            except (OSError, RuntimeError, ValueError) as error:
                # A span must not end the work that it times.
                warnings.warn(
                    f"spans of this process are not recorded: {error}", RuntimeWarning, stacklevel=3
                )


def has_ended() -> bool:
    """Return whether the nodes of the program were shut down because it ends: one that is started now could deliver nothing."""
    return _has_ended


def shutdown() -> None:
    """Shut down all nodes of this process: before `os._exit` and `os.exec*`, and where a worker of a server ends.

    It waits as `Node.shutdown` does. A later `oasis.watch` starts another node.
    """
    for node in [*_running, *_ending]:
        # A refusal was a warning.
        with contextlib.suppress(ConnectionRefusedError):
            node.shutdown()


def _shutdown_at_end() -> None:
    global _has_ended
    _has_ended = True
    shutdown()


def _begin_child() -> None:
    """Forget nodes that another thread of the parent was about to end."""
    global _has_ended
    _has_ended = False
    _ending.clear()


processes.at_end(_shutdown_at_end)
processes.at_fork(_begin_child)


class NodeBuilder:
    """A node that has not started yet. `name` is unique among the nodes of a DAC.

    `config` is a configuration file. Its section [node] has the default name and all other settings (docs/reference/oasis.toml).
    `heartbeat` is the only ready-made probe that Python programs can choose; host probes run in `oasis node`.
    Without name and file, the environment variable OASIS_CONFIG names the file; without that variable, defaults apply.
    OASIS_NODE_NAME, OASIS_NODE_UUID, OASIS_DAC, OASIS_TEM, OASIS_DAC_NAME, OASIS_CA, OASIS_CERTIFICATE, OASIS_KEY and
    OASIS_SPOOL_DIRECTORY override the file.
    `tem` is the address of the page of a TEM, or several, which know the DACs (docs/guides/name-dacs.md): call `start()` without a DAC then.
    `dac_name` is the DAC to connect to first. `default_name` is the name of a node that nothing else names, instead of the host's.
    In a process of `multiprocessing`, and in a child of `fork`, a node without `name` appends the number of the process: `NAME-PID`.
    Raises OSError for a file that cannot be read, ValueError for an invalid one and for a text that is no address of a TEM.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        tem: str | Sequence[str] | None = None,
        dac_name: str | None = None,
        default_name: str | None = None,
    ) -> None:
        addresses = tem if tem is None or isinstance(tem, str) else ",".join(tem)
        self._plan = Plan(name, config, addresses, dac_name, default_name)

    @property
    def plan(self) -> Plan:
        """What was added so far."""
        return self._plan

    def spans(self, instance: str = "spans", *, ring_bytes: int = 256 * 1024) -> None:
        """Add a probe for the spans that `oasis.span` records anywhere in the program.

        Raises ValueError if the node has an instance of this name.
        """
        recorder = _Spans(self._plan, instance, ring_bytes)
        self._plan.add(recorder.add_to)
        spans.record_to(recorder)

    def pushed(
        self,
        instance: str,
        probe: type[Sample],
        *,
        ring_bytes: int = 64 * 1024,
        overflow: Overflow = "drop-newest",
    ) -> PushedProbe[Sample]:
        """Add a probe that the program flushes, with a ring of `ring_bytes` (at most 1 GiB) between the program and the node.

        A sample takes its row, rounded up to eight bytes, and 24 bytes. A full ring drops the newest samples, drops the oldest, or makes the
        flush wait, at most for the given number of seconds.
        Raises ValueError if the node has an instance of this name, or the ring is too large.
        """
        return self._add(instance, probe, "pushed", ring_bytes, overflow)

    def on_change(
        self,
        instance: str,
        probe: type[Sample],
        deadbands: Mapping[str, float] | None = None,
        *,
        ring_bytes: int = 64 * 1024,
        overflow: Overflow = "drop-newest",
    ) -> PushedProbe[Sample]:
        """Add a probe that the program flushes, and that keeps only samples in which a metric changed by more than its deadband.

        Any change of a metric without a deadband counts; a deadband of infinity ignores the metric.
        Raises ValueError as `pushed`, and for deadbands that are negative or of metrics that are not numbers.
        """
        return self._add(instance, probe, dict(deadbands or {}), ring_bytes, overflow)

    def event(
        self,
        instance: str,
        probe: type[Sample],
        *,
        ring_bytes: int = 64 * 1024,
        overflow: Overflow = "drop-newest",
    ) -> PushedProbe[Sample]:
        """Add a probe that the program flushes when something happens. Its samples are sent at once, without waiting for a full batch.

        Raises ValueError as `pushed`.
        """
        return self._add(instance, probe, "event", ring_bytes, overflow)

    def _add(
        self,
        instance: str,
        probe: type[Sample],
        kind: str | dict[str, float],
        ring_bytes: int,
        overflow: Overflow,
    ) -> PushedProbe[Sample]:
        schema = _probe(probe).SCHEMA
        added = PushedProbe(probe, self._plan)
        self._plan.add(_pushing(added, instance, schema, kind, ring_bytes, overflow))
        return added

    def periodic(
        self, instance: str, probe: type[Sample], hertz: float, sample: Callable[[], Sample]
    ) -> None:
        """Add a probe that the node calls from its own thread, `hertz` (0.01 to 1,000) times a second until a command changes the rate.

        If `sample` raises, no sample is taken: the node logs the error once and calls again at the probe's rate.
        Raises ValueError if the rate is out of range or the node has an instance of this name.
        """
        schema = _probe(probe).SCHEMA

        def row() -> bytes:
            return sample().to_row()  # type: ignore[attr-defined, no-any-return]

        self._plan.add(lambda native: native.periodic(instance, schema, hertz, row))

    def record(
        self,
        instance: str,
        triggers: Sequence[str] = (),
        *,
        before: float = 10,
        after: float = 5,
        memory_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        """Give an added probe a flight recorder: only samples around a trigger are sent.

        A trigger is the command "trigger", or a crossed limit, written "METRIC > LIMIT" or "METRIC < LIMIT". `before` and `after` it are
        seconds; `memory_bytes` (at most 1 GiB) bounds the samples kept before a trigger; each takes its row and 32 bytes.
        Raises ValueError for an unknown instance or metric, and for an invalid limit.
        """
        limits = list(triggers)
        self._plan.add(lambda native: native.record(instance, before, after, memory_bytes, limits))

    def importance(self, instance: str, importance: int) -> None:
        """Set the importance of an added probe for when rates must be lowered: 0 (least) to 255.

        Raises ValueError for an unknown instance.
        """
        self._plan.add(lambda native: native.importance(instance, importance))

    def start(self, dac: str | None = None) -> Node:
        """Start sampling and connect to the data channel of a DAC; the default is that of the TEM, the configured one, or 127.0.0.1:7071.

        With several, "192.0.2.7:7071,192.0.2.8:7071", the node goes to the next one when it loses one. While none can be
        reached, it retries and keeps samples, within bounds. Afterwards the builder is empty.
        """
        return Node(self._plan.start(dac), self._plan)
