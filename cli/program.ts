import tab from '@bomb.sh/tab/commander';
import { Command, InvalidArgumentError } from 'commander';
import { VERSION } from '../client/index.js';
import { SETTING_NAMES } from '../sandbox/settings.js';
import { settingNames } from '../src/settings/read-settings.js';
import { visibleLines } from '../src/text/visible-text.js';
import { addBalanceCommand } from './commands/balance.js';
import { addCreateCommands } from './commands/create.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEndCommands } from './commands/end.js';
import { addListenCommand } from './commands/listen.js';
import { addNotificationsCommand } from './commands/notifications.js';
import { addReadCommands } from './commands/read.js';
import { addReviewCommand } from './commands/review.js';
import { addStatementsCommand } from './commands/statements.js';
import { addTriggerCommand } from './commands/trigger.js';
import { optionOf } from './option-names.js';
import { untilDone } from './run.js';

/**
 * The command line: every command with its options, its help and what runs it. A command loads what it needs when it is
 * run, so that help appears at once.
 *
 * Parsing throws a CommanderError for help, which has been printed then, and for a mistake, which has been reported.
 */
export function createProgram(): Command {
  const program = new Command('sanaga')
    .description('Sanaga: payments, each one seen through to a proven outcome.')
    .usage('<command> [options]')
    .version(VERSION, '-V, --version', 'print the version')
    // Otherwise, --version of a command would be this one.
    .enablePositionalOptions()
    .addHelpText('after', '\nRun "sanaga <command> --help" for more about a command.')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureOutput({
      outputError: (text, write) => write(visibleLines(text.replace(/^error: /, 'sanaga: '))),
    })
    .exitOverride();

  program.commandsGroup('Trying it:');
  program
    .command('demo')
    .summary('take payments of every kind to their outcomes, and show them')
    .description(
      "Starts Temporal, the records' database, the provider's sandbox, a worker, the API and the codec server, takes " +
        'payments of every kind through them, and ' +
        "shows each with its outcome and a link to it in Temporal's Web UI. Then it stops everything and leaves nothing " +
        'behind. A day of the sandbox takes 15 seconds, so that you can see a link expire.',
    )
    .option('--json', 'print each payment as a line of JSON; progress goes to stderr')
    .addHelpText(
      'after',
      `
Environment:
  TEMPORAL_ADDRESS   use this Temporal server instead of starting one

Exit code: 0 when every payment ended as its scenario says and the provider's
ledger agrees, otherwise 1.`,
    )
    .action(({ json = false }: { json?: boolean }) =>
      untilDone(async (stop) => (await import('../stack/demo/run-demo.js')).runDemo({ json, stop })),
    );

  program
    .command('start')
    .summary('run the same processes and the desk until Ctrl-C, with their state in .sanaga/')
    .description(
      "Starts Temporal, the provider's sandbox, the records' database, a worker, the API, the desk and the codec server, prints their addresses, and runs until you press " +
        "Ctrl-C. Temporal's database, the records, all that the sandbox knows, the generated secrets and the logs are kept in " +
        '.sanaga/ in the current folder, so that a restart loses nothing.',
    )
    .addHelpText(
      'after',
      `
Environment:
  PORT               port of the API (default: 3000)
  SANDBOX_PORT       port of the sandbox (default: 4000)
  TEMPORAL_ADDRESS   use this Temporal server instead of starting one
  TEMPORAL_PORT      port of the Temporal that is started (default: 7233)
  TEMPORAL_UI_PORT   port of its Web UI (default: 8233)
  DESK_PORT          port of the desk (default: 3001)
  CODEC_PORT         port of the codec server, with which the Web UI reads
                     payments (default: 8234)
  API_KEYS           use these API keys instead of a generated one
  MERCHANTS_FILE     several merchants, each with keys, addresses and limits
  MERCHANT_WEBHOOK_URL, MERCHANT_WEBHOOK_SECRET
                     where outcomes are sent, and the secret that signs them
                     (default: to "sanaga listen", with a generated secret)
  LISTEN_PORT        port that "sanaga listen" then has (default: 4242)
  The other settings of the processes apply, too: see docs/settings.md.

Exit code: 0 when it was asked to stop, 1 when a part of it failed, 78 when a
setting is wrong.`,
    )
    .action(() => untilDone(async (stop) => (await import('../stack/start/run-start.js')).runStart({ stop })));

  program
    .command('shop')
    .summary('run the same, with an example shop that takes payments')
    .description(
      'Does what "start" does, and runs the example shop (examples/shop) beside it: a small order system that takes payments ' +
        'by link, receives the notifications, and refunds. Open its address in a browser, and buy something.',
    )
    .addHelpText(
      'after',
      `
Environment:
  SHOP_PORT          port of the shop (default: 8080)
  Those of "start", but API_KEYS, MERCHANTS_FILE and MERCHANT_WEBHOOK_…: the shop
  has the generated key, and receives the notifications.

Exit code: that of "start".`,
    )
    .action(() =>
      untilDone(async (stop) => (await import('../stack/start/run-start.js')).runStart({ stop, withShop: true })),
    );

  program.commandsGroup('Payments:');
  addCreateCommands(program);
  addEndCommands(program);
  addReadCommands(program);
  addBalanceCommand(program);
  addNotificationsCommand(program);
  addReviewCommand(program);
  addStatementsCommand(program);
  program.commandsGroup('Integrating:');
  addListenCommand(program);
  addTriggerCommand(program);
  addDoctorCommand(program);

  program.commandsGroup('Processes, one by one:');
  const temporal = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];
  const processes = [
    {
      name: 'server',
      what: "the API's process",
      settings: [...temporal, ...settingNames('api')],
      run: () => import('../src/server.js'),
    },
    {
      name: 'worker',
      what: "the worker's process",
      settings: [...temporal, ...settingNames('worker')],
      stopsWithin: 'two seconds more than WORKER_SHUTDOWN_GRACE',
      run: () => import('../src/worker.js'),
    },
    {
      name: 'codec-server',
      what: "the codec server, with which Temporal's Web UI and command line read payments,",
      settings: settingNames('codec'),
      run: () => import('../src/codec-server.js'),
    },
    {
      name: 'desk',
      what: 'the pages on which operators decide',
      settings: settingNames('desk'),
      run: () => import('../src/desk.js'),
    },
    {
      name: 'sandbox',
      what: "the provider's sandbox",
      settings: SETTING_NAMES,
      run: () => import('../sandbox/main.js'),
    },
  ];
  for (const { name, what, settings, stopsWithin = '10 seconds', run } of processes) {
    program
      .command(name)
      .summary(`run ${what} alone`)
      .description(`Runs ${what} alone. Its settings come from the environment; see docs/settings.md.`)
      .addHelpText('after', settingsHelp(settings, stopsWithin))
      .action(() => run().then(() => undefined));
  }
  refuseEmptyValues(program);
  program.commandsGroup('Other:');
  tab(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.summary('print what makes your shell complete commands with the Tab key')
    .addHelpText(
      'after',
      `
Examples, for the "sanaga" on your PATH:
  source <(sanaga completion bash)       # in ~/.bashrc
  source <(sanaga completion zsh)        # in ~/.zshrc, after compinit
  sanaga completion fish | source        # in ~/.config/fish/config.fish`,
    );
  sayMistakes(program, 'sanaga');
  return program;
}

/**
 * Has each command say what is wrong, and in a line how it is used: above its whole help, the mistake would be off the
 * screen. An option that is named as a field of the API is answered with its name here.
 */
function sayMistakes(command: Command, name: string): void {
  command.showHelpAfterError(`Usage: ${name} ${command.usage()}   ("${name} --help" explains it)`);
  const { outputError } = command.configureOutput();
  command.configureOutput({
    outputError: (text, write) => outputError?.(withSuggestion(text, command), write),
  });
  for (const one of command.commands) sayMistakes(one, `${name} ${one.name()}`);
}

function withSuggestion(text: string, command: Command): string {
  const [line = '', field = ''] = /^error: unknown option '--([^'=]+).*/.exec(text) ?? [];
  const option = optionOf(field);
  const words = [
    ...command.options.map(({ long }) => long),
    ...command.registeredArguments.map((one) => `<${one.name()}>`),
  ];
  return words.includes(option) ? `${line}\n(Did you mean ${option}?)\n` : text;
}

/** Refuses empty values. They come from variables that a script didn't set, and are never meant. */
function refuseEmptyValues(command: Command): void {
  const refusing =
    <T>(parse: ((text: string, before: T) => T) | undefined) =>
    (text: string, before: T): T | string => {
      if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
      return parse === undefined ? text : parse(text, before);
    };
  for (const option of command.options) {
    if (option.required || option.optional) option.argParser(refusing(option.parseArg));
  }
  for (const argument of command.registeredArguments) argument.argParser(refusing(argument.parseArg));
  for (const one of command.commands) refuseEmptyValues(one);
}

function settingsHelp(settings: readonly string[], stopsWithin: string): string {
  return `
Environment:
${inLines(settings)}

Exit code: 0 when it was asked to stop, 78 when a setting is wrong, with a line
for each mistake. SIGTERM and SIGINT stop it gracefully, within
${stopsWithin}.`;
}

/** The words, indented, in lines of less than 80 characters. */
function inLines(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1)}, ${word}`;
    if (lines.length > 0 && longer.length < 79) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines.join(',\n');
}
