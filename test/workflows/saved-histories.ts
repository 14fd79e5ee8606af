import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { defaultPayloadConverter } from '@temporalio/common';
import { type History, historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { PaymentInput } from '../../src/workflows/messages.js';

/** One history for each scenario, saved from the tests and replayed on every run. */
const FOLDER = fileURLToPath(new URL('../histories/', import.meta.url));

/** Saves a history when SAVE_HISTORIES is set. */
export async function saveHistory(scenario: string, history: History): Promise<void> {
  if (process.env.SAVE_HISTORIES === undefined) return;
  await mkdir(FOLDER, { recursive: true });
  // Where a failure was thrown from tells of the machine that recorded it, and of nothing that a replay needs.
  const json = historyToJSON(history).replace(/"stackTrace": "(?:[^"\\]|\\.)+"/g, '"stackTrace": ""');
  await writeFile(`${FOLDER}${scenario}.json`, `${json}\n`);
}

/** Each under the id that its workflow had, and the name of its scenario. */
export async function savedHistories(): Promise<{ scenario: string; workflowId: string; history: History }[]> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.json')).sort();
  return await Promise.all(
    files.map(async (name) => {
      const scenario = name.replace(/\.json$/, '');
      const history = historyFromJSON(JSON.parse(await readFile(`${FOLDER}${name}`, 'utf8')));
      return { scenario, workflowId: workflowIdIn(history) ?? scenario, history };
    }),
  );
}

function workflowIdIn({ events }: History): string | undefined {
  const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return input ? defaultPayloadConverter.fromPayload<Partial<PaymentInput>>(input).id : undefined;
}
