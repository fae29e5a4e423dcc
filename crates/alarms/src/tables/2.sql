-- The connection of a node under which the alarms here are: of two DACs, the one with the later connection has them.
CREATE TABLE home (
    node TEXT PRIMARY KEY,
    run BLOB NOT NULL,
    -- Number of the connection in the run; null if the node does not count them.
    attach INTEGER,
    -- When it came, on the DAC's clock.
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX home_since ON home (since);
PRAGMA user_version = 2;
