-- Up Migration

-- What lists ask for. Without these, a list reads all the payments there are, in the database that payouts wait for.

-- The payments of a merchant's customer, in the order of lists.
CREATE INDEX payments_of_user ON payments (user_id, created_at DESC, id) WHERE user_id IS NOT NULL;

-- The few without an outcome, such as those in REVIEW.
CREATE INDEX payments_undecided ON payments (status, created_at DESC, id)
  WHERE status NOT IN ('SUCCESSFUL', 'FAILED', 'EXPIRED');

-- The order of lists, with the status and the kind, so that payments which a list leaves out needn't be read to know it.
CREATE INDEX payments_listed ON payments (created_at DESC, id, status, kind);
CREATE INDEX payments_listed_of_merchant ON payments (merchant, created_at DESC, id, status, kind);

-- Where the events of a time begin: all events before this position are from before this hour. Events are read in the order of their
-- positions, from which their times differ, so that no index on the time says it.
CREATE TABLE event_hours (
  hour timestamptz PRIMARY KEY,
  position bigint NOT NULL
);
CREATE FUNCTION note_event_hour() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_hours (hour, position)
    SELECT hour, NEW.position FROM date_trunc('hour', NEW.at, 'UTC') AS hour
     WHERE hour > coalesce((SELECT max(event_hours.hour) FROM event_hours), '-infinity');
  RETURN NULL;
END
$$;
CREATE TRIGGER note_event_hour AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION note_event_hour();
INSERT INTO event_hours (hour, position)
  SELECT date_trunc('hour', latest_at, 'UTC') AS hour, min(position)
    FROM (SELECT position, max(at) OVER (ORDER BY position) AS latest_at FROM events) AS so_far
    GROUP BY 1;

-- What the above replaces, last: from here until the end of the migration nobody can read these tables.
DROP INDEX events_by_time;
DROP INDEX payments_by_time;
DROP INDEX payments_of_merchant;
