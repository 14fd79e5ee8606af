import { z } from 'zod';
import type { Book } from './book.js';
import { time } from './columns.js';
import type { Query } from './database.js';
import type { Place } from './seals.js';
import { UnreadableRecordError } from './versioned-json.js';

/** Who does something, and from where. */
export interface AuditedCaller {
  /** The person, or the merchant where the key names none. */
  readonly who: string;
  /** Identifies the key; it isn't the key. */
  readonly keyId?: string | undefined;
  /** The caller's address. */
  readonly address?: string | undefined;
}

/** What is done: by the API, or by the commands of an operator. */
export type Did =
  | 'order'
  | 'expire'
  | 'approve'
  | 'rejectPayout'
  | 'decide'
  | 'reject'
  | 'refresh'
  | 'recheck'
  | 'resendNotification'
  | 'look'
  | 'exportPayer'
  | 'erasePayer';

export interface AuditEntry extends AuditedCaller {
  readonly did: Did;
  /** The payment, the merchant or the like; nothing that names a person. */
  readonly target?: string | undefined;
  /** The rest, which is sealed. */
  readonly detail?: object | undefined;
}

/**
 * Writes down what somebody is about to do: it is done only once that is written. It may be refused all the same.
 *
 * @param query of a transaction that does it, if it is one
 * @param now ms since the epoch
 */
export async function writeAudit(book: Book, entry: AuditEntry, now: number, query: Query = book.query): Promise<void> {
  const { who, keyId, address, did, target, detail } = entry;
  const sealed = detail === undefined ? null : await book.seals.seal(auditPlace(did, target), detail);
  await query('INSERT INTO audit (at, who, key_id, address, did, target, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)', [
    new Date(now),
    who,
    keyId ?? null,
    address ?? null,
    did,
    target ?? null,
    sealed,
  ]);
}

/** The row of an entry. */
export const auditPlace = (did: string, target: string | undefined): Place => ({ table: 'audit', id: target ?? did });

/** What somebody has done, as it is written down. */
export interface Audited {
  /** ms since the epoch */
  readonly at: number;
  readonly who: string;
  readonly did: Did;
  readonly target?: string | undefined;
  /** Missing when the key that it was encrypted with is. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
}

const auditRow = z.object({
  at: time,
  who: z.string(),
  did: z.string().transform((did) => did as Did),
  target: z.string().optional(),
  detail: z.instanceof(Buffer).optional(),
});

/** Lists what was done, oldest first. @param targets to one of these; to anything, by default */
export async function listAudited(
  book: Book,
  did: readonly Did[],
  targets?: readonly string[],
): Promise<readonly Audited[]> {
  const rows = await book.query(
    `SELECT at, who, did, target, detail FROM audit
      WHERE did = ANY($1) AND ($2::text[] IS NULL OR target = ANY($2)) ORDER BY id`,
    [did, targets ?? null],
  );
  return await Promise.all(
    rows.map(async (row) => {
      const { detail, ...entry } = auditRow.parse(row);
      return { ...entry, detail: detail && (await openDetail(book, entry, detail)) };
    }),
  );
}

const detailContent = z.record(z.string(), z.unknown());

async function openDetail(book: Book, { did, target }: Pick<Audited, 'did' | 'target'>, sealed: Buffer) {
  try {
    return await book.seals.open(auditPlace(did, target), sealed, detailContent);
  } catch (error) {
    if (error instanceof UnreadableRecordError) return undefined;
    throw error;
  }
}
