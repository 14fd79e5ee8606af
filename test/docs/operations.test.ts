import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../../cli/program.js';
import { routes } from '../../src/api/app.js';
import { settingNames } from '../../src/config.js';
import { readPage } from './pages.js';

/*
 * The operators' pages can't be followed by a test as the others are: they stop servers, and need a cluster. What they name must
 * be there, at least.
 */

const FOLDER = new URL('../../docs/operations/', import.meta.url);
const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.md'));
const pages = await Promise.all(names.map((name) => readPage(`docs/operations/${name}`)));
const all = pages.map(({ text }) => text).join('\n');

const unique = (found: Iterable<string>) => [...new Set(found)].sort();

describe('the operators’ pages', () => {
  it('call the API only as it can be called', () => {
    const calls = [...all.matchAll(/^.*?(?:-X (POST|GET) )?"?\$API(\/[^\s"'?`]*)/gm)].map(
      ([, method = 'GET', path = '']) => `${method} ${path}`,
    );
    expect(calls.length).toBeGreaterThan(10);
    const patterns = routes.map(
      ({ method, path }) => new RegExp(`^${method.toUpperCase()} ${path.replace(/:\w+/g, '[^/]+')}$`),
    );
    expect(unique(calls).filter((call) => !patterns.some((pattern) => pattern.test(call)))).toEqual([]);
  });

  it('use only commands of sanaga that there are, with options that they have', () => {
    const program = createProgram();
    const wrong = unique(
      [...all.matchAll(/npx sanaga ([^\n|`;)]+)/g)].map(([, line = '']) => line.trim()),
    ).filter((line) => {
      const words = line.match(/"[^"]*"|\S+/g) ?? [];
      let command = program;
      for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
      const options = words.filter((word) => word.startsWith('--'));
      const known = [...command.options, ...(command.parent?.options ?? [])].map(({ long }) => long);
      return command === program || options.some((option) => !known.includes(option));
    });
    expect(wrong).toEqual([]);
  });

  it('name only settings that there are', () => {
    const named = unique([...all.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name));
    expect(named.length).toBeGreaterThan(5);
    const known = settingNames().flatMap((name) => [name, `${name}_FILE`]);
    expect(named.filter((name) => !known.includes(name) && !name.startsWith('TEMPORAL_'))).toEqual([]);
  });

  it('name only values of the chart that there are', async () => {
    const file = new URL('../../deploy/helm/sanaga/values.yaml', import.meta.url);
    const values: unknown = parse(await readFile(file, 'utf8'));
    const roots = Object.keys(z.record(z.string(), z.unknown()).parse(values));
    const named = unique(
      [...all.matchAll(/`([a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+)\b/g)].map(([, path = '']) => path),
    ).filter((path) => roots.includes(path.split('.')[0] ?? '') && !path.endsWith('.json'));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => valueAt(values, path.split('.')) === undefined)).toEqual([]);
  });
});

function valueAt(values: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return values;
  const fields = z.record(z.string(), z.unknown()).safeParse(values);
  return fields.success ? valueAt(fields.data[first], rest) : undefined;
}
