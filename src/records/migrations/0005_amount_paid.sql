-- Up Migration

-- What has moved of a SUCCESSFUL payment, in XAF; null where the provider hasn't said.
ALTER TABLE payments ADD COLUMN amount_paid bigint;
