import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';
import type { Machine } from '../../../lab/explore/situation.js';

const sources = fileURLToPath(new URL('../../../src/payments/', import.meta.url));
/** The files of all its rooms, by their paths in it. */
const files = (await readdir(sources, { recursive: true })).filter((file) => file.endsWith('.ts'));

/** A change to one file of src/payments that switches a rule off. */
export interface Change {
  /** Its name, whatever room it is in. */
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
    load<Pick<Machine, 'step' | 'objectionTo'>>(folder, 'machine.ts'),
    load<Pick<Machine, 'openPayment'>>(folder, 'payment-state.ts'),
  ]);
  return { openPayment, step, objectionTo };
}

/** One module of src/payments with a change. */
export async function mutantModule<Module>(change: Change): Promise<Module> {
  return await load<Module>(await transpiled(change), change.file);
}

async function load<Module>(folder: string, name: string): Promise<Module> {
  const file = files.find((one) => basename(one) === name);
  if (file === undefined) throw new Error(`src/payments has no ${name}`);
  return (await import(pathToFileURL(join(folder, scriptOf(file))).href)) as Module;
}

const scriptOf = (file: string) => file.replace(/\.ts$/, '.js');

async function transpiled(change: Change): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-mutant-'));
  folders.push(folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await Promise.all(
    files.map(async (file) => {
      const { code } = await transform(changed(file, await readFile(join(sources, file), 'utf8'), change), {
        filename: file,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
      });
      await mkdir(join(folder, dirname(file)), { recursive: true });
      await writeFile(join(folder, scriptOf(file)), code);
    }),
  );
  return folder;
}

function changed(file: string, text: string, { file: changedFile, find, replace }: Change): string {
  if (basename(file) !== changedFile) return text;
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`${file} has ${times} times what is to be changed: ${find}`);
  return text.replace(find, () => replace);
}

/** Removes what the mutants were made in. */
export async function removeMutants(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}
