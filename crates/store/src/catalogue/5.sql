-- Retention by size knows how many bytes each instance has in a file.

ALTER TABLE extent ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- Of files that are listed already, by their samples.
UPDATE extent SET bytes = (
  SELECT segment.bytes / max(segment.samples, 1) * extent.samples FROM segment WHERE segment.number = extent.segment);

PRAGMA user_version = 5;
