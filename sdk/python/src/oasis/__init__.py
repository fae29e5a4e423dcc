"""What Python code generated from OASIS probe definitions (PDL) needs to write and read samples.

A generated probe class is a `Probe`: it writes itself to a `Writer` and reads itself from a `Reader`. `RowWriter` and
`RowReader` make packed rows, which is how samples lie inside a node; `CdrWriter` and `CdrReader` make the Common Data
Representation, which is how they lie in an EISA packet (`oasis.eisa`). `span` times a piece of work.

`watch` takes samples without a declaration, and `probe` declares a dataclass: both need no PDL.

`live` iterates over samples of a running DAC, `history` makes a table of what was recorded; both need numpy.
"""

from oasis.cdr import ByteOrder, CdrReader, CdrWriter
from oasis.declare import Alarm, As, Doc, Kind, Label, Range, Unit, Warn, probe
from oasis.door import DacError
from oasis.errors import (
    DecodeError,
    EncodeError,
    Fault,
    NodeEndedWarning,
    OasisError,
    RefusedWarning,
    SampleTooLongWarning,
)
from oasis.history import MissingSamplesWarning, history
from oasis.live import Batch, Gap, live
from oasis.probe import Probe, Struct
from oasis.reader import Reader
from oasis.row import RowReader, RowWriter
from oasis.spans import Span, span
from oasis.watch import watch
from oasis.writer import Writer

__all__ = [
    "Alarm",
    "As",
    "Batch",
    "ByteOrder",
    "CdrReader",
    "CdrWriter",
    "DacError",
    "DecodeError",
    "Doc",
    "EncodeError",
    "Fault",
    "Gap",
    "Kind",
    "Label",
    "MissingSamplesWarning",
    "NodeEndedWarning",
    "OasisError",
    "Probe",
    "Range",
    "Reader",
    "RefusedWarning",
    "RowReader",
    "RowWriter",
    "SampleTooLongWarning",
    "Span",
    "Struct",
    "Unit",
    "Warn",
    "Writer",
    "history",
    "live",
    "probe",
    "span",
    "watch",
]
