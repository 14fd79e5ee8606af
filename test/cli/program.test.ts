import { describe, expect, it } from '@jest/globals';
import type { CommanderError } from 'commander';
import { createProgram } from '../../cli/program.js';
import { VERSION } from '../../client/transport.js';
import { SETTING_NAMES } from '../../sandbox/settings.js';
import { settingNames } from '../../src/config.js';

/** What a command line leads to: what is run with which options, or what is printed. */
async function read(line: string) {
  const program = createProgram();
  let run: object | undefined;
  const printed = { stdout: '', stderr: '' };
  for (const command of [program, ...program.commands]) {
    command.configureOutput({
      ...command.configureOutput(),
      writeOut: (text) => {
        printed.stdout += text;
      },
      writeErr: (text) => {
        printed.stderr += text;
      },
    });
  }
  for (const command of program.commands) {
    command.action((options: object) => {
      run = { command: command.name(), ...options };
    });
  }
  const words = line.split(' ').filter((word) => word !== '');
  const error = await program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (thrown: CommanderError) => thrown,
  );
  return { run, ...printed, exitCode: error?.exitCode };
}

const all = createProgram().commands.map((command) => command.name());
/** `complete` is what a shell calls, and is hidden. */
const names = all.filter((name) => name !== 'complete');
const help = async (name: string) => (await read(`${name} --help`)).stdout;

describe('the command line', () => {
  it('has these commands', () => {
    expect(all).toEqual([
      ...[
        'demo',
        'start',
        'shop',
        'collect',
        'payout',
        'expire',
        'cancel',
        'get',
        'list',
        'watch',
        'events',
        'balance',
        'notifications',
        'review',
        'statements',
        'listen',
        'trigger',
        'doctor',
      ],
      ...['server', 'worker', 'codec-server', 'desk', 'sandbox', 'completion', 'complete'],
    ]);
  });

  it.each(['start', 'shop', 'server', 'worker', 'codec-server', 'desk', 'sandbox'])(
    'runs %s',
    async (command) => {
      expect(await read(command)).toEqual({ run: { command }, stdout: '', stderr: '', exitCode: undefined });
    },
  );

  it.each([
    ['demo', undefined],
    ['demo --json', true],
  ])('takes --json for the demo: %s', async (line, json) => {
    expect((await read(line)).run).toEqual({ command: 'demo', json });
  });

  it.each(['--help', '-h', 'help'])('shows the help of the whole for %s', async (line) => {
    const { run, stdout, stderr, exitCode } = await read(line);
    expect({ run, stderr, exitCode }).toEqual({ run: undefined, stderr: '', exitCode: 0 });
    expect(stdout).toContain('Usage: sanaga <command> [options]');
  });

  it.each(['worker --help', 'worker -h', 'help worker'])(
    'shows the help of a command for %s',
    async (line) => {
      const { run, stdout, exitCode } = await read(line);
      expect({ run, exitCode }).toEqual({ run: undefined, exitCode: 0 });
      expect(stdout).toContain('Usage: sanaga worker [options]');
    },
  );

  it('prefers to help over running', async () => {
    const { run, stdout } = await read('demo --json --help');
    expect(run).toBeUndefined();
    expect(stdout).toContain('Usage: sanaga demo [options]');
  });

  it.each([
    ['pay', "unknown command 'pay'"],
    ['toString', "unknown command 'toString'"],
    ['--json', "unknown option '--json'"],
    ['demo --jsn', "unknown option '--jsn'"],
    ['demo -j', "unknown option '-j'"],
    ['start --json', "unknown option '--json'"],
    ['demo --json=yes', "unknown option '--json=yes'"],
    ['demo now', "too many arguments for 'demo'"],
    ['demo -- --json', "too many arguments for 'demo'"],
    ['demo --toString', "unknown option '--toString'"],
    ['payout 5000 --idempotency-key=', "option '--idempotency-key <key>' argument '' is invalid"],
    ['balance shop', "command-argument value 'shop' is invalid"],
  ])('says what is wrong with "%s", and in a line how it is used', async (line, message) => {
    const { run, stdout, stderr, exitCode } = await read(line);
    expect({ run, stdout, exitCode }).toEqual({ run: undefined, stdout: '', exitCode: 1 });
    const lines = stderr.trimEnd().split('\n');
    expect(stderr.startsWith(`sanaga: ${message}`)).toBe(true);
    expect(lines.at(-1)).toMatch(/^Usage: sanaga .* {3}\("sanaga .*--help" explains it\)$/);
    expect(lines.length).toBeLessThan(4);
  });

  it('prints its version', async () => {
    const { stdout, exitCode } = await read('--version');
    expect([stdout, exitCode]).toEqual([`${VERSION}\n`, 0]);
  });

  it('leaves --version of a command to that', async () => {
    expect((await read('statements 2026-11-21 --version 2')).run).toMatchObject({ command: 'statements' });
  });
});

describe('the help', () => {
  it('names every command with its summary', async () => {
    const { stdout } = await read('--help');
    for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(stdout).toContain('take payments of every kind to their outcomes');
  });

  it.each(names)('of %s shows how it is used, within 120 columns', async (name) => {
    const text = await help(name);
    expect(text).toContain(`Usage: sanaga ${name}`);
    expect(text).toContain('--help');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  it('has --json for every command but those that run processes', async () => {
    const texts = await Promise.all(names.map(async (name) => ({ name, text: await help(name) })));
    const without = texts.filter(({ text }) => !text.includes('--json')).map(({ name }) => name);
    const processes = ['server', 'worker', 'codec-server', 'desk', 'sandbox'];
    expect(without).toEqual(['start', 'shop', ...processes, 'completion']);
  });

  it.each(names.slice(3, -6))('of %s has an example', async (name) => {
    expect(await help(name)).toMatch(new RegExp(`Examples?:\\n(.*\\n)*?.*sanaga ${name}`));
  });

  it.each([
    ['server', settingNames('api')],
    ['worker', settingNames('worker')],
    ['codec-server', settingNames('codec')],
    ['desk', settingNames('desk')],
    ['sandbox', SETTING_NAMES],
  ])('of %s names every setting of the process', async (name, settings) => {
    const words = new Set((await help(name)).match(/\b[A-Z_]{4,}\b/g));
    expect(settings.filter((setting) => !words.has(setting))).toEqual([]);
  });
});
