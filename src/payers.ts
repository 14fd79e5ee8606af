import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Book } from './book/book.js';
import {
  type ErasurePreview,
  erasePayer,
  exportPayer,
  OtherErasureError,
  type PayerAsked,
  payerRequests,
  previewErasure,
  type Reason,
} from './book/payer-data.js';
import { MissingKeyError } from './book/payers.js';
import { resealAll } from './book/resealing.js';
import { UnreadableRecordError } from './book/versioned-json.js';
import { xaf } from './payments/words/limits.js';
import { isoTime } from './payments/words/time.js';
import { runProcess } from './process/run-process.js';
import { nineDigits, readEmail } from './provider/contact.js';
import { ConfigError } from './settings/config-error.js';
import { readConfig } from './settings/read-settings.js';
import { encryptionOf } from './temporal/encryption.js';
import { visible } from './text/visible-text.js';

const USAGE = `Usage: node lib/payers.js <command>

  preview <payer>     list the payments from which an erasure would take a payer's data
  erase <payer>       erase a payer's personal data: what the preview has shown, by --confirm or typed in a terminal
  export <payer>      print all that the book has of a payer, as JSON
  requests [<payer>]  list when payers' data was exported and erased, by whom and why
  reseal              encrypt all with the first of ENCRYPTION_KEYS, so that the others can be thrown away

A payer is a phone number, or an e-mail address. With --merchant <name>, only that merchant's payments are meant.
erase and export need --by <your name> and --why <the reason>, such as a ticket, and keep both.
They need DATABASE_URL, and ENCRYPTION_KEYS as the API and the workers have it.
`;

const OPTIONS = {
  merchant: { type: 'string' },
  by: { type: 'string' },
  why: { type: 'string' },
  confirm: { type: 'string' },
} as const;

type Run = (book: Book) => Promise<string>;

/** What operators do with payers' data, and with the keys that it is encrypted with. */
await runProcess(async () => {
  const run = commandOf(process.argv.slice(2));
  if (run === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = 64;
    return;
  }
  const config = readConfig('book', process.env);
  const book = new Book(config.DATABASE_URL, encryptionOf(config));
  try {
    process.stdout.write(`${await run(book)}\n`);
  } catch (error) {
    if (error instanceof OtherErasureError) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
      return;
    }
    // A setting is missing.
    const isKeyMissing = error instanceof MissingKeyError || error instanceof UnreadableRecordError;
    throw isKeyMissing ? new ConfigError(error.message) : error;
  } finally {
    await book.close();
  }
});

/** Reads a command; `undefined` when it is none, or something is missing or too much. */
function commandOf(args: string[]): Run | undefined {
  const parsed = argumentsIn(args);
  if (parsed === undefined) return undefined;
  const [command, given, ...more] = parsed.positionals;
  const { merchant, by, why, confirm } = parsed.values;
  const payer = given === undefined ? undefined : payerOf(given);
  if (more.length > 0 || (given !== undefined && payer === undefined)) return undefined;
  const asked = payer === undefined ? undefined : { payer, merchant };
  const reason = by?.trim() && why?.trim() ? { by: by.trim(), why: why.trim() } : undefined;
  const hasOptions = Object.keys(parsed.values).length > 0;
  const hasReason = by !== undefined || why !== undefined;
  switch (command) {
    case 'reseal':
      return asked || hasOptions ? undefined : reseal;
    case 'requests':
      return hasOptions ? undefined : (book) => requests(book, payer);
    case 'preview':
      return asked && !hasReason && confirm === undefined ? (book) => preview(book, asked) : undefined;
    case 'erase':
      return asked && reason ? (book) => erase(book, asked, reason, confirm) : undefined;
    case 'export':
      return asked && reason && confirm === undefined ? (book) => show(book, asked, reason) : undefined;
    default:
      return undefined;
  }
}

function argumentsIn(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch {
    return undefined;
  }
}

async function reseal(book: Book): Promise<string> {
  const lines: string[] = [];
  await resealAll(book, (table, rows) => lines.push(`${table}: ${rows}`));
  return [...lines, 'All is encrypted with the first key. Backups from before still need the others.'].join('\n');
}

async function preview(book: Book, asked: PayerAsked): Promise<string> {
  return previewText(await previewErasure(book, asked), asked);
}

async function erase(book: Book, asked: PayerAsked, reason: Reason, confirm: string | undefined): Promise<string> {
  const confirmation = confirm ?? (await typedConfirmation(book, asked));
  const { payments, underWay } = await erasePayer(book, asked, reason, confirmation, book.now());
  return [
    ...payments.map((id) => `erased: ${id}`),
    ...underWay.map((id) => `under way: ${id}`),
    `Payments from which the payer's data was erased: ${payments.length}. Those under way: ${underWay.length}, from which a worker erases it once they are over.`,
    'Backups of the database keep it as long as you keep these.',
  ].join('\n');
}

/** Shows the preview, and has the number of its payments typed. @throws {OtherErasureError} */
async function typedConfirmation(book: Book, asked: PayerAsked): Promise<string> {
  const shown = await previewErasure(book, asked);
  process.stderr.write(`${previewText(shown, asked)}\n`);
  const { length } = shown.payments;
  if (!process.stdin.isTTY) {
    throw new OtherErasureError('Nothing was erased: repeat what the preview says after "confirm:" as --confirm.');
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.setPrompt(`It can't be undone. Type the number of payments, ${length}, to erase it: `);
  terminal.prompt();
  const [typed] = await Promise.race([once(terminal, 'line'), once(terminal, 'close')]);
  terminal.close();
  if (typed?.trim() === String(length)) return shown.confirmation;
  throw new OtherErasureError('Nothing was erased.');
}

function previewText({ payments, confirmation }: ErasurePreview, { merchant }: PayerAsked): string {
  const open = payments.filter(({ final }) => !final);
  const whose = [...new Set(payments.map((one) => one.merchant))].map(
    (name) => `${name}: ${payments.filter((one) => one.merchant === name).length}`,
  );
  const [first, last] = [payments[0], payments.at(-1)];
  return [
    ...payments.map(
      ({ id, merchant: owner, kind, status, amount, createdAt }) =>
        `${id}  ${owner}  ${kind}  ${status}  ${xaf(amount)}  ${isoTime(createdAt)}`,
    ),
    first === undefined || last === undefined
      ? `No payment${merchant === undefined ? '' : ` of ${merchant}`} has it.`
      : `Payments: ${payments.length} (${whose.join(', ')}), from ${isoTime(first.createdAt)} to ${isoTime(last.createdAt)}.`,
    ...(open.length === 0
      ? []
      : [`Under way: ${open.map(({ id }) => id).join(', ')}. The data is erased from them once they are over.`]),
    `confirm: ${confirmation}`,
  ].join('\n');
}

async function show(book: Book, asked: PayerAsked, reason: Reason): Promise<string> {
  return JSON.stringify(await exportPayer(book, asked, reason, book.now()), null, 2);
}

async function requests(book: Book, payer: string | undefined): Promise<string> {
  const made = await payerRequests(book, payer);
  if (made.length === 0) return 'None.';
  return made
    .map(({ at, kind, by, payer: digest, merchant = 'all merchants', payments = '?', why }) => {
      const reason = why === undefined ? "its reason can't be read: an encryption key is missing" : visible(why);
      return `${isoTime(at)}  ${kind}  payer ${digest.slice(0, 12)}  ${merchant}  payments: ${payments}  by ${visible(by)}: ${reason}`;
    })
    .join('\n');
}

/** Nine digits, or an e-mail address in lower case; `undefined` for anything else. */
function payerOf(text: string): string | undefined {
  return nineDigits(text) ?? readEmail(text)?.toLowerCase();
}
