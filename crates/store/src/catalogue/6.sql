-- Retention by size knows how many bytes each instance has in a file, and extreme times neither match pins nor extend ranges.

ALTER TABLE extent ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- Of files that are listed already, by their samples.
UPDATE extent SET bytes = (
  SELECT segment.bytes / max(segment.samples, 1) * extent.samples FROM segment WHERE segment.number = extent.segment);

-- Bounds of the plausible times of its samples; none if there are no such samples.
ALTER TABLE extent ADD COLUMN plausible_min INTEGER;
ALTER TABLE extent ADD COLUMN plausible_max INTEGER;
UPDATE extent SET plausible_min = min_time, plausible_max = max_time;

PRAGMA user_version = 6;
