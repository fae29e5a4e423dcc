-- Readers are told what retention has evicted, and a start knows the last time at which the wall clock was trusted.

CREATE TABLE expired (                  -- the samples of an instance that retention has evicted
  node TEXT NOT NULL,
  instance TEXT NOT NULL,
  epoch TEXT NOT NULL,                  -- of the last of them
  from_offset INTEGER NOT NULL,         -- in that epoch
  to_offset INTEGER NOT NULL,
  samples INTEGER NOT NULL,             -- in all epochs
  min_time INTEGER NOT NULL,            -- on the node's clock
  max_time INTEGER NOT NULL,
  PRIMARY KEY (node, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX expired_by_time ON expired (max_time);

CREATE TABLE trusted_time (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot TEXT NOT NULL,                   -- the run of the machine
  since_boot INTEGER NOT NULL,
  wall INTEGER NOT NULL,
  frozen INTEGER NOT NULL               -- whether the wall clock has jumped since, and nobody has confirmed it
) STRICT;

PRAGMA user_version = 4;
