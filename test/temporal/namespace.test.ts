import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, type Connection } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { isNamespaceReady, untilNamespaceIsReady } from '../../src/process/namespace.js';
import { ConfigError } from '../../src/settings/config-error.js';
import { lazyConnection } from '../../src/temporal/connection.js';
import {
  findSetupGaps,
  type SetupConnection,
  searchAttributeTypes,
  setUpNamespace,
} from '../../src/temporal/namespace.js';
import { paymentSearchAttributes as keys } from '../../src/temporal/search-attributes.js';
import { describeGaps, setupCommands } from '../../src/temporal/setup-gaps.js';
import { freePort } from '../../stack/processes/ports.js';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { type DevServer, startDevServer } from '../../stack/temporal/start-dev-server.js';
import { KEYS, startApi } from '../support/api-under-test.js';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const DAY_MS = 24 * 60 * 60 * 1_000;
const logger = pino({ level: 'silent' });

const [INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAVAILABLE] = [3, 7, 12, 14];

/** Settings with which a process gets as far as Temporal. */
const settings = { ...stackSettings({ api: 0, sandbox: 1 }, makeSecrets()), LOG_LEVEL: 'silent' };

/** An error as gRPC gives it. */
const refusal = (code: number) =>
  Object.assign(new Error('refused'), { code, details: 'Request unauthorized.', metadata: {} });

const allAttributes = [
  ['Merchant', 'Keyword'],
  ['PaymentStatus', 'Keyword'],
  ['PaymentFinal', 'Bool'],
  ['NotificationGivenUp', 'Bool'],
  ['HeldFor', 'KeywordList'],
  ['SendAt', 'Datetime'],
  ['ReleasedAt', 'Datetime'],
  ['PaymentKind', 'Keyword'],
  ['ExternalId', 'Keyword'],
  ['UserId', 'Keyword'],
  ['TransId', 'Keyword'],
  ['RefundOf', 'Keyword'],
  ['Amount', 'Int'],
  ['AmountPaid', 'Double'],
  ['CreatedAt', 'Int'],
] as const;
const names = allAttributes.map(([name]) => name as string);
const createAll = (namespace: string) =>
  allAttributes.map(
    ([name, type]) =>
      `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${type}`,
  );

describe('a namespace that payments are to live in', () => {
  let server: DevServer;
  let connection: Connection;

  beforeAll(async () => {
    server = await startDevServer({ ui: false, report: () => undefined });
    connection = lazyConnection(server);
  });

  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  /** A namespace as Temporal makes it by default: three days, and no search attributes. */
  async function makeNamespace(namespace: string, days = 3): Promise<void> {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(days * DAY_MS),
    });
    const isKnown = () =>
      connection.operatorService.listSearchAttributes({ namespace }).then(
        () => true,
        () => false,
      );
    while (!(await isKnown())) await pause(100);
  }

  const add = (namespace: string, searchAttributes: Record<string, number>) =>
    connection.operatorService.addSearchAttributes({ namespace, searchAttributes });

  /** The server as it is to a client that may not do what is named here. */
  function forbidding(
    calls: readonly ('addSearchAttributes' | 'listSearchAttributes' | 'updateNamespace')[],
    code = PERMISSION_DENIED,
  ): SetupConnection {
    const refuse = async () => {
      throw refusal(code);
    };
    const { workflowService, operatorService } = connection;
    const may = (call: (typeof calls)[number]) => !calls.includes(call);
    return {
      withDeadline: (deadline, fn) => connection.withDeadline(deadline, fn),
      workflowService: {
        describeNamespace: workflowService.describeNamespace.bind(workflowService),
        countWorkflowExecutions: workflowService.countWorkflowExecutions.bind(workflowService),
        updateNamespace: may('updateNamespace') ? workflowService.updateNamespace.bind(workflowService) : refuse,
      },
      operatorService: {
        listSearchAttributes: may('listSearchAttributes')
          ? operatorService.listSearchAttributes.bind(operatorService)
          : refuse,
        addSearchAttributes: may('addSearchAttributes')
          ? operatorService.addSearchAttributes.bind(operatorService)
          : refuse,
      },
    } as SetupConnection;
  }

  it('lacks nothing on an embedded server', async () => {
    expect(await findSetupGaps(connection, server.namespace)).toEqual([]);
  });

  it('lacks retention and search attributes as Temporal makes it, and gets them', async () => {
    await makeNamespace('raw');
    expect(await findSetupGaps(connection, 'raw')).toEqual([
      { kind: 'retention', days: 3 },
      ...allAttributes.map(([name, type]) => ({ kind: 'missing', name, type })),
    ]);
    expect(await setUpNamespace(connection, 'raw')).toEqual({ gaps: [], refusals: [] });
    expect(await findSetupGaps(connection, 'raw')).toEqual([]);
  });

  it("gets them over a worker's connection, too", async () => {
    await makeNamespace('by-a-worker');
    const native = await NativeConnection.connect({ address: server.address });
    expect(await setUpNamespace(native, 'by-a-worker')).toEqual({ gaps: [], refusals: [] });
    await native.close();
    expect(await findSetupGaps(connection, 'by-a-worker')).toEqual([]);
  });

  describe('that lists search attributes before it takes them', () => {
    /** The server, whose queries don't know them so many times. */
    function behind(times: number, code = INVALID_ARGUMENT) {
      let asked = 0;
      const { workflowService } = connection;
      const service = {
        describeNamespace: workflowService.describeNamespace.bind(workflowService),
        updateNamespace: workflowService.updateNamespace.bind(workflowService),
        countWorkflowExecutions: async (
          request: Parameters<SetupConnection['workflowService']['countWorkflowExecutions']>[0],
        ) => {
          asked++;
          if (asked <= times) throw refusal(code);
          return await workflowService.countWorkflowExecutions(request);
        },
      };
      const slow = { ...forbidding([]), workflowService: service } as SetupConnection;
      return { slow, asked: () => asked };
    }

    it('is ready when it takes them, for the process that has added them and for others', async () => {
      await makeNamespace('slow');
      const first = behind(2);
      expect(await setUpNamespace(first.slow, 'slow')).toEqual({ gaps: [], refusals: [] });
      expect(first.asked()).toBe(3);
      const second = behind(2);
      expect(await setUpNamespace(second.slow, 'slow')).toEqual({ gaps: [], refusals: [] });
      expect(second.asked()).toBe(3);
    });

    it('is waited for no longer when it does not say', async () => {
      const silent = behind(1, PERMISSION_DENIED);
      expect(await setUpNamespace(silent.slow, server.namespace)).toEqual({ gaps: [], refusals: [] });
      expect(silent.asked()).toBe(1);
    });

    it('has payments wait, and not fail', async () => {
      await makeNamespace('bare');
      while (!(await isServed('bare'))) await pause(100);
      const api = await startApi({ address: server.address, namespace: 'bare' });
      try {
        const { status, body, headers } = await api.ask('POST', '/v1/collections', {
          key: KEYS.shop,
          body: { amount: 500, method: 'link' },
          headers: { 'idempotency-key': 'early' },
        });
        expect([status, body.code, headers.get('retry-after')]).toEqual([
          503,
          'temporarily_unavailable',
          expect.stringMatching(/^\d+$/),
        ]);
        expect((await api.ask('GET', '/v1/payments', { key: KEYS.shop })).status).toBe(503);
      } finally {
        await api.stop();
      }
    });

    /** Reports whether the services that payments need know the namespace. */
    const isServed = (namespace: string) =>
      connection.workflowService.countWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      );
  });

  it('that is not fit, and that this client may not change, comes with every command to run', async () => {
    await makeNamespace('locked');
    const guarded = forbidding(['addSearchAttributes', 'updateNamespace']);
    const { gaps, refusals } = await setUpNamespace(guarded, 'locked');
    expect(refusals).toEqual(['Request unauthorized.', 'Request unauthorized.']);
    expect(setupCommands('locked', gaps)).toEqual([
      'temporal operator namespace update --namespace locked --retention 30d',
      ...createAll('locked'),
    ]);
    const ready = isNamespaceReady({ connection: guarded, namespace: 'locked', logger });
    await expect(ready).rejects.toThrow(ConfigError);
    await expect(ready).rejects.toThrow(
      /^The Temporal namespace locked keeps ended payments for 3 days instead of 30, has no search attribute Merchant \(Keyword\), .*\nTemporal refused to let this process change it: Request unauthorized.*\n.*\n {2}temporal operator namespace update /,
    );
  });

  it('with a search attribute of another type is left alone, and refused', async () => {
    await makeNamespace('occupied');
    await add('occupied', { ...searchAttributeTypes, Amount: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD });
    const { gaps } = await setUpNamespace(connection, 'occupied');
    expect(gaps).toEqual([
      { kind: 'retention', days: 3 },
      { kind: 'type', name: 'Amount', type: 'Int', actual: 'Keyword' },
    ]);
    expect(describeGaps('occupied', gaps)).toBe(
      'The Temporal namespace occupied keeps ended payments for 3 days instead of 30, has the search attribute Amount as Keyword instead of Int.',
    );
    expect(setupCommands('occupied', gaps).slice(1)).toEqual([
      'temporal operator search-attribute remove --namespace occupied --name Amount',
      'temporal operator search-attribute create --namespace occupied --name Amount --type Int',
    ]);
    await expect(isNamespaceReady({ connection, namespace: 'occupied', logger })).rejects.toThrow(
      /--name Amount --type Int\nIf others use what is to be removed, set TEMPORAL_NAMESPACE to a namespace for Sanaga alone/,
    );
  });

  it('with the AmountPaid of an earlier version comes with the commands that mend it', async () => {
    await makeNamespace('earlier');
    await add('earlier', { ...searchAttributeTypes, AmountPaid: IndexedValueType.INDEXED_VALUE_TYPE_INT });
    const { gaps } = await setUpNamespace(connection, 'earlier');
    expect(gaps).toContainEqual({ kind: 'type', name: 'AmountPaid', type: 'Double', actual: 'Int' });
    expect(setupCommands('earlier', gaps).slice(1)).toEqual([
      'temporal operator search-attribute remove --namespace earlier --name AmountPaid',
      'temporal operator search-attribute create --namespace earlier --name AmountPaid --type Double',
    ]);
    await connection.operatorService.removeSearchAttributes({ namespace: 'earlier', searchAttributes: ['AmountPaid'] });
    await add('earlier', { AmountPaid: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE });
    expect(await setUpNamespace(connection, 'earlier')).toEqual({ gaps: [], refusals: [] });
  });

  describe('in which others have search attributes', () => {
    const {
      INDEXED_VALUE_TYPE_BOOL: Bool,
      INDEXED_VALUE_TYPE_DATETIME: Datetime,
      INDEXED_VALUE_TYPE_DOUBLE: Double,
      INDEXED_VALUE_TYPE_INT: Int,
      INDEXED_VALUE_TYPE_KEYWORD: Keyword,
      INDEXED_VALUE_TYPE_KEYWORD_LIST: KeywordList,
      INDEXED_VALUE_TYPE_TEXT: Text,
    } = IndexedValueType;

    it.each(Object.entries({ Bool, Datetime, Double, Int, Keyword, KeywordList, Text }))(
      'has room for theirs of type %s beside Sanaga’s',
      async (name, type) => {
        await makeNamespace(`beside-${name}`);
        await add(`beside-${name}`, { Theirs: type });
        expect(await setUpNamespace(connection, `beside-${name}`)).toEqual({ gaps: [], refusals: [] });
      },
    );

    it('is refused, and keeps its own retention, when they have taken the room: it says which', async () => {
      await makeNamespace('crowded');
      await add('crowded', { Theirs: Int, Rank: Int, One: Datetime, Two: Datetime, Three: Datetime, Also: Bool });
      const { gaps, refusals } = await setUpNamespace(connection, 'crowded');
      expect(refusals).toEqual([]);
      expect(gaps).toContainEqual({ kind: 'retention', days: 3 });
      expect(gaps.filter(({ kind }) => kind === 'room')).toEqual([
        { kind: 'room', type: 'Datetime', others: ['One', 'Three', 'Two'] },
        { kind: 'room', type: 'Int', others: ['Rank', 'Theirs'] },
      ]);
      expect(Object.keys(await customAttributes('crowded'))).not.toContain('Merchant');
      const { workflowService } = connection;
      const { config } = await workflowService.describeNamespace({ namespace: 'crowded' });
      expect(tsToMs(config?.workflowExecutionRetentionTtl)).toBe(3 * DAY_MS);
      await expect(isNamespaceReady({ connection, namespace: 'crowded', logger })).rejects.toThrow(
        /^The Temporal namespace crowded has no room for Sanaga's search attributes of type Datetime beside those of others: One, Three, Two, has no room for Sanaga's search attributes of type Int beside those of others: Rank, Theirs\.\nRemove search attributes .* namespace of its own.*\n.*\n {2}temporal operator namespace create --namespace sanaga --retention 30d$/,
      );
    });

    it('is asked for its room only where Temporal has an SQL database', async () => {
      await makeNamespace('elsewhere');
      await add('elsewhere', { Theirs: Int, Rank: Int });
      const guarded = forbidding(['addSearchAttributes']);
      const found = (visibilityStore: string) =>
        findSetupGaps(
          {
            ...guarded,
            workflowService: { ...guarded.workflowService, getClusterInfo: async () => ({ visibilityStore }) },
          } as unknown as SetupConnection,
          'elsewhere',
        );
      const kinds = async (store: string) => (await found(store)).filter(({ kind }) => kind === 'room').length;
      expect([await kinds('elasticsearch'), await kinds('postgres12_pgx,elasticsearch')]).toEqual([0, 1]);
    });
  });

  it('that does not exist is refused, with the commands that make it', async () => {
    const { gaps } = await setUpNamespace(connection, 'nowhere');
    expect(describeGaps('nowhere', gaps)).toBe("The Temporal namespace nowhere doesn't exist.");
    expect(setupCommands('nowhere', gaps)).toEqual([
      'temporal operator namespace create --namespace nowhere --retention 30d',
      ...createAll('nowhere'),
    ]);
  });

  it.each([PERMISSION_DENIED, UNIMPLEMENTED])(
    'is checked by queries where search attributes can’t be listed (code %d)',
    async (code) => {
      const namespace = `unlisted-${code}`;
      await makeNamespace(namespace);
      const { TransId, Amount, ...others } = searchAttributeTypes;
      await add(namespace, others);
      const guarded = forbidding(['listSearchAttributes', 'addSearchAttributes'], code);
      const { gaps } = await setUpNamespace(guarded, namespace);
      expect(gaps).toEqual([
        { kind: 'missing', name: 'TransId', type: 'Keyword' },
        { kind: 'missing', name: 'Amount', type: 'Int' },
      ]);
      await add(namespace, { TransId: TransId ?? 0, Amount: Amount ?? 0 });
      expect(await findSetupGaps(guarded, namespace)).toEqual([]);
    },
  );

  it('is neither ready nor refused while Temporal does not answer', async () => {
    const away = forbidding(['listSearchAttributes'], UNAVAILABLE);
    expect(await isNamespaceReady({ connection: away, namespace: server.namespace, logger })).toBe(false);
  });

  it('that has lost something since shows in /readyz, which says what', async () => {
    await makeNamespace('losing');
    await setUpNamespace(connection, 'losing');
    const api = await startApi({ address: server.address, namespace: 'losing' });
    expect((await api.ask('GET', '/readyz')).body).toEqual({ status: 'ready' });
    await connection.operatorService.removeSearchAttributes({
      namespace: 'losing',
      searchAttributes: ['TransId'],
    });
    await connection.workflowService.updateNamespace({
      namespace: 'losing',
      config: { workflowExecutionRetentionTtl: msToTs(DAY_MS) },
    });
    // The server itself may take a moment to notice each.
    const { status, body } = await eventually(
      () => api.ask('GET', '/readyz'),
      (answer) => answer.text.includes('keeps') && answer.text.includes('has no'),
    );
    expect([status, body.code, body.detail]).toEqual([
      503,
      'temporarily_unavailable',
      'The Temporal namespace losing keeps ended payments for 1 day instead of 30, has no search attribute TransId (Keyword).',
    ]);
    await api.stop();
  });

  describe('to the processes', () => {
    const env = (address: string, namespace: string) => ({
      ...machine(),
      ...settings,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
    });

    it.each(['lib/server.js', 'lib/worker.js'])(
      '%s ends with exit code 78 and the commands to run when it is not fit',
      async (program) => {
        const { code, stderr } = await runToEnd(program, [], env(server.address, 'nowhere'));
        expect(code).toBe(78);
        expect(stderr.trimEnd().split('\n')).toEqual([
          "The Temporal namespace nowhere doesn't exist.",
          expect.stringMatching(/^Set it up with Temporal's command line/),
          '  temporal operator namespace create --namespace nowhere --retention 30d',
          ...createAll('nowhere').map((command) => `  ${command}`),
        ]);
      },
    );

    it('the worker warns at its start when it has no address to notify', async () => {
      const loud = { ...env(server.address, 'nowhere'), LOG_LEVEL: 'warn' };
      const { stdout } = await runToEnd('lib/worker.js', [], loud);
      expect(stdout).toMatch(/"neither MERCHANTS_FILE nor MERCHANT_WEBHOOK_URL is set: [^"]+"/);
      const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
      const notifying = { MERCHANT_WEBHOOK_URL: 'http://127.0.0.1:1', MERCHANT_WEBHOOK_SECRET: secret };
      expect((await runToEnd('lib/worker.js', [], { ...loud, ...notifying })).stdout).not.toMatch('MERCHANT');
    });
  });

  async function customAttributes(namespace: string) {
    return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
  }

  it('gets the missing search attributes, once', async () => {
    await makeNamespace('fresh');
    await connection.operatorService.addSearchAttributes({
      namespace: 'fresh',
      searchAttributes: { UserId: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
    });

    const added: string[][] = [];
    const { operatorService, workflowService } = connection;
    const watched = {
      withDeadline: (deadline, calls) => connection.withDeadline(deadline, calls),
      workflowService,
      operatorService: {
        listSearchAttributes: operatorService.listSearchAttributes.bind(operatorService),
        addSearchAttributes: (request: { searchAttributes: typeof searchAttributeTypes }) => {
          added.push(Object.keys(request.searchAttributes).sort());
          return operatorService.addSearchAttributes(request);
        },
      },
    } as SetupConnection;
    expect(await setUpNamespace(watched, 'fresh')).toEqual({ gaps: [], refusals: [] });
    expect(await customAttributes('fresh')).toEqual(searchAttributeTypes);
    expect(await setUpNamespace(watched, 'fresh')).toEqual({ gaps: [], refusals: [] });
    expect(added).toEqual([names.filter((name) => name !== 'UserId').sort()]);
  });

  it('may be prepared by several processes at once', async () => {
    await makeNamespace('contested');

    const results = await Promise.all([1, 2, 3, 4].map(() => setUpNamespace(connection, 'contested')));

    expect(results).toEqual([1, 2, 3, 4].map(() => ({ gaps: [], refusals: [] })));
    expect(Object.keys(await customAttributes('contested')).sort()).toEqual([...names].sort());
  });

  it('keeps ended workflows for 30 days, or longer when an operator said so', async () => {
    await makeNamespace('long', 60);
    const retention = async (namespace: string) => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      return tsToMs(config?.workflowExecutionRetentionTtl) / DAY_MS;
    };

    await setUpNamespace(connection, 'long');

    expect(await retention('long')).toBe(60);
    expect(await retention(server.namespace)).toBe(30);
  });

  it('takes a workflow with all of them at once after registration', async () => {
    const client = new Client({ connection, namespace: server.namespace });

    await client.workflow.start('any', {
      workflowId: 'w',
      taskQueue: 'q',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: keys.merchant, value: 'shop' },
        { key: keys.status, value: 'CREATED' },
        { key: keys.kind, value: 'collection' },
        { key: keys.externalId, value: 'order-1' },
        { key: keys.userId, value: 'user-1' },
        { key: keys.transId, value: 'trans-1' },
        { key: keys.amount, value: 100 },
        { key: keys.createdAt, value: 1_795_249_234_191 },
      ]),
    });

    const { typedSearchAttributes } = await client.workflow.getHandle('w').describe();
    expect(typedSearchAttributes.get(keys.amount)).toBe(100);
    expect(typedSearchAttributes.get(keys.transId)).toBe('trans-1');
  });
});

describe('a namespace of a Temporal that is away', () => {
  let server: DevServer | undefined;
  let connection: Connection | undefined;

  afterEach(async () => {
    await connection?.close();
    await server?.stop();
  });

  it('is checked as soon as Temporal answers', async () => {
    const port = await freePort();
    connection = lazyConnection({ address: `127.0.0.1:${port}`, namespace: 'default' });
    const stop = new AbortController();
    const states: string[] = [];
    const until = (namespace: string) =>
      untilNamespaceIsReady({ connection: connection as Connection, namespace, logger }, stop.signal).then(
        () => states.push(`${namespace} is ready`),
        (error: Error) => states.push(`${namespace} is refused: ${error.message.split('\n')[0]}`),
      );
    const waiting = [until('default'), until('nowhere')];
    await pause(3_000);
    expect(states).toEqual([]);
    server = await startDevServer({ port, ui: false, report: () => undefined });
    await Promise.all(waiting);
    expect(states.sort()).toEqual([
      'default is ready',
      "nowhere is refused: The Temporal namespace nowhere doesn't exist.",
    ]);
  });

  it('ends the API with exit code 78, which has served meanwhile, when it turns out not to be fit', async () => {
    const [port, apiPort] = [await freePort(), await freePort()];
    const target = { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_NAMESPACE: 'nowhere' };
    const env = { ...machine(), ...settings, ...target, PORT: String(apiPort) };
    const ended = runToEnd('lib/server.js', [], env);
    const statusOf = (path: string) =>
      fetch(`http://127.0.0.1:${apiPort}${path}`).then(
        ({ status }) => status,
        () => 0,
      );
    while ((await statusOf('/healthz')) !== 200) await pause(100);
    expect(await statusOf('/readyz')).toBe(503);
    server = await startDevServer({ port, ui: false, report: () => undefined });
    const { code, stderr } = await ended;
    expect([code, stderr.split('\n')[0]]).toEqual([78, "The Temporal namespace nowhere doesn't exist."]);
  });

  it('is waited for no longer when the process has to stop', async () => {
    connection = lazyConnection({ address: `127.0.0.1:${await freePort()}`, namespace: 'default' });
    const stop = new AbortController();
    const waiting = untilNamespaceIsReady({ connection, namespace: 'default', logger }, stop.signal);
    setTimeout(() => stop.abort(), 100);
    await waiting;
  });
});
