-- The archive's catalogue: what there is and where. Samples lie in segment files, which it can be made from again;
-- only test runs, annotations and commands are here alone.

CREATE TABLE node (
  name TEXT PRIMARY KEY,
  uuid TEXT NOT NULL,
  host TEXT NOT NULL,
  software TEXT NOT NULL,
  last_seen INTEGER NOT NULL            -- nanoseconds since 1970, as all times here
) STRICT;

CREATE TABLE type (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  schema TEXT NOT NULL UNIQUE           -- docs/reference/schema.md: what its PDL says
) STRICT;

CREATE TABLE instance (
  id INTEGER PRIMARY KEY,
  node TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (node, name)
) STRICT;

CREATE TABLE series (                   -- one instance in one run of its node and one epoch of the DAC
  id INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL REFERENCES instance,
  type INTEGER NOT NULL REFERENCES type,
  kind TEXT NOT NULL,
  run TEXT NOT NULL,
  epoch TEXT NOT NULL,
  UNIQUE (instance, epoch, run, type)
) STRICT;

CREATE TABLE segment (                  -- sealed segment files
  number INTEGER PRIMARY KEY,
  rule TEXT NOT NULL,                   -- the pattern of the retention rule that it was written under
  created INTEGER NOT NULL,
  sealed INTEGER NOT NULL,              -- nothing in it was received later
  bytes INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  min_time INTEGER NOT NULL,            -- of its samples, on the nodes' clocks
  max_time INTEGER NOT NULL
) STRICT;

CREATE TABLE extent (                   -- a series' share of a segment file
  segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
  number INTEGER NOT NULL,              -- of the series in the file's index
  series INTEGER NOT NULL REFERENCES series,
  first_offset INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  min_time INTEGER NOT NULL,
  max_time INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  PRIMARY KEY (segment, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX extent_of_series ON extent (series, segment);

CREATE TABLE gap (                      -- offsets that were not stored
  segment INTEGER NOT NULL REFERENCES segment ON DELETE CASCADE,
  series INTEGER NOT NULL REFERENCES series,
  from_offset INTEGER NOT NULL,
  to_offset INTEGER NOT NULL,
  cause TEXT NOT NULL,
  time INTEGER NOT NULL
) STRICT;

CREATE INDEX gap_of_series ON gap (series);

CREATE TABLE damage (                   -- bytes of segment files that are not what was written
  segment INTEGER NOT NULL,
  from_byte INTEGER NOT NULL,
  to_byte INTEGER NOT NULL,
  kind TEXT NOT NULL,                   -- torn_tail or damaged
  found INTEGER NOT NULL
) STRICT;

CREATE TABLE test_run (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  started INTEGER NOT NULL,
  stopped INTEGER,
  notes TEXT NOT NULL,
  pinned INTEGER NOT NULL
) STRICT;

CREATE TABLE test_run_tag (
  test_run INTEGER NOT NULL REFERENCES test_run ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (test_run, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotation (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  until INTEGER,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE command (                  -- sent to probes
  epoch TEXT NOT NULL,
  number INTEGER NOT NULL,
  time INTEGER NOT NULL,
  who TEXT NOT NULL,
  node TEXT NOT NULL,
  instance TEXT NOT NULL,
  command TEXT NOT NULL,                -- JSON
  outcome TEXT NOT NULL,
  PRIMARY KEY (epoch, number)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
