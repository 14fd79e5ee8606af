import { readFile, rename, writeFile } from 'node:fs/promises';
import type { z } from 'zod';

/** Figures in a file, so that a long measurement that was stopped isn't lost. */

/** Writes figures to a file, whole or not at all. */
export async function keepResults(file: string, figures: unknown): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, `${JSON.stringify(figures, null, 2)}\n`);
  await rename(draft, file);
}

/** Reads figures that were kept. @throws Error when the file isn't there, or holds something else */
export async function readResults<Figures>(file: string, schema: z.ZodType<Figures>): Promise<Figures> {
  const text = await readFile(file, 'utf8');
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`${file} doesn't hold the figures of this measurement`, { cause: error });
  }
}
