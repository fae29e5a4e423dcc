-- A DAC that starts knows who may resume earlier runs of each node: samples of them may still come.

CREATE TABLE former_run (
  node TEXT NOT NULL,
  run TEXT NOT NULL,
  owner BLOB NOT NULL,                  -- SHA-256 of the run's secret
  place INTEGER NOT NULL,               -- from the oldest run to the newest
  PRIMARY KEY (node, run)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 7;
