"""Why samples are missing.

Generated from crates/wire/src/loss.rs: OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::
"""

from __future__ import annotations

from enum import Enum


class Cause(str, Enum):
    """Why samples are missing: docs/reference/loss.md."""

    RING_FULL = "ring_full"
    """The probe's ring was full."""
    SPOOL_FULL = "spool_full"
    """The node's spool was full, or its file is damaged."""
    INVALID_ROW = "invalid_row"
    """Their rows did not fit their schema, or were too long for the ring or a batch."""
    NOT_TAKEN = "not_taken"
    """The node did not call its probe for a second or more: it was stopped, or its host was busy."""
    KEPT_BACK = "kept_back"
    """The probe's flight recorder kept them back because no trigger fired near them."""
    NODE_DROPPED = "node_dropped"
    """The node did not take or dropped them; which of its causes it was is not known."""
    NODE_RESTART = "node_restart"
    """The node's process ended before it could send them."""
    NETWORK = "network"
    """They were sent as datagrams, or by a device to its gateway, and did not arrive."""
    BEFORE_EPOCH = "before_epoch"
    """They were delivered to an earlier run of the DAC, or to another DAC before the node came here."""
    OTHER_DAC = "other_dac"
    """They were delivered to another DAC while the node was there."""
    EPOCH_CHANGED = "epoch_changed"
    """The reader's position belongs to an earlier run of the DAC, and no archive has its samples."""
    LOG_RETENTION = "log_retention"
    """The topic log had evicted them when the reader asked for them."""
    LATEST = "latest"
    """The reader asked for the newest sample only."""
    UNREADABLE = "unreadable"
    """Their bytes do not fit their schema."""
    ARCHIVE_LAG = "archive_lag"
    """The topic log evicted them before the archive had read them."""
    ARCHIVE_STOPPED = "archive_stopped"
    """The archive was stopped, and the topic log evicted them meanwhile."""
    DISK_FULL = "disk_full"
    """The archive's disk was full, and the topic log evicted them meanwhile."""
    DISK_ERROR = "disk_error"
    """The archive's disk failed, and the topic log evicted them meanwhile."""
    ARCHIVE_RETENTION = "archive_retention"
    """The archive evicted them by its retention rules."""
    COPY_LAG = "copy_lag"
    """The topic log evicted them before NATS JetStream had acknowledged a copy."""
    COPY_REFUSED = "copy_refused"
    """NATS JetStream takes no message of this size."""
    DAMAGED = "damaged"
    """Their bytes on the disk are not the bytes that were written."""
    READ_ERROR = "read_error"
    """The disk failed to read them; another attempt may succeed."""
    NOT_RECORDED = "not_recorded"
    """The recording that is replayed does not contain them."""
    UNEXPLAINED = "unexplained"
    """No part of OASIS accounts for them: please report this."""

    @classmethod
    def of(cls, word: str) -> Cause:
        """Return the cause with this word or this former word; UNEXPLAINED for any other word."""
        if word in _FORMER:
            return _FORMER[word]
        return cls._value2member_map_.get(word, cls.UNEXPLAINED)  # type: ignore[return-value]


_FORMER = {
    "dropped_ring": Cause.RING_FULL,
    "dropped_spool": Cause.SPOOL_FULL,
    "invalid": Cause.INVALID_ROW,
    "archive_behind": Cause.ARCHIVE_LAG,
    "unknown": Cause.UNEXPLAINED,
}
