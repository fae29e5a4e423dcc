"""Log records of the standard library's `logging` as samples of the ready-made `log` type (pdl/instrument/log.pdl).

builder = NodeBuilder("machine")
logging.getLogger().addHandler(Handler(builder))
with builder.start("127.0.0.1:7071"):
    logging.warning("pressure is high", extra={"bar": 8.1})
"""

from __future__ import annotations

import logging

from oasis import _native
from oasis.node import NodeBuilder
from oasis.spans import current_path, text_of

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


class Handler(logging.Handler):
    """Turns log records into samples of a node. Logging never waits: a record without room is dropped and counted, and the DAC reports the loss.

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
        """Add the instance to a node that has not started yet.

        Raises ValueError if the node has an instance of this name.
        """
        super().__init__(level)
        self._plan = builder.plan
        self._instance = instance
        self._ring_bytes = ring_bytes
        self._native: _native.Logger
        self._plan.add(self._add_to)

    def _add_to(self, native: _native.NodeBuilder) -> None:
        self._native = _native.Logger(native, self._instance, self._ring_bytes)

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
        if record.name == "oasis" or record.name.startswith("oasis.") or not self._native.is_enabled():
            return
        try:
            self._log(record)
        except Exception:
            self.handleError(record)

    def _log(self, record: logging.LogRecord) -> None:
        # A formatter of the handler decides the text of the record.
        message = self.format(record) if self.formatter is not None else _with_traceback(record)
        fields = [(name, text_of(value)) for name, value in vars(record).items() if name not in _USUAL]
        if record.exc_info is not None and record.exc_info[0] is not None:
            fields.append(("exception", f"{record.exc_info[0].__qualname__}: {text_of(record.exc_info[1])}"))
        values = (
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
        try:
            self._native.log(*values)
        except _native.ForkedError:
            self._plan.renew()
            self._native.log(*values)


def _with_traceback(record: logging.LogRecord) -> str:
    message = record.getMessage()
    if record.exc_info:
        message = f"{message}\n{_FORMATTER.formatException(record.exc_info)}"
    return f"{message}\n{record.stack_info}" if record.stack_info else message
