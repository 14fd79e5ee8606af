import { parseArgs } from 'node:util';
import { isoTime } from './payments/words/time.js';
import { runProcess } from './process/run-process.js';
import { openRecords } from './process/services.js';
import { nineDigits, readEmail } from './provider/contact.js';
import { MissingKeyError } from './records/payers.js';
import type { Records } from './records/records.js';
import { ConfigError } from './settings/config-error.js';
import { readConfig } from './settings/read-settings.js';
import { createLogger } from './telemetry/logger.js';
import { encryptionOf } from './temporal/encryption.js';

const USAGE = `Usage: node lib/records.js <command>

  migrate          bring the tables up to date; the API and the workers do so, too
  status           say up to when payments are recorded
  erase <payer>    erase a payer's personal data: a phone number, or an e-mail address

They need RECORDS_URL, and ENCRYPTION_KEYS as the API and the workers have it.
`;

const COMMANDS: ReadonlyMap<string, (records: Records, payer: string) => Promise<string>> = new Map([
  ['migrate', migrate],
  ['status', status],
  ['erase', erase],
]);

/** The records' commands for operators. */
await runProcess(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [command = '', given = '', ...more] = positionals;
  const run = COMMANDS.get(command);
  const payer = payerOf(given);
  const isComplete = command === 'erase' ? payer !== undefined : given === '';
  if (run === undefined || !isComplete || more.length > 0) {
    process.stderr.write(USAGE);
    process.exitCode = 64;
    return;
  }
  const config = readConfig('records', process.env);
  const records = openRecords(config, encryptionOf(config), createLogger('records', config.LOG_LEVEL));
  try {
    if (records !== undefined) process.stdout.write(`${await run(records, payer ?? '')}\n`);
  } catch (error) {
    // A setting is missing.
    throw error instanceof MissingKeyError ? new ConfigError(error.message) : error;
  } finally {
    await records?.close();
  }
});

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

async function erase(records: Records, payer: string): Promise<string> {
  const { payments } = await records.erase(payer);
  return [
    ...payments.map((id) => `erased: ${id}`),
    `Payments from which the payer's data was erased: ${payments.length}. Those of theirs that are still under way are recorded without it.`,
    'Temporal keeps its own copy, encrypted, until its retention is over, and backups of the database as long as you keep these.',
  ].join('\n');
}

/** Nine digits, or an e-mail address in lower case; `undefined` for anything else. */
function payerOf(text: string): string | undefined {
  return nineDigits(text) ?? readEmail(text)?.toLowerCase();
}
