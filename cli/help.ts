import { COMMANDS, type CommandName } from './commands.js';

/** The help of one command, or of them all; it ends with a line break. */
export function helpText(command?: CommandName): string {
  return command === undefined ? overview() : commandHelp(command);
}

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}   ${summary}`);
  return `Sanaga: payments, each one seen through to a proven outcome.

Usage: sanaga <command> [--help]

${lines.join('\n')}

"sanaga <command> --help" says more about a command.
`;
}

function commandHelp(name: CommandName): string {
  const { summary, details, json } = COMMANDS[name];
  const options = [
    ...(json ? ['  --json   one JSON object a payment a line on stdout, progress on stderr'] : []),
    '  --help   this text',
  ];
  return `${summary}.

Usage: sanaga ${name}${json ? ' [--json]' : ''} [--help]

${options.join('\n')}

${details}
`;
}
