-- A DAC that starts knows who may resume the last run of each node.

ALTER TABLE node ADD COLUMN run TEXT;
ALTER TABLE node ADD COLUMN owner BLOB;   -- SHA-256 of the run's secret

PRAGMA user_version = 5;
