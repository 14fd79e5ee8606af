import tab from '@bomb.sh/tab/commander';
import { Command, InvalidArgumentError } from 'commander';
import { VERSION } from '../client/index.js';
import { visibleLines } from '../src/text/visible-text.js';
import { addApprovalCommands } from './commands/approvals.js';
import { addBalanceCommand } from './commands/balance.js';
import { addCreateCommands } from './commands/create.js';
import { addDoctorCommand } from './commands/doctor.js';
import { addEndCommands } from './commands/end.js';
import { addListenCommand } from './commands/listen.js';
import { addNotificationsCommand } from './commands/notifications.js';
import { addProcessCommands } from './commands/processes.js';
import { addReadCommands } from './commands/read.js';
import { addRefundCommand } from './commands/refund.js';
import { addReviewCommand } from './commands/review.js';
import { addStatementsCommand } from './commands/statements.js';
import { addTrialCommands } from './commands/trial.js';
import { addTriggerCommand } from './commands/trigger.js';
import { optionOf } from './option-names.js';

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

  addTrialCommands(program);
  program.commandsGroup('Payments:');
  addCreateCommands(program);
  addRefundCommand(program);
  addEndCommands(program);
  addReadCommands(program);
  addApprovalCommands(program);
  addBalanceCommand(program);
  addNotificationsCommand(program);
  addReviewCommand(program);
  addStatementsCommand(program);
  program.commandsGroup('Integrating:');
  addListenCommand(program);
  addTriggerCommand(program);
  addDoctorCommand(program);
  addProcessCommands(program);
  refuseEmptyValues(program);
  addCompletionCommand(program);
  sayMistakes(program, 'sanaga');
  return program;
}

/** The command that prints completion scripts for shells. */
function addCompletionCommand(program: Command): void {
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
}

/**
 * Makes each command print an error with a line on its usage: above its whole help, the error would be off the screen.
 * An option named like a field of the API is answered with its name here.
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
