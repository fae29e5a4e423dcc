-- Test runs and annotations say who wrote them, annotations also when and of what; losses are what the DAC's ledgers told.

ALTER TABLE test_run ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE annotation ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE annotation ADD COLUMN written INTEGER NOT NULL DEFAULT 0;

CREATE INDEX annotation_by_time ON annotation (time);

CREATE TABLE annotation_target (        -- what an annotation is about; one without any is about everything
  annotation INTEGER NOT NULL REFERENCES annotation ON DELETE CASCADE,
  number INTEGER NOT NULL,
  node TEXT NOT NULL,
  instance TEXT,                        -- none: the whole node
  PRIMARY KEY (annotation, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE loss (                     -- sequence numbers that never reached the DAC's logs
  node TEXT NOT NULL,
  instance TEXT NOT NULL,
  run TEXT NOT NULL,
  from_sequence INTEGER NOT NULL,
  to_sequence INTEGER NOT NULL,         -- inclusive
  cause TEXT NOT NULL,
  time INTEGER NOT NULL,                -- when the DAC noticed
  PRIMARY KEY (node, instance, run, from_sequence)
) STRICT, WITHOUT ROWID;

CREATE INDEX loss_by_time ON loss (time);

PRAGMA user_version = 2;
