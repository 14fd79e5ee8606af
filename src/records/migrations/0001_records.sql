-- Up Migration

-- The latest of each payment. Its id follows from the Idempotency-Key: as long as the row is here, the key holds.
CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  merchant text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  final boolean NOT NULL,
  -- In XAF.
  amount bigint NOT NULL,
  trans_id text,
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
  -- The payment, its state and its timeline as JSON, encrypted; null when they could not be read.
  content bytea,
  recorded_at timestamptz NOT NULL,
  -- When the payer's personal data was erased from it.
  erased_at timestamptz
);
CREATE INDEX payments_by_time ON payments (created_at DESC, id);
CREATE INDEX payments_of_merchant ON payments (merchant, created_at DESC, id);
CREATE INDEX payments_by_trans_id ON payments (trans_id);
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
CREATE INDEX events_by_time ON events (merchant, at);

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
