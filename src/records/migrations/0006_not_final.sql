-- Up Migration

-- The few whose outcome isn't certain, in the order of lists.
CREATE INDEX payments_not_final ON payments (created_at DESC, id) WHERE NOT final;
