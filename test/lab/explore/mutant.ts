import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';
import type { Machine } from '../../../lab/explore/situation.js';

const sources = fileURLToPath(new URL('../../../src/payments/', import.meta.url));

/** A change to one file of src/payments that switches a rule off. */
export interface Change {
  readonly file: string;
  /** Is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Folders of mutants that were made, to be removed at the end. */
const folders: string[] = [];

/**
 * The payment machine with a change, from a copy of its sources.
 *
 * @throws Error when what is to be changed isn't there exactly once.
 */
export async function mutantOf(change: Change): Promise<Machine> {
  const folder = await transpiled(change);
  const [{ step, objectionTo }, { openPayment }] = await Promise.all([
    load<Pick<Machine, 'step' | 'objectionTo'>>(folder, 'machine'),
    load<Pick<Machine, 'openPayment'>>(folder, 'payment-state'),
  ]);
  return { openPayment, step, objectionTo };
}

/** One module of src/payments with a change. */
export async function mutantModule<Module>(change: Change): Promise<Module> {
  return await load<Module>(await transpiled(change), change.file.replace(/\.ts$/, ''));
}

async function load<Module>(folder: string, name: string): Promise<Module> {
  return (await import(pathToFileURL(join(folder, `${name}.js`)).href)) as Module;
}

async function transpiled(change: Change): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-mutant-'));
  folders.push(folder);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await Promise.all(
    (await readdir(sources)).map(async (file) => {
      const { code } = await transform(changed(file, await readFile(join(sources, file), 'utf8'), change), {
        filename: file,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
      });
      await writeFile(join(folder, file.replace(/\.ts$/, '.js')), code);
    }),
  );
  return folder;
}

function changed(file: string, text: string, { file: changedFile, find, replace }: Change): string {
  if (file !== changedFile) return text;
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`${file} has ${times} times what is to be changed: ${find}`);
  return text.replace(find, () => replace);
}

/** Removes what the mutants were made in. */
export async function removeMutants(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}
