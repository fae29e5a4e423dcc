-- Newer states of an alarm replace older ones that wait, and the most severe are sent first.
ALTER TABLE message ADD COLUMN rule TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN instance TEXT NOT NULL DEFAULT '';
-- 0 (low) to 3 (critical).
ALTER TABLE message ADD COLUMN severity INTEGER NOT NULL DEFAULT 0;
-- When the first state was written that the destination has not received.
ALTER TABLE message ADD COLUMN waiting_since INTEGER NOT NULL DEFAULT 0;
-- States that it has replaced.
ALTER TABLE message ADD COLUMN coalesced INTEGER NOT NULL DEFAULT 0;
UPDATE message SET
    rule = alarm ->> 'rule',
    node = alarm ->> 'node',
    instance = alarm ->> 'instance',
    severity = CASE alarm ->> 'severity' WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'high' THEN 2 ELSE 3 END,
    waiting_since = written;
CREATE INDEX message_urgency ON message (destination, severity DESC, waiting_since, id);
CREATE INDEX message_alarm ON message (destination, rule, node, instance, id);
CREATE INDEX message_due ON message (destination, due);
CREATE INDEX message_since ON message (destination, waiting_since);
ALTER TABLE destination ADD COLUMN coalesced INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 3;
