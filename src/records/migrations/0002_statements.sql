-- Up Migration

-- What the provider said that a service holds, at the turn of a day: once for the day that ends and for the one that begins.
CREATE TABLE balances (
  -- The day that begins, in Cameroon.
  day text NOT NULL,
  service text NOT NULL,
  -- In XAF.
  balance bigint NOT NULL,
  asked_at timestamptz NOT NULL,
  PRIMARY KEY (day, service)
);

-- The statements of days. One that is made again is another version, and the earlier ones stay.
CREATE TABLE statements (
  day text NOT NULL,
  version integer NOT NULL,
  -- The run of the workflow that made it: it makes one.
  run_id text NOT NULL UNIQUE,
  made_at timestamptz NOT NULL,
  complete boolean NOT NULL,
  payments integer NOT NULL,
  differences integer NOT NULL,
  -- The statement as JSON, encrypted.
  content bytea NOT NULL,
  PRIMARY KEY (day, version)
);

-- What a run has come to so far, encrypted, so that another worker can go on with it. It is deleted when the statement is made.
CREATE TABLE statement_parts (
  run_id text NOT NULL,
  name text NOT NULL,
  content bytea NOT NULL,
  saved_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, name)
);
