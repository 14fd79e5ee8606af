import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';
import type { Machine } from '../../../lab/explore/situation.js';

const sources = fileURLToPath(new URL('../../../src/payments/', import.meta.url));
const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
/** The texts of all its files, by their paths in it, and the scripts that they compile to. */
const texts = new Map<string, string>();
const scripts = new Map<string, string>();
for (const file of await readdir(sources, { recursive: true })) {
  if (!file.endsWith('.ts')) continue;
  const text = await readFile(join(sources, file), 'utf8');
  texts.set(file, text);
  scripts.set(file, await compile(file, text));
}

/** A change to one file of src/payments that switches a rule off. */
export interface Change {
  /**
   * Tokens that are in all of the files exactly once. White space, line breaks, comments and trailing commas don't
   * matter.
   */
  readonly find: string;
  readonly replace: string;
}

interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Folders of mutants that were made, to be removed at the end. */
const folders: string[] = [];

/**
 * The payment machine with a change, from a copy of its sources.
 *
 * @throws {Error} when what is to be changed isn't there exactly once
 */
export async function mutantOf(change: Change): Promise<Machine> {
  const folder = await transpiled(change);
  const [{ step }, { objectionTo }, { sentIf }, { openPayment }, refunds] = await Promise.all([
    load<Pick<Machine, 'step'>>(folder, 'machine.ts'),
    load<Pick<Machine, 'objectionTo'>>(folder, 'requests.ts'),
    load<Pick<Machine, 'sentIf'>>(folder, 'sending.ts'),
    load<Pick<Machine, 'openPayment'>>(folder, 'payment-state.ts'),
    load<Pick<Machine, 'sentBy' | 'collectedBy'>>(folder, 'refunds.ts'),
  ]);
  return { openPayment, step, objectionTo, sentIf, sentBy: refunds.sentBy, collectedBy: refunds.collectedBy };
}

async function load<Module>(folder: string, name: string): Promise<Module> {
  const file = [...texts.keys()].find((one) => basename(one) === name);
  if (file === undefined) throw new Error(`src/payments has no ${name}`);
  return (await import(pathToFileURL(join(folder, scriptOf(file))).href)) as Module;
}

const scriptOf = (file: string) => file.replace(/\.ts$/, '.js');

async function transpiled({ find, replace }: Change): Promise<string> {
  const { file: changedFile, start, end } = placeOf(find);
  const folder = await mkdtemp(join(tmpdir(), 'sanaga-mutant-'));
  folders.push(folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await symlink(packages, join(folder, 'node_modules'));
  const changedText = texts.get(changedFile) ?? '';
  const changed = await compile(changedFile, changedText.slice(0, start) + replace + changedText.slice(end));
  await Promise.all(
    [...scripts].map(async ([file, script]) => {
      await mkdir(join(folder, dirname(file)), { recursive: true });
      await writeFile(join(folder, scriptOf(file)), file === changedFile ? changed : script);
    }),
  );
  return folder;
}

async function compile(file: string, source: string): Promise<string> {
  const { code } = await transform(source, {
    filename: file,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'es6' },
  });
  return code;
}

function placeOf(find: string): Place {
  const [place, ...more] = placesOf(find);
  if (place === undefined || more.length > 0) throw new Error(`not once in src/payments: ${find}`);
  return place;
}

/** Finds a text in src/payments, token by token. */
export function placesOf(find: string): Place[] {
  const wanted = tokensOf(find).map(({ text }) => text);
  return [...sourceTokens].flatMap(([file, tokens]) =>
    tokens.flatMap(({ start }, from) => {
      const isHere = wanted.every((text, index) => tokens[from + index]?.text === text);
      return isHere ? [{ file, start, end: tokens[from + wanted.length - 1]?.end ?? start }] : [];
    }),
  );
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A comment, a word with what is joined to it, a string, or one other character. */
const TOKEN = /\/\*.*?\*\/|\/\/[^\n]*|[\w$]+|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\S/gs;

function tokensOf(source: string): Token[] {
  const tokens = [...source.matchAll(TOKEN)]
    .filter(([text]) => !/^\/[/*]/.test(text))
    .map(({ 0: text, index: start }) => ({ text, start, end: start + text.length }));
  return tokens.filter(({ text }, index) => text !== ',' || !/^[)\]}]$/.test(tokens[index + 1]?.text ?? ''));
}

const sourceTokens = new Map([...texts].map(([file, text]) => [file, tokensOf(text)]));

/** Removes what the mutants were made in. */
export async function removeMutants(): Promise<void> {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
}
