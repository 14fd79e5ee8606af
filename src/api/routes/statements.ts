import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { UnreadableRecordError } from '../../book/versioned-json.js';
import { callTemporal } from '../../engine/temporal-calls.js';
import { isOperator } from '../../http/auth.js';
import { invalidRequest } from '../../http/problem.js';
import { dayAfter, dayOf, HOUR_MS, isDay, isoTime, startOf } from '../../payments/words/time.js';
import { type Statement, statementOf } from '../../reconciliation/statement.js';
import { statementListSchema, statementRequestSchema, statementSchema } from '../../schemas/statement.js';
import {
  MAX_STATEMENT_RUN,
  STATEMENT_WORKFLOW_TYPE,
  type StatementInput,
  statementSoFarWorkflowId,
  statementWorkflowId,
} from '../../workflows/messages.js';
import { ApiError, recordUnreadable } from '../api-error.js';
import type { ApiContext } from '../context.js';
import { day, separator, wholeNumber } from '../parameters.js';
import { authenticatedRoute } from '../route.js';
import { statementCsv } from './statement-csv.js';
import { statementJson } from './statement-json.js';

const PAGE_SIZE = { max: 100, default: 31 } as const;

/** The statements of days that have been made. */
export const listStatements = authenticatedRoute({
  method: 'get',
  path: '/v1/statements',
  summary: 'The statements of days, newest first',
  description:
    'A statement is made each night for the day that has ended in Douala. Of a day whose statement was made again, the latest version is listed. One of a day that was not over is listed until the day is.',
  operationId: 'listStatements',
  tag: 'Statements',
  responses: { 200: { description: 'A page of statements.', schema: statementListSchema } },
  problems: ['temporarily_unavailable'],
  scopes: ['read', 'review'],
  query: z.strictObject({
    before: day.optional().describe('Only days before this one: the last of the page before'),
    limit: wholeNumber({ min: 1, max: PAGE_SIZE.max, fallback: PAGE_SIZE.default }).describe('Statements per page'),
  }),
  async handle({ query: { before, limit }, caller }, { statements }) {
    const found = await statements.list(before, limit + 1);
    const data = found.slice(0, limit).map(({ payments, differences, ...summary }) => ({
      ...summary,
      // The counts cover all merchants.
      ...(isOperator(caller) && { payments, differences }),
    }));
    return { status: 200, json: { data, hasMore: found.length > limit } };
  },
});

/** Returns a day's statement: all of it to operators, and a merchant's own part to the merchant. */
export const getStatement = authenticatedRoute({
  method: 'get',
  path: '/v1/statements/:date',
  summary: 'The statement of a day',
  description:
    "Every payment that was created on that day in Douala, with the provider's fee, what doesn't agree with the provider's records, and totals. For operators also the balances as the provider said them, transactions that no payment here knows, and what the provider's search couldn't show. A merchant's key gets that merchant's part. No payer is named. One of a day that was not over is returned without `version` only until the day is.",
  operationId: 'getStatement',
  tag: 'Statements',
  responses: {
    200: {
      description: 'The statement; as CSV with `Accept: text/csv`.',
      schema: statementSchema,
      alternative: 'text/csv',
    },
  },
  problems: ['not_found', 'temporarily_unavailable', 'record_unreadable'],
  scopes: ['read', 'review'],
  query: z.strictObject({
    version: z
      .string()
      .regex(/^[1-9]\d{0,5}$/, 'must be a whole number from 1 to 999999')
      .transform(Number)
      .optional()
      .meta({ parameter: { type: 'integer', minimum: 1, maximum: 999_999 } })
      .describe('An earlier version of the statement; without it, the latest'),
    separator,
  }),
  async handle({ params: { date = '' }, query: { version, separator }, caller, preferred }, context) {
    const statement = await find(context, date, version);
    const shown = isOperator(caller) ? statement : statementOf(statement, caller.owner);
    const headers = { Vary: 'Accept' };
    if (preferred(['application/json', 'text/csv']) === 'text/csv') {
      const name = `statement-${date}-${statement.version}.csv`;
      const asFile = {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${name}"`,
      };
      return {
        status: 200,
        headers: { ...headers, ...asFile },
        pieces: statementCsv(shown, isOperator(caller), separator),
      };
    }
    return {
      status: 200,
      headers: { ...headers, 'Content-Type': 'application/json' },
      pieces: statementJson(shown),
    };
  },
});

async function find(
  { client, statements, book }: ApiContext,
  date: string,
  version: number | undefined,
): Promise<Statement> {
  const now = book.now();
  try {
    const found = isDay(date) ? await statements.find(date, version) : undefined;
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    throw recordUnreadable("There is such a statement, but its record can't be read. Tell your operator.", {
      cause: error,
    });
  }
  if (await isBeingMade(client, date, now)) {
    const words = 'The statement is being made: it takes from a few seconds to an hour. Look again.';
    throw new ApiError('not_found', words, { beingMade: true });
  }
  throw new ApiError('not_found', `There is no such statement. ${whenMade(date, now)}`);
}

/**
 * Reports whether somebody has asked for the day's statement, and it isn't ready yet. `false` while Temporal is away.
 */
async function isBeingMade(client: Client, date: string, now: number): Promise<boolean> {
  if (!isDay(date)) return false;
  const handle = client.workflow.getHandle(workflowIdFor(date, now));
  const described = await callTemporal(client, () => handle.describe()).catch(() => undefined);
  return described?.status.name === 'RUNNING';
}

/** The workflow that makes a day's statement for whoever asks now. */
function workflowIdFor(date: string, now: number): string {
  return isOver(date, now) ? statementWorkflowId(date) : statementSoFarWorkflowId(date);
}

function isOver(date: string, now: number): boolean {
  return startOf(dayAfter(date)) <= now;
}

/** A day's statement is normally made this long after the day's end, in ms. */
const MADE_WITHIN_MS = 4 * HOUR_MS;

function whenMade(date: string, now: number): string {
  if (!isDay(date)) return 'Name it by its day in Douala, such as 2026-11-21.';
  const madeBy = startOf(dayAfter(date)) + MADE_WITHIN_MS;
  const soFar = date === dayOf(now) ? ' Until then, an operator can have one made of the day so far.' : '';
  return madeBy > now
    ? `A day's statement is made in the following night: look again at ${isoTime(madeBy)}.${soFar}`
    : "A day's statement is made in the following night, some three hours after midnight in Douala. If this one was missed, an operator can have it made.";
}

const NOT_BEGUN = 'must be a day that is over in Douala, or today there: a later one has no payments yet';

/** Makes a statement for a day whose night was missed, or that is to be compared again. */
export const makeStatement = authenticatedRoute({
  method: 'post',
  path: '/v1/statements',
  summary: 'Make the statement of a day, or make it again',
  description:
    "For operators. It takes from a few seconds to an hour, depending on how many payments the day has. Balances are those that were asked for at midnight, and can't be asked for later. A statement that is made again is a new version, and earlier ones stay. One of today covers the day until now: it is never `complete`, ends at `to`, only shows what differs, and has no payment checked. The night's is made all the same.",
  operationId: 'makeStatement',
  tag: 'Statements',
  examples: { day: { summary: 'A day that is over', value: { date: '2026-11-20' } } },
  responses: {
    202: { description: 'The statement is being made.', schema: statementRequestSchema },
  },
  problems: ['temporarily_unavailable'],
  scopes: ['review'],
  body: z
    .strictObject({ date: day.describe('A day in Douala, such as `2026-11-20`') })
    .meta({ id: 'StatementRequest' }),
  async handle({ body: { date } }, context) {
    const now = context.book.now();
    if (startOf(date) > now) throw invalidRequest([{ field: 'date', message: NOT_BEGUN }]);
    const last = await context.statements.lastVersion(date);
    await start(context, date, !isOver(date, now));
    return { status: 202, json: { object: 'statement_request' as const, date, version: last + 1 } };
  },
});

/** Makes one at a time for each day: anybody who asks meanwhile gets the one being made. */
async function start({ client, taskQueue }: ApiContext, date: string, soFar: boolean): Promise<void> {
  const input: StatementInput = { v: 1, day: date, ...(soFar && { soFar }) };
  await callTemporal(client, () =>
    client.workflow.start(STATEMENT_WORKFLOW_TYPE, {
      workflowId: soFar ? statementSoFarWorkflowId(date) : statementWorkflowId(date),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowRunTimeout: MAX_STATEMENT_RUN,
      staticSummary: `The statement of ${date}${soFar ? ' so far' : ''}`,
    }),
  );
}
