import { parseArgs } from 'node:util';
import { COMMANDS, type CommandName, isCommandName } from './commands.js';

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: 'run'; readonly command: CommandName; readonly json: boolean }
  /** Without a command: the help of the whole. */
  | { readonly kind: 'help'; readonly command?: CommandName }
  | { readonly kind: 'wrong'; readonly message: string; readonly command?: CommandName };

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/**
 * Reads the arguments that follow `sanaga`.
 *
 * @example readCommandLine(['demo', '--json']) // { kind: 'run', command: 'demo', json: true }
 */
export function readCommandLine(args: readonly string[]): Invocation {
  const [first, ...rest] = args;
  if (first === undefined) return { kind: 'wrong', message: 'which command?' };
  if (first === '--help' || first === '-h' || first === 'help') return { kind: 'help' };
  if (first.startsWith('-')) return { kind: 'wrong', message: `unknown option ${first}` };
  if (!isCommandName(first)) return { kind: 'wrong', message: `unknown command ${first}` };
  return readOptions(first, rest);
}

function readOptions(command: CommandName, args: string[]): Invocation {
  const takesJson = COMMANDS[command].json;
  const options = { ...HELP, ...(takesJson && { json: { type: 'boolean' } as const }) };
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind === 'positional') return wrong(command, `unexpected argument ${token.value}`);
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(options, token.name)) return wrong(command, `unknown option ${token.rawName}`);
    if (token.value !== undefined) return wrong(command, `${token.rawName} takes no value`);
    given.add(token.name);
  }
  return given.has('help') ? { kind: 'help', command } : { kind: 'run', command, json: given.has('json') };
}

const wrong = (command: CommandName, message: string): Invocation => ({ kind: 'wrong', command, message });
