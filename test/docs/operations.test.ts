import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../../cli/program.js';
import { findTarget } from '../../cli/target.js';
import { routes } from '../../src/api/app.js';
import { settingNames } from '../../src/settings/read-settings.js';
import { readPage } from '../support/pages.js';
import { commandsOf } from '../support/runbook.js';

/*
 * The operators' pages can't be followed by a test as the others are: they stop servers, and need a cluster. What they
 * name must be there, at least. The runbook's backup is made and restored by restoring.check.ts of test/deploy.
 */

const FOLDER = new URL('../../docs/operations/', import.meta.url);
const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.md'));
const pages = await Promise.all(names.map((name) => readPage(`docs/operations/${name}`)));
/** `${ID:?}` is ID, which has to be set. */
const all = pages.map(({ text }) => text.replace(/\$\{(\w+):\?\}/g, '$$$1')).join('\n');

const compose = z
  .object({
    services: z.record(
      z.string(),
      z.object({
        build: z.unknown().optional(),
        ports: z.array(z.string()).default([]),
        environment: z.record(z.string(), z.string()).default({}),
      }),
    ),
  })
  .parse(parse(await readFile(new URL('../../docker-compose.yml', import.meta.url), 'utf8'), { merge: true })).services;

const blocks = pages.flatMap((page) => page.blocks.filter(({ language }) => language === 'sh'));

/** Commands to type: in blocks, and between backticks. */
const commands = [
  ...blocks.flatMap(({ text }) => text.split('\n')),
  ...[...all.matchAll(/`([^`\n]+)`/g)].map(([, command = '']) => command),
];

const unique = (found: Iterable<string>) => [...new Set(found)].sort();

describe('the operators’ pages', () => {
  it('call the API only as it can be called', () => {
    const calls = [...all.matchAll(/^.*?(?:-X (POST|GET) )?"?\$SANAGA_URL(\/[^\s"'?`]*)/gm)].map(
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
    const wrong = unique([...all.matchAll(/npx sanaga ([^\n|`;)]+)/g)].map(([, line = '']) => line.trim())).filter(
      (line) => {
        const words = line.match(/"[^"]*"|\S+/g) ?? [];
        let command = program;
        for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
        const options = words.filter((word) => word.startsWith('--'));
        const known = [...command.options, ...(command.parent?.options ?? [])].map(({ long }) => long);
        return command === program || options.some((option) => !known.includes(option));
      },
    );
    expect(wrong).toEqual([]);
  });

  it('set what the command line of Sanaga reads', async () => {
    const exports = blocks
      .flatMap(({ text }) => [...text.matchAll(/^export (SANAGA_.+)$/gm)])
      .flatMap(([, list = '']) => list.split(' ').map((one) => one.split('=')));
    const target = await findTarget({}, Object.fromEntries(exports));
    expect(target).toEqual({ url: 'http://127.0.0.1:3000', apiKey: expect.any(String) });
    const given = exports.map(([name = '']) => name);
    expect(unique([...all.matchAll(/\$(SANAGA_\w+)/g)].map(([, name = '']) => name))).toEqual(given.sort());
  });

  it('go to no port that docker-compose doesn’t publish, or kubectl forward', () => {
    const published = Object.values(compose).flatMap(({ ports }) =>
      ports.map((port) => /^127\.0\.0\.1:(?:\$\{\w+:-)?(\d+)\}?:\d+$/.exec(port)?.[1]),
    );
    const named = blocks.flatMap(({ place, text }) => {
      const forwarded = [...text.matchAll(/port-forward \S+ (\d+):\d+/g)].map(([, port]) => port);
      return [...text.matchAll(/\b(?:127\.0\.0\.1|localhost):(\d+)/g)]
        .filter(([, port]) => ![...published, ...forwarded].includes(port))
        .map(([address]) => `${place}: ${address}`);
    });
    expect(published).toContain('3000');
    expect(named).toEqual([]);
  });

  it('name only services of docker-compose.yml', () => {
    const named = unique(commands.flatMap(servicesOf));
    expect(named).toEqual(expect.arrayContaining(['api', 'postgres', 'temporal-setup', 'worker']));
    expect(named.filter((name) => !(name in compose))).toEqual([]);
  });

  it('run programs in containers that have them, with the settings that they read', async () => {
    const programs = commands.filter((line) => /\bnode lib\//.test(line));
    expect(programs.length).toBeGreaterThan(1);
    for (const line of programs) {
      const [, part = ''] = /\bnode lib\/(\w+)\.js/.exec(line) ?? [];
      await expect(readFile(new URL(`../../src/${part}.ts`, import.meta.url), 'utf8')).resolves.not.toBe('');
      if (/\bkubectl -n payments exec \S+ -- node/.test(line)) continue;
      const service = compose[servicesOf(line)[0] ?? ''];
      expect([line, service?.build]).toEqual([line, '.']);
      const missing = settingNames(part === 'payers' ? 'book' : z.enum(['migrate', 'replay']).parse(part)).filter(
        (name) => !(name in (service?.environment ?? {})),
      );
      expect([line, missing]).toEqual([line, []]);
    }
  });

  it('run Temporal’s command line where it reaches the server', () => {
    const [line = ''] = commands.filter((command) => command.startsWith('temporal() '));
    const { TEMPORAL_ADDRESS = '' } = compose[servicesOf(line)[0] ?? '']?.environment ?? {};
    expect(TEMPORAL_ADDRESS).toMatch(/^(passthrough:\/\/\/)?[a-z-]+:7233$/);
    expect(Object.keys(compose)).toContain(/([a-z-]+):7233$/.exec(TEMPORAL_ADDRESS)?.[1]);
  });

  it('name only Deployments of the chart that are always called so', () => {
    // Those of workers have a version in their name: labels select them.
    const named = unique([...all.matchAll(/\bdeploy\/([a-z][\w-]*)/g)].map(([, name = '']) => name));
    const known = ['helm', 'sanaga-api', 'sanaga-codec-server', 'sanaga-desk', 'prometheus', 'grafana'];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('name only settings that there are', async () => {
    const composed = await readFile(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
    const ofCompose = [...composed.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const named = unique([...all.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name));
    expect(named.length).toBeGreaterThan(5);
    const known = [...ofCompose, ...settingNames().flatMap((name) => [name, `${name}_FILE`])];
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

describe('the page on upgrades', () => {
  const page = pages.find(({ path }) => path.endsWith('/upgrading.md'));
  /** The files with the versions, once a chapter has changed them. */
  const changedBy = async (chapter: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'sanaga-versions-'));
    try {
      for (const name of ['docker-compose.yml', 'Dockerfile']) await copyFile(name, join(folder, name));
      const named = commandsOf(/npm run pin/, chapter, page);
      await promisify(execFile)('bash', ['-ec', named.slice(0, named.indexOf('npm run pin'))], { cwd: folder });
      const text = await readFile(join(folder, 'docker-compose.yml'), 'utf8');
      return { text, images: `${text}\n${await readFile(join(folder, 'Dockerfile'), 'utf8')}` };
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  const versionsOf = (images: string, pattern: RegExp) => unique([...images.matchAll(pattern)].map(([tag]) => tag));

  it('names a version of Temporal for the server and its tools, of one minor more', async () => {
    const present = await readFile('docker-compose.yml', 'utf8');
    const [, minor = ''] = /temporalio\/server:1\.(\d+)\./.exec(present) ?? [];
    const { images } = await changedBy("Temporal's server");
    const [server = '', ...others] = versionsOf(images, /(?<=temporalio\/(server|admin-tools):)\S+/g);
    expect(others).toEqual([]);
    expect(server).toMatch(new RegExp(`^1\\.${Number(minor) + 1}\\.\\d+$`));
  });

  it.each(['PostgreSQL: a minor version', 'PostgreSQL: a major version'])(
    'names a version of PostgreSQL in each place, as yet without a digest: %s',
    async (chapter) => {
      const { images } = await changedBy(chapter);
      const tags = versionsOf(images, /(?<=(image: |FROM )(sanaga-)?postgres:)\d\S+/g);
      expect(tags).toEqual([expect.stringMatching(/^\d+\.\d+$/)]);
      expect(versionsOf(await readFile('Dockerfile', 'utf8'), /(?<=postgres:)[\d.]+/g)).not.toEqual(tags);
    },
  );

  it('gives another major version of PostgreSQL a volume of its own, wherever the old one was', async () => {
    const { text } = await changedBy('PostgreSQL: a major version');
    const { services, volumes } = z
      .object({
        services: z.record(z.string(), z.object({ volumes: z.array(z.string()).default([]) })),
        volumes: z.record(z.string(), z.unknown()),
      })
      .parse(parse(text, { merge: true }));
    const mounted = Object.values(services).flatMap((service) =>
      service.volumes.flatMap((volume) => volume.match(/^(\S+):\/var\/lib\/postgresql\/data/)?.[1] ?? []),
    );
    expect(mounted).toEqual(['postgres-17', 'postgres-17']);
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(['postgres-17', 'postgres']));
  });
});

/** Options of docker-compose that are followed by a value. */
const WITH_VALUE = new Set(['--entrypoint', '--scale', '--tail', '-s', '-e']);

/** The services that a command of docker-compose names. */
function servicesOf(line: string): readonly string[] {
  const [, command = '', rest = ''] =
    /\bdocker-compose (run|exec|up|start|stop|restart|kill|logs) ([^|;<>]*)/.exec(line) ?? [];
  const words = rest.trim().split(/\s+/);
  const named = words.filter(
    (word, index) => word !== '' && !word.startsWith('-') && !WITH_VALUE.has(words[index - 1] ?? ''),
  );
  return command === 'run' || command === 'exec' ? named.slice(0, 1) : named;
}

function valueAt(values: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return values;
  const fields = z.record(z.string(), z.unknown()).safeParse(values);
  return fields.success ? valueAt(fields.data[first], rest) : undefined;
}
