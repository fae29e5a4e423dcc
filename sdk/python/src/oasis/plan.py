"""How a node was built: a child of `fork` has none of its threads, and builds its own."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from oasis import _native, processes
from oasis.errors import RefusedWarning

if TYPE_CHECKING:
    from oasis.logging import Records
    from oasis.node import Node

Step: TypeAlias = Callable[[_native.NodeBuilder], None]

_lock = threading.Lock()


class Plan:
    """The arguments of a builder, and what was added to it."""

    def __init__(
        self,
        name: str | None,
        config: str | os.PathLike[str] | None,
        tem: str | None,
        dac_name: str | None,
        default_name: str | None,
    ) -> None:
        self.logs: dict[str, Records] = {}
        self._arguments = (name, config, tem, dac_name, default_name)
        self._steps: list[Step] = []
        self._dac: str | None = None
        self._node: weakref.ReferenceType[Node] | None = None
        is_named = name is not None
        self.native = _native.NodeBuilder(*self._arguments, child=not is_named and processes.inherits_name())

    def add(self, step: Step) -> None:
        """Add something to the builder."""
        step(self.native)
        self._steps.append(step)

    def add_later(self, step: Step) -> None:
        """Remember what was added to the running node."""
        self._steps.append(step)

    def start(self, dac: str | None) -> _native.Node:
        """Start the node."""
        self._dac = dac
        return self.native.start(dac, _report)

    @property
    def has_ended(self) -> bool:
        """Whether the node has started and was shut down."""
        node = None if self._node is None else self._node()
        return self._node is not None and (node is None or not node.is_running)

    def belong_to(self, node: Node) -> None:
        """Remember the node, which does not live longer because of that."""
        self._node = weakref.ref(node)

    def renew(self) -> None:
        """Build the node of this process, named `NAME-PID`, unless it was built.

        Raises RuntimeError if the node of the parent has ended, and what `NodeBuilder` raises, such as OSError for a
        spool directory that the parent uses.
        """
        node = None if self._node is None else self._node()
        if node is None or not node.is_running:
            raise RuntimeError("the node was shut down")
        with _lock:
            if node.native.is_forked():
                native = _native.NodeBuilder(*self._arguments, child=True)
                for step in self._steps:
                    step(native)
                node.native = native.start(self._dac, _report)
        processes.prepare_end()


def _report(node: str, refusal: str) -> None:
    """Tell the program of a refusal: a thread of the node calls this."""
    text = f"the DAC refuses node {node!r}, and receives none of its samples: {refusal}"
    warnings.warn(text, RefusedWarning, stacklevel=1)


def _begin_child() -> None:
    global _lock
    # Another thread of the parent may have had it.
    _lock = threading.Lock()


processes.at_fork(_begin_child)
