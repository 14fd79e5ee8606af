import { createHash } from 'node:crypto';

/** A short digest of lines, in their order. */
export function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}
