import { z } from 'zod';
import { auditPlace } from './audit.js';
import type { Book } from './book.js';
import { paymentId } from './columns.js';
import { kept } from './content.js';
import { camelCased, type Row, type SqlValue } from './database.js';
import { digestsOf } from './payers.js';
import type { Place } from './seals.js';
import { piecePlace } from './statements.js';
import { UNMATCHED } from './unmatched.js';

/*
 * After a change of encryption keys: all that is sealed with an earlier key is sealed with the present one, so that the
 * earlier one can be thrown away. Payments go on meanwhile.
 */

/** A column of sealed content. */
interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns of its primary key. */
  readonly key: readonly string[];
  /** The columns that say which row it is, beside the key. */
  readonly beside?: readonly string[];
  readonly placeOf: (row: Row) => Place;
}

const named = z.object({
  id: z.coerce.string(),
  paymentId: z.string().default(''),
  version: z.int().optional(),
  attempt: z.int().optional(),
  did: z.string().default(''),
  target: z.string().optional(),
  runId: z.string().default(''),
  number: z.int().default(0),
});
type Named = z.output<typeof named>;

const column = (
  table: string,
  name: string,
  key: readonly string[],
  placeOf: (row: Named) => Place,
  beside: readonly string[] = [],
): SealedColumn => ({ table, column: name, key, beside, placeOf: (row) => placeOf(named.parse({ id: '', ...row })) });

const SEALED: readonly SealedColumn[] = [
  column('states', 'sealed', ['id'], ({ id, version }) => ({ table: 'states', id, version }), ['version']),
  column('sends', 'sealed', ['payment_id', 'attempt'], ({ paymentId, attempt }) => ({
    ...{ table: 'sends', id: paymentId, version: attempt },
  })),
  column('inbox', 'sealed', ['id'], ({ paymentId }) => ({ table: 'inbox', id: paymentId }), ['payment_id']),
  column(
    ...(['inbox', 'reply', ['id']] as const),
    ({ id, paymentId }) => ({ table: 'replies', id: paymentId, version: Number(id) }),
    ['payment_id'],
  ),
  column('audit', 'detail', ['id'], ({ did, target }) => auditPlace(did, target), ['did', 'target']),
  column('unmatched', 'sealed', ['id'], () => UNMATCHED),
  column('statement_pieces', 'content', ['run_id', 'number'], ({ runId, number }) => piecePlace(runId, number)),
];

/** Rows that are read together. */
const AT_ONCE = 100;

/**
 * Seals all with the present key.
 *
 * @param onProgress is told of each table, and how many of its rows were sealed anew
 * @throws {SealBroken} when a key is missing; what was sealed anew before stays so
 */
export async function resealAll(book: Book, onProgress: (table: string, rows: number) => void): Promise<void> {
  for (const one of SEALED) onProgress(`${one.table}.${one.column}`, await resealColumn(book, one));
  onProgress('payments.payers', await renewDigests(book));
}

async function resealColumn(book: Book, sealed: SealedColumn): Promise<number> {
  const { table, key, placeOf } = sealed;
  let count = 0;
  for (let after: readonly SqlValue[] | undefined; ; ) {
    const rows = await nextRows(book, sealed, after);
    for (const { sealed: content, ...row } of rows) {
      const renewed = await book.seals.reseal(placeOf(row), z.instanceof(Buffer).parse(content));
      if (renewed === undefined) continue;
      // A row that has changed since is sealed with the present key.
      const where = key.map((name, index) => `${name} = $${index + 1}`).join(' AND ');
      await book.query(
        `UPDATE ${table} SET ${sealed.column} = $${key.length + 1} WHERE ${where} AND ${sealed.column} = $${key.length + 2}`,
        [...keyOf(row, key), renewed, z.instanceof(Buffer).parse(content)],
      );
      count++;
    }
    const last = rows.at(-1);
    if (last === undefined) return count;
    after = keyOf(last, key);
  }
}

async function nextRows(
  book: Book,
  { table, column: name, key, beside = [] }: SealedColumn,
  after: readonly SqlValue[] | undefined,
): Promise<readonly Row[]> {
  const columns = [...key, ...beside].join(', ');
  const beyond =
    after === undefined ? '' : `AND (${key.join(', ')}) > (${key.map((_, at) => `$${at + 1}`).join(', ')})`;
  return await book.query(
    `SELECT ${columns}, ${name} AS sealed FROM ${table} WHERE ${name} IS NOT NULL ${beyond}
      ORDER BY ${key.join(', ')} LIMIT ${AT_ONCE}`,
    after ?? [],
  );
}

const keyValue = z.union([z.string(), z.number()]);

function keyOf(row: Row, key: readonly string[]): readonly SqlValue[] {
  return key.map((name) => keyValue.parse(row[camelCased(name)]));
}

const digestRow = z.object({
  id: paymentId,
  version: z.int(),
  sealed: z.instanceof(Buffer),
});

/** Makes the digests of payers with the present key. */
async function renewDigests(book: Book): Promise<number> {
  const current = await book.seals.digestKeyId();
  let count = 0;
  for (;;) {
    const rows = await book.query(
      `SELECT id, version, sealed FROM payments JOIN states USING (id)
        WHERE payers_key < $1 OR payers_key > $1 LIMIT ${AT_ONCE}`,
      [current],
    );
    for (const row of rows) {
      const { id, version, sealed } = digestRow.parse(row);
      const { state } = await book.seals.open({ table: 'states', id, version }, sealed, kept);
      const digests = await digestsOf(book.seals, state.order);
      // One that was erased meanwhile has none any more.
      await book.query('UPDATE payments SET payers = $2, payers_key = $3 WHERE id = $1 AND erased_at IS NULL', [
        ...[id, digests?.payers ?? [], digests?.key ?? null],
      ]);
    }
    count += rows.length;
    if (rows.length < AT_ONCE) return count;
  }
}
