"""Files as values: written and read in rows and packets, up to their bound."""

import pytest

from oasis.cdr import CdrReader, CdrWriter
from oasis.errors import DecodeError, EncodeError, Fault
from oasis.row import RowReader, RowWriter

FORMS = [(RowWriter, RowReader), (CdrWriter, CdrReader)]


@pytest.mark.parametrize(("writer", "reader"), FORMS)
def test_a_file_is_read_as_it_was_written(writer, reader):
    for size in (0, 1, 127, 128, 300):
        image = bytes(range(256)) * 2
        to = writer()
        to.blob(image[:size], 300, "Camera.image")
        source = reader(to.getvalue())
        assert source.blob(300) == image[:size]
        source.finish()


@pytest.mark.parametrize(("writer", "reader"), FORMS)
def test_a_file_beyond_its_bound_is_refused(writer, reader):
    to = writer()
    with pytest.raises(EncodeError, match="a file of 5 bytes: at most 4 are allowed"):
        to.blob(b"12345", 4, "Camera.image")
    to = writer()
    to.blob(b"12345", 5, "Camera.image")
    with pytest.raises(DecodeError) as refused:
        reader(to.getvalue()).blob(4)
    assert refused.value.fault is Fault.BLOB


def test_only_bytes_are_a_file():
    with pytest.raises(EncodeError):
        RowWriter().blob("text", 9, "Camera.image")
