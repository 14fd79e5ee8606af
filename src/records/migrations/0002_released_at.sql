-- Up Migration

-- When a held payout was released, to be sent: it belongs to the statement of that day.
ALTER TABLE payments ADD COLUMN released_at timestamptz;
CREATE INDEX payments_released ON payments (released_at) WHERE released_at IS NOT NULL;
