-- Times are nanoseconds since 1970; numbers above 2^63 wrap. Numbers of booleans are 0 and 1.

-- A rule for an instance.
CREATE TABLE alarm (
    rule TEXT NOT NULL,
    node TEXT NOT NULL,
    instance TEXT NOT NULL,
    -- Of its last change; unique.
    revision INTEGER NOT NULL,
    state TEXT NOT NULL,
    acknowledged INTEGER NOT NULL,
    severity TEXT NOT NULL,
    known INTEGER NOT NULL,
    message TEXT,
    value REAL,
    threshold REAL,
    unit TEXT,
    since INTEGER,
    raised INTEGER,
    cleared INTEGER,
    sequence INTEGER,
    cause TEXT,
    shelved_until INTEGER,
    -- How long the shelve was to last.
    shelved_nanos INTEGER,
    shelved_once INTEGER NOT NULL,
    suppressed INTEGER NOT NULL,
    out_of_service INTEGER NOT NULL,
    comment TEXT,
    principal TEXT,
    -- Whether the last message about it said that it stands.
    told INTEGER NOT NULL,
    -- When it was raised, on the DAC's clock.
    raised_dac INTEGER,
    PRIMARY KEY (rule, node, instance)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The identity of a rule's event; null for what the DAC or an operator did.
    key BLOB,
    time INTEGER NOT NULL,
    dac_time INTEGER NOT NULL,
    written INTEGER NOT NULL,
    rule TEXT NOT NULL,
    node TEXT NOT NULL,
    instance TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT,
    severity TEXT,
    known INTEGER NOT NULL,
    value REAL,
    threshold REAL,
    unit TEXT,
    sequence INTEGER,
    since INTEGER,
    missing INTEGER,
    cause TEXT,
    late INTEGER NOT NULL,
    principal TEXT,
    comment TEXT,
    -- What it counts for the bound of the journal.
    bytes INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_key ON journal (key) WHERE key IS NOT NULL;
CREATE INDEX journal_instance ON journal (node, instance, id);
CREATE INDEX journal_rule ON journal (rule, id);
CREATE INDEX journal_kind ON journal (kind, id);
CREATE INDEX journal_time ON journal (time);
CREATE INDEX journal_raised ON journal (written) WHERE kind = 'raised';

-- How far a rule has got with an instance, and what it remembers.
CREATE TABLE checkpoint (
    rule TEXT NOT NULL,
    node TEXT NOT NULL,
    instance TEXT NOT NULL,
    rule_hash TEXT NOT NULL,
    run BLOB,
    sequence INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    dac_time INTEGER NOT NULL,
    state BLOB NOT NULL,
    UNIQUE (rule, node, instance)
) STRICT;

-- Messages that wait for delivery.
CREATE TABLE message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL,
    destination TEXT NOT NULL,
    kind TEXT NOT NULL,
    -- JSON.
    alarm TEXT NOT NULL,
    written INTEGER NOT NULL,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX message_destination ON message (destination, id);

CREATE TABLE destination (
    name TEXT PRIMARY KEY,
    delivered INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    given_up INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    last_error TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter VALUES ('revision', 0), ('journal_removed', 0);

PRAGMA user_version = 1;
