import { z } from 'zod';
import { foldedName, type Person, type PersonsKey } from '../payments/words/person.js';
import type { Query } from './database.js';

/*
 * Every name that a merchants' file has had for an API key. Whoever orders a payout doesn't approve it, and whoever
 * decides doesn't confirm that: not with another key that was theirs at some time, whatever it is called since.
 */

/** Writes down what keys are called now. @param now ms since the epoch */
export async function recordPeople(query: Query, keys: readonly PersonsKey[], now: number): Promise<void> {
  if (keys.length === 0) return;
  await query(
    `INSERT INTO people (merchant, name, key_id, since)
     SELECT merchant, name, key_id, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS one (merchant, name, key_id)
     ON CONFLICT DO NOTHING`,
    [
      keys.map(({ merchant }) => merchant),
      keys.map(({ person }) => foldedName(person)),
      keys.map(({ keyId }) => keyId),
      new Date(now),
    ],
  );
}

const keyRow = z.object({ merchant: z.string(), name: z.string(), keyId: z.string() });

/**
 * Finds all keys that may be one person's: those that ever had a name of theirs, and those with a name that one of
 * these ever had. A key without a person has its merchant's name, which is nobody's.
 */
export async function keysLinkedTo(query: Query, { name, keys = [] }: Person): Promise<readonly string[]> {
  const names = new Set([foldedName(name)]);
  const linked = new Set(keys);
  for (let known = 0; known < names.size + linked.size; ) {
    known = names.size + linked.size;
    const rows = await query(
      'SELECT merchant, name, key_id FROM people WHERE name = ANY($1::text[]) OR key_id = ANY($2::text[])',
      [[...names], [...linked]],
    );
    for (const row of rows) {
      const one = keyRow.parse(row);
      if (one.name === foldedName(one.merchant)) continue;
      names.add(one.name);
      linked.add(one.keyId);
    }
  }
  return [...linked];
}

/** Reports whether a merchants' file named somebody at a time, in ms since the epoch. */
export async function wasNamed(query: Query, name: string, at: number): Promise<boolean> {
  const rows = await query('SELECT 1 FROM people WHERE name = $1 AND since <= $2 LIMIT 1', [
    foldedName(name),
    new Date(at),
  ]);
  return rows.length > 0;
}
