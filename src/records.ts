import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { xaf } from './payments/words/limits.js';
import { isoTime } from './payments/words/time.js';
import { runProcess } from './process/run-process.js';
import { openRecords } from './process/services.js';
import { nineDigits, readEmail } from './provider/contact.js';
import { type ErasurePreview, OtherErasureError, type PayerAsked, type Reason } from './records/payer-data.js';
import { MissingKeyError } from './records/payers.js';
import type { Records } from './records/records.js';
import { ConfigError } from './settings/config-error.js';
import { readConfig } from './settings/read-settings.js';
import { createLogger } from './telemetry/logger.js';
import { encryptionOf } from './temporal/encryption.js';
import { visible } from './text/visible-text.js';

const USAGE = `Usage: node lib/records.js <command>

  migrate             bring the tables up to date; the API and the workers do so, too
  status              say up to when payments are recorded
  preview <payer>     list the payments from which an erasure would take a payer's data
  erase <payer>       erase a payer's personal data: what the preview has shown, by --confirm or typed in a terminal
  export <payer>      print all that is recorded of a payer, as JSON
  requests [<payer>]  list when payers' data was exported and erased, by whom and why

A payer is a phone number, or an e-mail address. With --merchant <name>, only that merchant's payments are meant.
erase and export need --by <your name> and --why <the reason>, such as a ticket, and keep both.
They need RECORDS_URL, and ENCRYPTION_KEYS as the API and the workers have it.
`;

const OPTIONS = {
  merchant: { type: 'string' },
  by: { type: 'string' },
  why: { type: 'string' },
  confirm: { type: 'string' },
} as const;

type Run = (records: Records) => Promise<string>;

/** The records' commands for operators. */
await runProcess(async () => {
  const run = commandOf(process.argv.slice(2));
  if (run === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = 64;
    return;
  }
  const config = readConfig('records', process.env);
  // The answers of the commands are on the standard output.
  const records = openRecords(config, encryptionOf(config), createLogger('records', config.LOG_LEVEL, 2));
  try {
    if (records !== undefined) process.stdout.write(`${await run(records)}\n`);
  } catch (error) {
    if (error instanceof OtherErasureError) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
      return;
    }
    // A setting is missing.
    throw error instanceof MissingKeyError ? new ConfigError(error.message) : error;
  } finally {
    await records?.close();
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
    case 'migrate':
      return asked || hasOptions ? undefined : migrate;
    case 'status':
      return asked || hasOptions ? undefined : status;
    case 'requests':
      return hasOptions ? undefined : (records) => requests(records, payer);
    case 'preview':
      return asked && !hasReason && confirm === undefined ? (records) => preview(records, asked) : undefined;
    case 'erase':
      return asked && reason ? (records) => erase(records, asked, reason, confirm) : undefined;
    case 'export':
      return asked && reason && confirm === undefined ? (records) => show(records, asked, reason) : undefined;
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

async function migrate(records: Records): Promise<string> {
  await records.migrate();
  return 'The tables are up to date.';
}

async function status(records: Records): Promise<string> {
  const { recordedUntil } = await records.recorderState();
  return recordedUntil === undefined
    ? 'Nothing was recorded yet: no worker with RECORDS_URL has been running.'
    : `All payments that ended before ${isoTime(recordedUntil)} are recorded.`;
}

async function preview(records: Records, asked: PayerAsked): Promise<string> {
  return previewText(await records.payerData.preview(asked), asked);
}

async function erase(
  records: Records,
  asked: PayerAsked,
  reason: Reason,
  confirm: string | undefined,
): Promise<string> {
  const payments = await records.payerData.erase(asked, reason, confirm ?? (await typedConfirmation(records, asked)));
  return [
    ...payments.map((id) => `erased: ${id}`),
    `Payments from which the payer's data was erased: ${payments.length}. Those of theirs that are still under way are recorded without it.`,
    'Temporal keeps its own copy, encrypted, until its retention is over, and backups of the database as long as you keep these.',
  ].join('\n');
}

/** Shows the preview, and has the number of its payments typed. @throws {OtherErasureError} */
async function typedConfirmation(records: Records, asked: PayerAsked): Promise<string> {
  const shown = await records.payerData.preview(asked);
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
  const open = payments.filter(({ closedAt }) => closedAt === undefined);
  const whose = [...new Set(payments.map((one) => one.merchant))].map(
    (name) => `${name}: ${payments.filter((one) => one.merchant === name).length}`,
  );
  const [first, last] = [payments[0], payments.at(-1)];
  return [
    ...payments.map(
      ({ id, merchant, indexed: { kind, status, amount, createdAt } }) =>
        `${id}  ${merchant}  ${kind}  ${status}  ${xaf(amount)}  ${isoTime(createdAt)}`,
    ),
    first === undefined || last === undefined
      ? `No payment${merchant === undefined ? '' : ` of ${merchant}`} is recorded with it.`
      : `Payments: ${payments.length} (${whose.join(', ')}), from ${isoTime(first.indexed.createdAt)} to ${isoTime(last.indexed.createdAt)}.`,
    ...(open.length === 0
      ? []
      : [
          `Under way: ${open.map(({ id }) => id).join(', ')}. Temporal keeps the data while they are, since it may have to be sent or looked for; once they end, they are recorded without it.`,
        ]),
    "Payments under way that are not recorded yet can't be listed. Once they end, they are recorded without it, too.",
    `confirm: ${confirmation}`,
  ].join('\n');
}

async function show(records: Records, asked: PayerAsked, reason: Reason): Promise<string> {
  return JSON.stringify(await records.payerData.export(asked, reason), null, 2);
}

async function requests(records: Records, payer: string | undefined): Promise<string> {
  const made = await records.payerData.requests(payer);
  if (made.length === 0) return 'None.';
  return made
    .map(({ at, kind, payer: hash, merchant = 'all merchants', payments, reason }) => {
      const { by, why } = reason ?? { by: "can't be read: its encryption key is missing", why: '' };
      return `${isoTime(at)}  ${kind}  payer ${hash.slice(0, 12)}  ${merchant}  payments: ${payments}  by ${visible(by)}: ${visible(why)}`;
    })
    .join('\n');
}

/** Nine digits, or an e-mail address in lower case; `undefined` for anything else. */
function payerOf(text: string): string | undefined {
  return nineDigits(text) ?? readEmail(text)?.toLowerCase();
}
