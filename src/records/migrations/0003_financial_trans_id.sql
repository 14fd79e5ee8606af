-- Up Migration

-- The mobile operator's reference, which a payer reads out from the text message. Temporal's index doesn't have it. It stays null
-- for payments that were recorded before, since their content is encrypted.
ALTER TABLE payments ADD COLUMN financial_trans_id text;
CREATE INDEX payments_by_financial_trans_id ON payments (financial_trans_id);
