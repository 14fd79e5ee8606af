import { describe, expect, it } from '@jest/globals';
import type { Command, CommanderError } from 'commander';
import { createProgram } from '../../cli/program.js';
import { VERSION } from '../../client/transport.js';
import { SETTING_NAMES } from '../../sandbox/settings.js';
import { settingNames } from '../../src/settings/read-settings.js';

/** Returns the result of a command line: the program run with its options, or the printed text. */
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

function family(command: Command): Command[] {
  return [command, ...command.commands.flatMap(family)];
}

/** Every option and argument that has a value: what it is called, and the words before and after its value. */
function everyValue() {
  const wordsOf = (command: Command): string[] =>
    command.parent === null ? [] : [...wordsOf(command.parent), command.name()];
  return family(createProgram())
    .filter((command) => !['complete', 'completion', 'help'].includes(command.name()))
    .flatMap((command) => {
      const words = wordsOf(command);
      const options = command.options
        .filter(({ required, optional }) => required || optional)
        .map(({ long }) => ({ name: long ?? '', before: [...words, long ?? ''], after: [] }));
      const [first, ...others] = command.registeredArguments;
      // A decision's options are checked before its argument.
      if (first === undefined || command.options.some(({ mandatory }) => mandatory)) return options;
      const after = others.filter(({ required }) => required).map(() => 'x');
      return [...options, { name: first.name(), before: words, after }];
    })
    .map((one) => [[...one.before, one.name].join(' '), one] as const);
}

describe('the command line', () => {
  it('has these commands', () => {
    expect(all).toEqual([
      ...[
        'demo',
        'start',
        'shop',
        'collect',
        'payout',
        'refund',
        'expire',
        'cancel',
        'get',
        'list',
        'watch',
        'events',
        'approvals',
        'approve',
        'reject',
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

  it.each(['start', 'shop', 'server', 'worker', 'codec-server', 'desk', 'sandbox'])('runs %s', async (command) => {
    expect(await read(command)).toEqual({ run: { command }, stdout: '', stderr: '', exitCode: undefined });
  });

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

  it.each(['worker --help', 'worker -h', 'help worker'])('shows the help of a command for %s', async (line) => {
    const { run, stdout, exitCode } = await read(line);
    expect({ run, exitCode }).toEqual({ run: undefined, exitCode: 0 });
    expect(stdout).toContain('Usage: sanaga worker [options]');
  });

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
    ['payout 5000 --externalId a', "unknown option '--externalId'\n(Did you mean --external-id?)"],
    ['list --financialTransId 1', "unknown option '--financialTransId'\n(Did you mean --financial-trans-id?)"],
    ['list --created[gte]=2026-11-21', "unknown option '--created[gte]=2026-11-21'\n(Did you mean --since?)"],
    ['collect --amount 5000', "unknown option '--amount'\n(Did you mean <amount>?)"],
    ['statements --date 2026-11-21', "unknown option '--date'\n(Did you mean <day>?)"],
    ['get --financialTransId 1', "unknown option '--financialTransId'\nUsage"],
    ['balance shop', "command-argument value 'shop' is invalid"],
  ])('says what is wrong with "%s", and in a line how it is used', async (line, message) => {
    const { run, stdout, stderr, exitCode } = await read(line);
    expect({ run, stdout, exitCode }).toEqual({ run: undefined, stdout: '', exitCode: 1 });
    const lines = stderr.trimEnd().split('\n');
    expect(stderr.startsWith(`sanaga: ${message}`)).toBe(true);
    expect(lines.at(-1)).toMatch(/^Usage: sanaga .* {3}\("sanaga .*--help" explains it\)$/);
    expect(lines.length).toBeLessThan(4);
  });

  it.each(everyValue())('refuses an empty value of %s', async (_, { name, before, after }) => {
    for (const value of ['', '  ', '\t\n']) {
      const program = createProgram();
      let said = '';
      for (const command of family(program)) {
        command.configureOutput({ ...command.configureOutput(), writeErr: (text) => (said += text) });
      }
      const error = await program
        .parseAsync([...before, value, ...after], { from: 'user' })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'commander.invalidArgument' });
      expect(said).toContain(name);
      expect(said).toContain('It is empty.');
    }
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
