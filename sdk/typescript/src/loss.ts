// Generated from crates/wire/src/loss.rs: OASIS_UPDATE_LOSS=1 cargo test -p oasis-wire --test integration loss::

/** Why samples are missing: docs/reference/loss.md. */
export type Cause =
  | 'ring_full'
  | 'spool_full'
  | 'invalid_row'
  | 'not_taken'
  | 'kept_back'
  | 'node_dropped'
  | 'node_restart'
  | 'network'
  | 'before_epoch'
  | 'other_dac'
  | 'epoch_changed'
  | 'log_retention'
  | 'latest'
  | 'unreadable'
  | 'archive_lag'
  | 'archive_stopped'
  | 'disk_full'
  | 'disk_error'
  | 'archive_retention'
  | 'copy_lag'
  | 'copy_refused'
  | 'damaged'
  | 'read_error'
  | 'not_recorded'
  | 'unexplained';

/** A cause and what is known about it. */
export interface LossCause {
  readonly cause: Cause;
  /** Where samples went missing. */
  readonly place: string;
  /** Whether samples were lost against somebody's wish. */
  readonly isLoss: boolean;
  /** For people, without a full stop. */
  readonly meaning: string;
}

/** All causes, in the order in which a sample meets them. */
export const LOSS_CAUSES: readonly LossCause[] = [
  {
    cause: 'ring_full',
    place: 'node',
    isLoss: true,
    meaning: "the probe's ring was full",
  },
  {
    cause: 'spool_full',
    place: 'node',
    isLoss: true,
    meaning: "the node's spool was full, or its file is damaged",
  },
  {
    cause: 'invalid_row',
    place: 'node',
    isLoss: true,
    meaning: 'their rows did not fit their schema, or were too long for the ring or a batch',
  },
  {
    cause: 'not_taken',
    place: 'node',
    isLoss: true,
    meaning: 'the node did not call its probe for a second or more: it was stopped, or its host was busy',
  },
  {
    cause: 'kept_back',
    place: 'node',
    isLoss: false,
    meaning: "the probe's flight recorder kept them back because no trigger fired near them",
  },
  {
    cause: 'node_dropped',
    place: 'node',
    isLoss: true,
    meaning: 'the node did not take or dropped them; which of its causes it was is not known',
  },
  {
    cause: 'node_restart',
    place: 'node',
    isLoss: true,
    meaning: "the node's process ended before it could send them",
  },
  {
    cause: 'network',
    place: 'channel',
    isLoss: true,
    meaning: 'they were sent as datagrams, or by a device to its gateway, and did not arrive',
  },
  {
    cause: 'before_epoch',
    place: 'DAC',
    isLoss: true,
    meaning: 'they were delivered to an earlier run of the DAC, or to another DAC before the node came here',
  },
  {
    cause: 'other_dac',
    place: 'DAC',
    isLoss: false,
    meaning: 'they were delivered to another DAC while the node was there',
  },
  {
    cause: 'epoch_changed',
    place: 'DAC',
    isLoss: true,
    meaning: "the reader's position belongs to an earlier run of the DAC, and no archive has its samples",
  },
  {
    cause: 'log_retention',
    place: 'reader',
    isLoss: true,
    meaning: 'the topic log had evicted them when the reader asked for them',
  },
  {
    cause: 'latest',
    place: 'reader',
    isLoss: false,
    meaning: 'the reader asked for the newest sample only',
  },
  {
    cause: 'unreadable',
    place: 'reader',
    isLoss: true,
    meaning: 'their bytes do not fit their schema',
  },
  {
    cause: 'archive_lag',
    place: 'archive',
    isLoss: true,
    meaning: 'the topic log evicted them before the archive had read them',
  },
  {
    cause: 'archive_stopped',
    place: 'archive',
    isLoss: true,
    meaning: 'the archive was stopped, and the topic log evicted them meanwhile',
  },
  {
    cause: 'disk_full',
    place: 'archive',
    isLoss: true,
    meaning: "the archive's disk was full, and the topic log evicted them meanwhile",
  },
  {
    cause: 'disk_error',
    place: 'archive',
    isLoss: true,
    meaning: "the archive's disk failed, and the topic log evicted them meanwhile",
  },
  {
    cause: 'archive_retention',
    place: 'archive',
    isLoss: true,
    meaning: 'the archive evicted them by its retention rules',
  },
  {
    cause: 'copy_lag',
    place: 'copy',
    isLoss: true,
    meaning: 'the topic log evicted them before NATS JetStream had acknowledged a copy',
  },
  {
    cause: 'copy_refused',
    place: 'copy',
    isLoss: true,
    meaning: 'NATS JetStream takes no message of this size',
  },
  {
    cause: 'damaged',
    place: 'archive',
    isLoss: true,
    meaning: 'their bytes on the disk are not the bytes that were written',
  },
  {
    cause: 'read_error',
    place: 'archive',
    isLoss: true,
    meaning: 'the disk failed to read them; another attempt may succeed',
  },
  {
    cause: 'not_recorded',
    place: 'channel',
    isLoss: false,
    meaning: 'the recording that is replayed does not contain them',
  },
  {
    cause: 'unexplained',
    place: 'unknown',
    isLoss: true,
    meaning: 'no part of OASIS accounts for them: please report this',
  },
];

const former = new Map<string, Cause>([
  ['dropped_ring', 'ring_full'],
  ['dropped_spool', 'spool_full'],
  ['invalid', 'invalid_row'],
  ['archive_behind', 'archive_lag'],
  ['unknown', 'unexplained'],
]);

const causes = new Map<string, LossCause>(LOSS_CAUSES.map((entry) => [entry.cause, entry]));

/** The cause with this word or this former word; undefined for any other word. */
export function lossCause(word: string): LossCause | undefined {
  return causes.get(former.get(word) ?? word);
}
