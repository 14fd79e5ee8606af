-- Up Migration

-- Payers whose data was erased of one merchant's payments alone.
CREATE TABLE merchant_erasures (
  payer bytea NOT NULL,
  merchant text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX merchant_erasures_of_payer ON merchant_erasures (payer);

-- When a payer's data was exported or erased. It outlives the data, so that it names no payer.
CREATE TABLE payer_requests (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  kind text NOT NULL,
  -- The payer's keyed hash, by the key of that time.
  payer bytea NOT NULL,
  -- Null: of all merchants.
  merchant text,
  payments integer NOT NULL,
  -- Who asked, and why, as JSON, encrypted.
  reason bytea NOT NULL
);
