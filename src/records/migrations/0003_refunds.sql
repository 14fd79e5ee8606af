-- Up Migration

-- The collection that a payout refunds.
ALTER TABLE payments ADD COLUMN refund_of text COLLATE "C";
CREATE INDEX payments_by_refund_of ON payments (refund_of) WHERE refund_of IS NOT NULL;
