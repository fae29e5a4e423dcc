"""Log records of the standard library's `logging` as samples of the ready-made `log` type (pdl/instrument/log.pdl).

builder = NodeBuilder("machine")
logging.getLogger().addHandler(Handler(builder))
with builder.start("127.0.0.1:7071"):
    logging.warning("pressure is high", extra={"bar": 8.1})
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import TYPE_CHECKING, Any

from oasis import _native
from oasis.node import NodeBuilder, warn_of_end
from oasis.spans import current_path, text_of

if TYPE_CHECKING:
    from oasis.plan import Plan

# Attributes of every record; all others came as `extra`.
_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
_FORMATTER = logging.Formatter()

# The severities of OpenTelemetry that the levels stand for; a level between two is the one below.
_SEVERITIES = (
    (logging.CRITICAL, 21),
    (logging.ERROR, 17),
    (logging.WARNING, 13),
    (logging.INFO, 9),
    (logging.DEBUG, 5),
)


class Records:
    """Hands log records to an instance of a node, each once."""

    def __init__(self, plan: Plan, instance: str, ring_bytes: int) -> None:
        self._plan = plan
        self._instance = instance
        self._ring_bytes = ring_bytes
        self._native: _native.Logger
        self._thread = threading.local()
        self._has_warned = False

    def add_to(self, native: _native.NodeBuilder) -> None:
        """Add the instance."""
        self._native = _native.Logger(native, self._instance, self._ring_bytes)

    def is_wanted(self, record: logging.LogRecord) -> bool:
        """Return whether the probe takes this record, which no other handler of the instance has handed over."""
        if self._plan.has_ended:
            self._warn_of_end()
            return False
        if not self._native.is_enabled():
            return False
        last: weakref.ReferenceType[logging.LogRecord] | None = getattr(self._thread, "last", None)
        if last is not None and last() is record:
            return False
        self._thread.last = weakref.ref(record)
        return True

    def take(self, *values: Any) -> None:
        """Take a sample."""
        try:
            self._native.log(*values)
        except _native.ForkedError:
            self._plan.renew()
            self._native.log(*values)

    def _warn_of_end(self) -> None:
        if not self._has_warned:
            # First: the program may log its warnings.
            self._has_warned = True
            warn_of_end(self._instance, level=5)


class Handler(logging.Handler):
    """Turns log records into samples of a node. Logging never waits: a record without room is dropped and counted, and the DAC reports the loss.

    Handlers of one builder and instance share it: a record that several of them get is one sample.
    Records of the logger `oasis` and its children are ignored.
    """

    def __init__(
        self,
        builder: NodeBuilder,
        instance: str = "log",
        *,
        level: int | str = logging.NOTSET,
        ring_bytes: int = 256 * 1024,
    ) -> None:
        """Add the instance to a node that has not started yet, or share that of another handler.

        Raises ValueError if a probe of the node has this name.
        """
        super().__init__(level)
        logs = builder.plan.logs
        records = logs.get(instance)
        if records is None:
            records = Records(builder.plan, instance, ring_bytes)
            builder.plan.add(records.add_to)
            logs[instance] = records
        self._records = records

    def createLock(self) -> None:  # noqa: N802
        """Create no lock, so that no thread waits: the node needs none."""
        self.lock = None

    def handle(self, record: logging.LogRecord) -> bool:
        """Filter and emit, without a lock."""
        wanted = self.filter(record)
        if not wanted:
            return False
        # Since Python 3.12 a filter may give another record.
        self.emit(wanted if isinstance(wanted, logging.LogRecord) else record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a record to the node."""
        if record.name == "oasis" or record.name.startswith("oasis."):
            return
        try:
            if self._records.is_wanted(record):
                self._log(record)
        except Exception:
            self.handleError(record)

    def _log(self, record: logging.LogRecord) -> None:
        # A formatter of the handler decides the text of the record.
        message = self.format(record) if self.formatter is not None else _with_traceback(record)
        fields = [(name, text_of(value)) for name, value in vars(record).items() if name not in _USUAL]
        if record.exc_info is not None and record.exc_info[0] is not None:
            fields.append(("exception", f"{record.exc_info[0].__qualname__}: {text_of(record.exc_info[1])}"))
        self._records.take(
            int(record.created * 1e9),
            next((severity for level, severity in _SEVERITIES if record.levelno >= level), 1),
            record.name,
            message,
            record.pathname,
            record.lineno,
            record.threadName or str(record.thread or ""),
            current_path(),
            fields,
        )


def _with_traceback(record: logging.LogRecord) -> str:
    message = record.getMessage()
    if record.exc_info:
        message = f"{message}\n{_FORMATTER.formatException(record.exc_info)}"
    return f"{message}\n{record.stack_info}" if record.stack_info else message
