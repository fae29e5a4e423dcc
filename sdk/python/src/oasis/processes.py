"""The processes of a program: which of them inherit a name, and how they begin and end."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from oasis import _native

_is_forked = False
_ends: list[Callable[[], None]] = []
_prepared = 0
"""The process whose end was prepared last."""
_INIT = 1
"""The first process of a container. Linux ignores signals that it does not handle."""

_thread = threading.local()
"""Ends a process that was forked by a thread: its destructor runs when that thread ends."""


def inherits_name() -> bool:
    """Return whether the process was forked by one that still runs, or was started by `multiprocessing`.

    Workers of a server inherit the environment, and with it the name of the program, whichever of them imports this package.
    """
    return _is_forked or _is_of_multiprocessing() or _is_forked_from(os.getppid())


def at_fork(begin: Callable[[], None]) -> None:
    """Call `begin` in each child of `fork`, before anything else of the program. It must take no lock."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin)


def at_end(end: Callable[[], None]) -> None:
    """Call `end` when a process ends that had called `prepare_end`."""
    _ends.append(end)
    atexit.register(end)


def prepare_end() -> None:
    """Have this process end in order, too, if SIGTERM, SIGHUP or `multiprocessing` ends it: then it runs no `atexit`.

    A signal that the program handles or ignores is left to it.
    """
    global _prepared
    if _prepared == os.getpid():
        return
    _prepared = os.getpid()
    if _is_of_multiprocessing():
        from multiprocessing.util import Finalize

        Finalize(None, _end_in_order, exitpriority=0)
    elif _is_forked and not isinstance(threading.current_thread(), threading._MainThread):  # type: ignore[attr-defined]
        _thread.end = _ThreadEnd()
    if os.getpid() != _INIT:
        # A handler in Python would not run while a pool's process waits for its next task.
        _native.at_termination(_end)


class _ThreadEnd:
    """Ends a process whose only thread of Python was started by the parent: such a process runs no `atexit`.

    Threads of the node would keep it alive.
    """

    def __init__(self) -> None:
        self._process = os.getpid()

    def __del__(self) -> None:
        if self._process == os.getpid() and threading.active_count() <= 1:
            _end()
            os._exit(0)


def _is_of_multiprocessing() -> bool:
    module = sys.modules.get("multiprocessing.process")
    return module is not None and module.parent_process() is not None


def _is_forked_from(parent: int) -> bool:
    """Return whether this process is a fork of its parent, so that both run the same program.

    A program that was executed has a stack at another address. The parent's address is zero if it belongs to another user:
    then the command lines decide.
    """
    try:
        stacks = _stack_address("self"), _stack_address(str(parent))
        if stacks[1] != 0:
            return stacks[0] == stacks[1]
        return _command_line("self") == _command_line(str(parent))
    except (OSError, ValueError, IndexError):
        # Without /proc, or the parent has ended.
        return False


def _stack_address(process: str) -> int:
    # Fields are counted after the name of the program, which may have spaces (proc(5), 28: startstack).
    fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(fields[28 - 3])


def _command_line(process: str) -> bytes:
    return Path(f"/proc/{process}/cmdline").read_bytes()


def _end() -> None:
    for end in _ends:
        end()


def _end_in_order() -> None:
    _end()
    _native.end_at_once()


def _begin_child() -> None:
    global _is_forked
    _is_forked = True


at_fork(_begin_child)
# After all others of this package: the interpreter ends next, and no other thread may need it.
atexit.register(_native.end_at_once)
