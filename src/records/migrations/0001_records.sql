-- Up Migration

-- The latest of each payment. Its id follows from the Idempotency-Key: as long as the row is here, the key holds.
CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  merchant text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  final boolean NOT NULL,
  -- What was ordered, in XAF.
  amount bigint NOT NULL,
  -- What has moved of a SUCCESSFUL payment, in XAF; null where the provider hasn't said.
  amount_paid bigint,
  trans_id text,
  -- The mobile operator's reference, which a payer reads out from the text message. Temporal's index doesn't have it.
  financial_trans_id text,
  external_id text,
  user_id text,
  created_at timestamptz NOT NULL,
  -- The run of its workflow that this was read from.
  run_id text NOT NULL,
  run_started_at timestamptz NOT NULL,
  -- When that run ended; null while it was open.
  closed_at timestamptz,
  -- An operator stopped it, or it failed: it left no state.
  stopped boolean NOT NULL,
  -- Keyed hashes of the phone number and the e-mail address, to find what one payer has paid.
  payers bytea[] NOT NULL DEFAULT '{}',
  -- The payment's state and timeline as JSON, encrypted (payment-content.ts); null when they could not be read.
  content bytea,
  recorded_at timestamptz NOT NULL,
  -- When the payer's personal data was erased from it.
  erased_at timestamptz
);

-- The order of lists, with the status and the kind, so that payments which a list leaves out needn't be read to know
-- it.
CREATE INDEX payments_listed ON payments (created_at DESC, id, status, kind);
CREATE INDEX payments_listed_of_merchant ON payments (merchant, created_at DESC, id, status, kind);
CREATE INDEX payments_of_user ON payments (user_id, created_at DESC, id) WHERE user_id IS NOT NULL;
-- The few without an outcome, such as those in REVIEW, and the few whose outcome isn't certain.
CREATE INDEX payments_undecided ON payments (status, created_at DESC, id)
  WHERE status NOT IN ('SUCCESSFUL', 'FAILED', 'EXPIRED');
CREATE INDEX payments_not_final ON payments (created_at DESC, id) WHERE NOT final;
CREATE INDEX payments_by_trans_id ON payments (trans_id);
CREATE INDEX payments_by_financial_trans_id ON payments (financial_trans_id);
CREATE INDEX payments_by_external_id ON payments (external_id);
CREATE INDEX payments_by_payer ON payments USING gin (payers);

-- What merchants are notified of, in the order in which it was recorded.
CREATE TABLE events (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  payment_id text COLLATE "C" NOT NULL REFERENCES payments (id),
  merchant text NOT NULL,
  type text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX events_of_merchant ON events (merchant, position);
CREATE INDEX events_by_type ON events (merchant, type, position);

-- Where the events of a time begin: all events before this position are from before this hour. Events are read in the
-- order of their positions, from which their times differ, so that no index on the time says it.
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

-- The ids of the encryption keys that hashes of payers were made with.
CREATE TABLE payer_keys (
  id text PRIMARY KEY
);

-- Payers whose data was erased: payments of theirs from before that time are recorded without it.
CREATE TABLE erasures (
  payer bytea NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX erasures_of_payer ON erasures (payer);

-- One row: which recorder is at work until when, and up to when all payments that have ended are recorded.
CREATE TABLE recorder (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  holder text,
  held_until timestamptz,
  recorded_until timestamptz
);
INSERT INTO recorder DEFAULT VALUES;

-- What the provider said that a service holds, at the turn of a day: once for the day that ends and for the one that
-- begins.
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
  PRIMARY KEY (day, version)
);

-- A statement in pieces, each as JSON, encrypted (statement-content.ts): whole, a busy day's would hold up a process.
CREATE TABLE statement_pieces (
  run_id text NOT NULL REFERENCES statements (run_id),
  number integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (run_id, number)
);

-- What a run has come to so far, encrypted, so that another worker can go on with it. It is deleted when the statement
-- is made.
CREATE TABLE statement_parts (
  run_id text NOT NULL,
  name text NOT NULL,
  content bytea NOT NULL,
  saved_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, name)
);
