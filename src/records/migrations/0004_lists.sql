-- Up Migration

-- What lists ask for. Without these, a list reads all the payments there are, in the database that payouts wait for.

-- The payments of a merchant's customer, in the order of lists.
CREATE INDEX payments_of_user ON payments (user_id, created_at DESC, id) WHERE user_id IS NOT NULL;

-- The few without an outcome, such as those in REVIEW.
CREATE INDEX payments_undecided ON payments (status, created_at DESC, id)
  WHERE status NOT IN ('SUCCESSFUL', 'FAILED', 'EXPIRED');

-- The order of lists, with the status and the kind, so that payments which a list leaves out needn't be read to know it. They replace
-- two without these. Those are dropped last, since from then on until the end of the migration nobody can read the table.
CREATE INDEX payments_listed ON payments (created_at DESC, id, status, kind);
CREATE INDEX payments_listed_of_merchant ON payments (merchant, created_at DESC, id, status, kind);
DROP INDEX payments_by_time;
DROP INDEX payments_of_merchant;
