import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import { isEncrypted, NO_KEYS } from '../../src/temporal/encryption.js';
import { eventually } from '../support/eventually.js';
import { PaymentWorld } from '../support/payment-world.js';
import { testEncryption } from '../support/test-encryption.js';

const { History } = temporal.api.history.v1;
const { WorkflowExecutionInfo, WorkflowExecutionConfig } = temporal.api.workflow.v1;
const { QueryWorkflowResponse, DescribeWorkflowExecutionResponse } = temporal.api.workflowservice.v1;
const { Memo, SearchAttributes } = temporal.api.common.v1;
const { UserMetadata } = temporal.api.sdk.v1;

/** Personal data of the people in these payments, which nobody may read. */
const PERSONAL = {
  'phone of the payer': '677123801',
  'phone of the recipient': '655987802',
  'phone of somebody unknown': '699555444',
  'name of the payer': 'Éloïse Mballa',
  'name of the recipient': 'Jean-Paul Etoundi',
  'e-mail address of the payer': 'eloise.mballa@example.cm',
  'e-mail address of the recipient': 'jp@etoundi.example.cm',
  'what the operator wrote': 'the payer has shown the receipt',
} as const;

const payer = {
  phone: PERSONAL['phone of the payer'],
  name: PERSONAL['name of the payer'],
  email: PERSONAL['e-mail address of the payer'],
};
const recipient = {
  phone: PERSONAL['phone of the recipient'],
  name: PERSONAL['name of the recipient'],
  email: PERSONAL['e-mail address of the recipient'],
};

/** Whether the next request on a phone makes its worker fail, which quotes what it was to send. */
let isDoomed = false;

/** What was found, by where. */
type Places = Map<string, Buffer>;

/** Takes payments of every kind, with all that may be said about them. Returns their workflows. */
async function takePayments(world: PaymentWorld): Promise<string[]> {
  const told = { message: `For ${payer.name}`, metadata: { buyer: payer.name } };
  const { phone: _, name: __, ...linked } = payer;
  const link = await world.begin('collections', { method: 'link', amount: 5_000, ...linked, ...told });
  await world.visit(link, 'decline', payer.phone);
  await world.visit(link, 'pay');
  await world.ended(link.id);

  isDoomed = true;
  const direct = await world.begin('collections', { method: 'direct', amount: 700, ...payer, ...told });
  await world.post(`/v1/payments/${direct.id}/refresh`, {});
  await world.settle(direct.id, 'FAILED');
  await world.ended(direct.id);

  const payout = await world.begin('payouts', { amount: 900, ...recipient, message: recipient.name });
  await world.settle(payout.id, 'SUCCESSFUL');
  await world.ended(payout.id);
  await world.notify(payout, { status: 'FAILED' });

  world.sandbox.faults.add({ fault: 'lowBalance' });
  const { body: rejected } = await world.post('/v1/payouts', { amount: 901, ...recipient });
  const rejectedId = String(rejected.payment?.id);
  world.sandbox.faults.clear();

  world.sandbox.faults.add({ fault: 'errorBeforeCommit', endpoint: 'direct-pay' });
  const { body: doubted } = await world.post('/v1/collections', { method: 'direct', amount: 701, ...payer });
  await world.untilStatus(doubted.id, 'REVIEW');
  const why = PERSONAL['what the operator wrote'];
  await world.resolve(doubted.id, { action: 'fail', why });
  // The API has taken the turn: the workflow shows it once it is rung.
  await eventually(
    () => world.client.workflow.getHandle(doubted.id).query('__temporal_workflow_metadata'),
    (shown) => JSON.stringify(shown).includes(why),
  );

  const stranger = { externalId: PERSONAL['phone of somebody unknown'], transId: 'ntLE9hHMsiKRMFBw' };
  expect(await world.notify(link, stranger)).toBe(200);
  return [link.id, direct.id, payout.id, rejectedId, doubted.id];
}

/** All that Temporal answers about these workflows, as it is sent. */
async function shownBy(world: PaymentWorld, ids: readonly string[]): Promise<Places> {
  const { workflowService } = world.client;
  const namespace = 'default';
  const places: Places = new Map();
  const add = (place: string, bytes: Uint8Array) => {
    places.set(place, Buffer.concat([places.get(place) ?? Buffer.alloc(0), bytes]));
  };
  const listed = await eventually(
    async () => (await workflowService.listWorkflowExecutions({ namespace })).executions,
    (executions) => ids.every((id) => executions.some(({ execution }) => execution?.workflowId === id)),
  );
  for (const info of listed) {
    const { execution } = info;
    add('ids', Buffer.from(`${execution?.workflowId}\n`));
    add('list', WorkflowExecutionInfo.encode(info).finish());
    const { history } = await workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: execution ?? null,
    });
    add('histories', History.encode(history ?? {}).finish());
    const described = await workflowService.describeWorkflowExecution({
      namespace,
      execution: execution ?? null,
    });
    add('describe', DescribeWorkflowExecutionResponse.encode(described).finish());
    const { memo, searchAttributes } = described.workflowExecutionInfo ?? {};
    add('memos', Memo.encode(memo ?? {}).finish());
    add('search attributes', SearchAttributes.encode(searchAttributes ?? {}).finish());
    const { userMetadata } = described.executionConfig ?? {};
    add('summaries', UserMetadata.encode(userMetadata ?? {}).finish());
    add('settings', WorkflowExecutionConfig.encode(described.executionConfig ?? {}).finish());
    const answer = await workflowService.queryWorkflow({
      namespace,
      execution: execution ?? null,
      query: { queryType: '__temporal_workflow_metadata' },
    });
    add('queries', QueryWorkflowResponse.encode(answer).finish());
  }
  return places;
}

/** Lists the personal data in each place. */
function found(places: Places): Record<string, string[]> {
  const entries = [...places].map(([place, bytes]) => {
    const names = Object.entries(PERSONAL).filter(([, value]) => bytes.includes(value));
    return [place, names.map(([name]) => name).sort()] as const;
  });
  return Object.fromEntries(entries.filter(([, names]) => names.length > 0));
}

/** The files of the server's database. */
async function database(folder: string): Promise<Places> {
  const files = (await readdir(folder)).filter((name) => name.startsWith('temporal.db'));
  const all = await Promise.all(files.map((name) => readFile(join(folder, name))));
  return new Map([['database', Buffer.concat(all)]]);
}

/** All rows of the book, with what their bytes say. */
async function bookOf({ made: { book } }: PaymentWorld): Promise<Places> {
  const places: Places = new Map();
  const tables = await book.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of tables) {
    const rows = await book.query(`SELECT one::text AS row FROM "${tablename}" AS one`);
    const text = rows.map(({ row }) => String(row)).join('\n');
    const bytes = text.replace(/\\\\x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, 'hex').toString('latin1'));
    places.set(String(tablename), Buffer.concat([Buffer.from(text), Buffer.from(bytes, 'latin1')]));
  }
  return places;
}

describe.each([
  { encryption: testEncryption, isOn: true },
  { encryption: NO_KEYS, isOn: false },
])("people's data, with encryption $isOn", ({ encryption, isOn }) => {
  let folder: string;
  let world: PaymentWorld;
  let ids: string[];
  let places: Places;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-personal-'));
    world = await PaymentWorld.start({
      databaseFile: join(folder, 'temporal.db'),
      encryption,
      terms: { ambiguousGraceMs: 1_000 },
      activities: (usual) => ({
        ...usual,
        async requestOnPhone(...given) {
          if (!isDoomed) return await usual.requestOnPhone(...given);
          isDoomed = false;
          throw new Error(`${payer.name} at ${payer.phone} (${payer.email})`);
        },
      }),
    });
    ids = await takePayments(world);
    places = await shownBy(world, ids);
  });

  afterAll(async () => {
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  });

  if (isOn) {
    it('is nowhere to be read, neither in Temporal nor in the book', async () => {
      expect([...places.keys()]).toEqual(expect.arrayContaining(['histories', 'search attributes', 'queries']));
      expect(found(places)).toEqual({});
      expect(found(await database(folder))).toEqual({});
      const book = await bookOf(world);
      expect([...book.keys()]).toEqual(expect.arrayContaining(['payments', 'states', 'inbox', 'sends', 'unmatched']));
      expect(found(book)).toEqual({});
    });

    it('is readable with the key, as far as it is there', async () => {
      const details = await world.client.workflow.getHandle(ids[0] ?? '').describe();
      expect(await details.staticDetails()).toContain('Collection by link');
    });

    it("is in no payload that isn't encrypted, save the search attributes", async () => {
      const { executions } = await world.client.workflowService.listWorkflowExecutions({ namespace: 'default' });
      for (const { execution, memo, searchAttributes } of executions) {
        expect(Object.values(memo?.fields ?? {}).every(isEncrypted)).toBe(true);
        expect(Object.values(searchAttributes?.indexedFields ?? {}).some(isEncrypted)).toBe(false);
        const { history } = await world.client.workflowService.getWorkflowExecutionHistory({
          namespace: 'default',
          execution: execution ?? null,
        });
        expect(plainPayloads(history)).toEqual([]);
      }
    });
  } else {
    it('is found by these tests: in Temporal, where a worker has quoted it alone, and in the book', async () => {
      const quoted = ['e-mail address of the payer', 'name of the payer', 'phone of the payer'];
      const { settings: _, ...shown } = found(places);
      // The details of a payment, which the Web UI shows, have what an operator wrote.
      const written = 'what the operator wrote';
      expect(shown).toEqual({ histories: [...quoted, written], queries: [written] });
      expect(found(await database(folder))).toEqual({ database: [...quoted, written] });
      const kept = new Set(Object.values(found(await bookOf(world))).flat());
      expect([...kept].sort()).toEqual(Object.keys(PERSONAL).sort());
    });
  }
});

/**
 * Finds payloads of a history that aren't encrypted, other than search attributes and the notes of Temporal's own core
 * in markers.
 */
function plainPayloads(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  const isPayload = 'metadata' in value && 'data' in value && value.data instanceof Uint8Array;
  if (isPayload) return isEncrypted(value as Parameters<typeof isEncrypted>[0]) ? [] : [path.join('.')];
  return Object.entries(value).flatMap(([name, inner]) => {
    const isCores = path.includes('markerRecordedEventAttributes') && (name === 'data' || name === 'patch-data');
    if (name === 'searchAttributes' || isCores) return [];
    return plainPayloads(inner, [...path, name]);
  });
}
