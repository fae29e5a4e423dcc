-- The next gap behind an offset is found without reading those before it, or sorting those behind.

DROP INDEX gap_of_series;
CREATE INDEX gap_by_offset ON gap (series, to_offset);

PRAGMA user_version = 3;
