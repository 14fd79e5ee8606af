-- Up Migration

-- All times are the callers' own: the database's clock decides nothing. Locks are taken in this order: a payment's
-- state, the state of the collection that it refunds, the merchant's day.

-- What payments are searched, listed and summed by, changed only where it differs. An id follows from the merchant's
-- Idempotency-Key, so a row is never deleted: its key would pay again.
CREATE TABLE payments (
  id text COLLATE "C" PRIMARY KEY,
  merchant text NOT NULL,
  kind text NOT NULL,
  method text NOT NULL,
  -- A digest of the request, to tell a repeated one from another under the same key.
  fingerprint text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,
  status text NOT NULL,
  final boolean NOT NULL,
  held_for text[] NOT NULL DEFAULT '{}',
  -- Since when it has waited for a person or its date, and until when; null unless it is in REVIEW, or held.
  waits_since timestamptz,
  waits_until timestamptz,
  send_at timestamptz,
  released_at timestamptz,
  -- XAF: what was ordered, and what has moved of a SUCCESSFUL payment.
  amount bigint NOT NULL CHECK (amount > 0),
  amount_paid bigint,
  trans_id text,
  financial_trans_id text,
  external_id text COLLATE "C",
  user_id text,
  -- Digests of the payer's phone number and e-mail address, to find what one payer has paid; the key they are made with.
  payers bytea[] NOT NULL DEFAULT '{}',
  payers_key text,
  -- When the payer's personal data was erased from it.
  erased_at timestamptz,
  refund_of text COLLATE "C" REFERENCES payments (id),
  -- What it takes of its collection's room, and of its merchant's limit for a day; XAF. Nothing once it has ended
  -- without having been sent, and all of its attempts are closed.
  refund_counts bigint NOT NULL DEFAULT 0 CHECK (refund_counts >= 0),
  day_counts bigint NOT NULL DEFAULT 0 CHECK (day_counts >= 0),
  -- The day in Cameroon that it counts on, such as 2026-11-28: that of its order or its date, and then of its sending.
  counts_on text
);
CREATE INDEX payments_listed ON payments (created_at DESC, id, status, kind, amount);
CREATE INDEX payments_listed_of_merchant ON payments (merchant, created_at DESC, id, status, kind, amount);
CREATE INDEX payments_open ON payments (created_at DESC, id, status, merchant) WHERE NOT final;
-- One transaction pays one payment, whatever the provider leaves out.
CREATE UNIQUE INDEX payments_by_trans_id ON payments (trans_id) WHERE trans_id IS NOT NULL;
CREATE INDEX payments_by_financial_trans_id ON payments (financial_trans_id) WHERE financial_trans_id IS NOT NULL;
CREATE INDEX payments_by_external_id ON payments (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX payments_by_user_id ON payments (user_id) WHERE user_id IS NOT NULL;
-- Held payouts belong to the statement of the day of their release.
CREATE INDEX payments_released ON payments (released_at) WHERE released_at IS NOT NULL;
CREATE INDEX payments_by_payer ON payments USING gin (payers);
CREATE INDEX payments_by_payers_key ON payments (payers_key) WHERE payers_key IS NOT NULL;
CREATE INDEX payments_by_refund_of ON payments (refund_of) WHERE refund_of IS NOT NULL;
CREATE INDEX payments_counted ON payments (merchant, counts_on) WHERE day_counts > 0;

-- The payment's state, changed by each turn, apart from what is listed: its rows are rewritten in place.
CREATE TABLE states (
  id text COLLATE "C" PRIMARY KEY REFERENCES payments (id),
  -- Goes up with every change.
  version integer NOT NULL,
  -- Names what is under way: an answer that names anything else is dropped. Null: nothing is. No number comes twice,
  -- not even after the book went back.
  asked bigint,
  -- The number of the attempt to send that is under way, or comes next.
  attempt integer NOT NULL,
  -- The time of the latest change: an answer from before it counts as one of then.
  changed_at timestamptz NOT NULL,
  -- When something is due; null: nothing is, ever.
  wake_at timestamptz,
  -- When it was last rung because something was overdue.
  rung_at timestamptz,
  -- The state, the timeline and what to do next, bound to this id and version.
  sealed bytea NOT NULL
) WITH (fillfactor = 60);
ALTER TABLE states ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX states_due ON states (wake_at) WHERE wake_at IS NOT NULL;

-- The fence: a request for money leaves only once its row is committed, and a row is written once. Who doubts an
-- attempt writes its row as closed.
CREATE TABLE sends (
  payment_id text COLLATE "C" NOT NULL REFERENCES states (id),
  attempt integer NOT NULL,
  -- Names who wrote the fence, and nobody else, not even one who makes the same attempt. Null: nobody did, and it
  -- never left.
  hand bigint,
  at timestamptz NOT NULL,
  -- What became of the request; null while that isn't known. Closed: it never left, and never will.
  outcome text,
  sealed bytea,
  -- A turn has taken the outcome.
  taken boolean NOT NULL DEFAULT false,
  PRIMARY KEY (payment_id, attempt),
  CHECK (hand IS NOT NULL OR outcome IS NOT NULL)
);
CREATE INDEX sends_untaken ON sends (payment_id) WHERE outcome IS NOT NULL AND NOT taken;

-- What others tell a payment or ask of it. A signal says only that there is something here.
CREATE TABLE inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id text COLLATE "C" NOT NULL REFERENCES states (id),
  at timestamptz NOT NULL,
  sealed bytea NOT NULL,
  -- The version of the state that it was taken into; null until then.
  taken_in integer,
  -- The answer, committed with what it says.
  reply bytea
);
CREATE INDEX inbox_untaken ON inbox (payment_id, id) WHERE taken_in IS NULL;
CREATE INDEX inbox_of_payment ON inbox (payment_id);

-- Every name that a merchants' file has had for a key: one person's other keys don't do what takes another person. A row
-- is only ever added.
CREATE TABLE people (
  merchant text NOT NULL,
  -- Without what people write otherwise: case, accents, separators.
  name text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (key_id, name, merchant)
);
CREATE INDEX people_by_name ON people (name, since);

-- What merchants are notified of, written with the state that it tells.
CREATE TABLE notifications (
  payment_id text COLLATE "C" NOT NULL REFERENCES states (id),
  number integer NOT NULL,
  merchant text NOT NULL,
  type text NOT NULL,
  at timestamptz NOT NULL,
  -- When the book had last gone back by then, in seconds since the epoch; 0 if never. It is a part of the `webhook-id`,
  -- which thus names one event for ever.
  era bigint NOT NULL,
  -- Its place in the merchant's feed, given once it is committed: places become visible in their order.
  position bigint UNIQUE,
  -- 'due' until its merchant has it ('delivered'), had no address for it ('noAddress'), or didn't take it for three
  -- days ('abandoned').
  delivery text NOT NULL DEFAULT 'due',
  -- When it is tried next; while it is tried, when others may take it for lost. Null once it isn't due.
  due_at timestamptz,
  -- The try that is under way: nobody else may say how it ended.
  attempt text,
  tries integer NOT NULL DEFAULT 0,
  first_tried_at timestamptz,
  last_tried_at timestamptz,
  last_error text,
  -- The endpoints that have acknowledged it, where others haven't.
  taken_by text[] NOT NULL DEFAULT '{}',
  ended_at timestamptz,
  PRIMARY KEY (payment_id, number)
);
CREATE INDEX notifications_unplaced ON notifications (at, payment_id, number) WHERE position IS NULL;
CREATE INDEX notifications_placed ON notifications (at) WHERE position IS NOT NULL;
CREATE INDEX notifications_of_merchant ON notifications (merchant, position);
CREATE INDEX notifications_due ON notifications (merchant, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notifications_abandoned ON notifications (merchant) WHERE delivery = 'abandoned';

-- What a merchant's payouts of a day take of its limit; XAF. The payments that count on it are its audit.
CREATE TABLE days (
  merchant text NOT NULL,
  day text NOT NULL,
  total bigint NOT NULL,
  PRIMARY KEY (merchant, day)
);

-- One row: how often the book was compared with what Temporal knows of it, and when last. A number that Temporal was
-- told and the book doesn't have shows that the book went back.
CREATE TABLE beats (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  number bigint NOT NULL DEFAULT 0,
  at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO beats DEFAULT VALUES;

-- When the book was found to have gone back: what it says of the time before may be incomplete.
CREATE TABLE gaps (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  -- What has shown it.
  found text NOT NULL
);

-- The provider's notifications that match no payment or can't be read, and transactions that no payment knows.
CREATE TABLE unmatched (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  trans_id text,
  status text,
  -- A digest of what it says: the same is kept once.
  said bytea,
  -- What may be personal: another system's externalId, or the beginning of one that can't be read.
  sealed bytea NOT NULL,
  is_unread boolean NOT NULL,
  -- The day whose statement has found it.
  statement text
);
CREATE INDEX unmatched_by_trans_id ON unmatched (trans_id) WHERE trans_id IS NOT NULL;

-- Who did, looked at and exported what. A row is only ever added.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  -- The person, with which key, and from which address.
  who text NOT NULL,
  key_id text,
  address text,
  did text NOT NULL,
  target text,
  detail bytea
);
CREATE INDEX audit_by_target ON audit (target, id) WHERE target IS NOT NULL;
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_of_payers ON audit (id) WHERE did IN ('exportPayer', 'erasePayer');

-- Payments whose payer's personal data is to be erased once they are over: until then, they may need it.
CREATE TABLE erasures (
  payment_id text COLLATE "C" PRIMARY KEY REFERENCES payments (id),
  at timestamptz NOT NULL
);

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

-- A statement in pieces, each encrypted (statement-content.ts): whole, a busy day's would hold up a process.
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
