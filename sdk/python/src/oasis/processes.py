"""The processes of a program: which of them inherit a name, and how they begin and end."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable

from oasis import _native

_is_forked = False
_ends: list[Callable[[], None]] = []
_prepared = 0
"""The process whose end was prepared last."""


def inherits_name() -> bool:
    """Return whether the process was forked after it had imported this package, or was started by `multiprocessing`."""
    return _is_forked or _is_of_multiprocessing()


def at_fork(begin: Callable[[], None]) -> None:
    """Call `begin` in each child of `fork`, before anything else of the program. It must take no lock."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin)


def at_end(end: Callable[[], None]) -> None:
    """Call `end` when a process ends that had called `prepare_end`."""
    _ends.append(end)
    atexit.register(end)


def prepare_end() -> None:
    """Have this process end in order, too, if `multiprocessing` has started it: such a process runs no `atexit`.

    Its pools and `Process.terminate` end it by SIGTERM, which is handled there unless the program does so.
    """
    global _prepared
    if not _is_of_multiprocessing() or _prepared == os.getpid():
        return
    _prepared = os.getpid()
    from multiprocessing.util import Finalize

    Finalize(None, _end_in_order, exitpriority=0)
    # A handler in Python would not run while a pool's process waits for its next task.
    _native.at_sigterm(_end)


def _is_of_multiprocessing() -> bool:
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


def _end() -> None:
    for end in _ends:
        end()


def _end_in_order() -> None:
    _end()
    # The interpreter ends next: no other thread may need it.
    _native.end_at_once()


def _begin_child() -> None:
    global _is_forked
    _is_forked = True


at_fork(_begin_child)
