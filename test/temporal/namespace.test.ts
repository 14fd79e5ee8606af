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
import { startApi } from '../support/api-under-test.js';
import { newBook, type TestBook } from '../support/books.js';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const DAY_MS = 24 * 60 * 60 * 1_000;
const logger = pino({ level: 'silent' });

const [INVALID_ARGUMENT, PERMISSION_DENIED, UNIMPLEMENTED, UNAVAILABLE] = [3, 7, 12, 14];

let made: TestBook;
beforeAll(async () => {
  made = await newBook();
});
afterAll(() => made.drop());

/** Settings with which a process gets as far as Temporal. */
const settings = () => ({
  ...stackSettings({ api: 0, sandbox: 1 }, makeSecrets()),
  DATABASE_URL: made.url,
  LOG_LEVEL: 'silent',
});

/** An error as gRPC gives it. */
const refusal = (code: number) =>
  Object.assign(new Error('refused'), { code, details: 'Request unauthorized.', metadata: {} });

const names = ['Merchant', 'PaymentStatus', 'PaymentKind', 'ExternalId', 'TransId'];
const createAll = (namespace: string) =>
  names.map(
    (name) => `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type Keyword`,
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
    calls: readonly ('addSearchAttributes' | 'listSearchAttributes')[],
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

  it('lacks search attributes as Temporal makes it, and gets them', async () => {
    await makeNamespace('raw');
    expect(await findSetupGaps(connection, 'raw')).toEqual(
      names.map((name) => ({ kind: 'missing', name, type: 'Keyword' })),
    );
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
  });

  it('that is not fit, and that this client may not change, comes with every command to run', async () => {
    await makeNamespace('locked');
    const guarded = forbidding(['addSearchAttributes']);
    const { gaps, refusals } = await setUpNamespace(guarded, 'locked');
    expect(refusals).toEqual(['Request unauthorized.']);
    expect(setupCommands('locked', gaps)).toEqual(createAll('locked'));
    const ready = isNamespaceReady({ connection: guarded, namespace: 'locked', logger });
    await expect(ready).rejects.toThrow(ConfigError);
    await expect(ready).rejects.toThrow(
      /^The Temporal namespace locked has no search attribute Merchant \(Keyword\), .*\nTemporal refused to let this process change it: Request unauthorized.*\n.*\n {2}temporal operator search-attribute create /,
    );
  });

  it('with a search attribute of another type is left alone, and refused', async () => {
    await makeNamespace('occupied');
    await add('occupied', { ...searchAttributeTypes, TransId: IndexedValueType.INDEXED_VALUE_TYPE_INT });
    const { gaps } = await setUpNamespace(connection, 'occupied');
    expect(gaps).toEqual([{ kind: 'type', name: 'TransId', type: 'Keyword', actual: 'Int' }]);
    expect(describeGaps('occupied', gaps)).toBe(
      'The Temporal namespace occupied has the search attribute TransId as Int instead of Keyword.',
    );
    expect(setupCommands('occupied', gaps)).toEqual([
      'temporal operator search-attribute remove --namespace occupied --name TransId',
      'temporal operator search-attribute create --namespace occupied --name TransId --type Keyword',
    ]);
    await expect(isNamespaceReady({ connection, namespace: 'occupied', logger })).rejects.toThrow(
      /--name TransId --type Keyword\nIf others use what is to be removed, set TEMPORAL_NAMESPACE to a namespace for Sanaga alone/,
    );
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

    it('is refused when they have taken the room: it says which', async () => {
      await makeNamespace('crowded');
      const theirs = ['One', 'Two', 'Three', 'Four', 'Five', 'Six'];
      await add('crowded', Object.fromEntries([...theirs.map((name) => [name, Keyword]), ['Also', Bool]]));
      const { gaps, refusals } = await setUpNamespace(connection, 'crowded');
      expect(refusals).toEqual([]);
      const others = theirs.toSorted();
      expect(gaps.filter(({ kind }) => kind === 'room')).toEqual([{ kind: 'room', type: 'Keyword', others }]);
      expect(Object.keys(await customAttributes('crowded'))).not.toContain('Merchant');
      await expect(isNamespaceReady({ connection, namespace: 'crowded', logger })).rejects.toThrow(
        /^The Temporal namespace crowded has no room for Sanaga's search attributes of type Keyword beside those of others: Five, Four, One, Six, Three, Two\.\nRemove search attributes .* namespace of its own.*\n.*\n {2}temporal operator namespace create --namespace sanaga --retention 30d$/,
      );
    });

    it('is asked for its room only where Temporal has an SQL database', async () => {
      await makeNamespace('elsewhere');
      await add('elsewhere', { A: Keyword, B: Keyword, C: Keyword, D: Keyword, E: Keyword, F: Keyword });
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
      const { TransId, ExternalId, ...others } = searchAttributeTypes;
      await add(namespace, others);
      const guarded = forbidding(['listSearchAttributes', 'addSearchAttributes'], code);
      const { gaps } = await setUpNamespace(guarded, namespace);
      expect(gaps).toEqual([
        { kind: 'missing', name: 'ExternalId', type: 'Keyword' },
        { kind: 'missing', name: 'TransId', type: 'Keyword' },
      ]);
      await add(namespace, { TransId: TransId ?? 0, ExternalId: ExternalId ?? 0 });
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
    const api = await startApi({ address: server.address, namespace: 'losing', bookUrl: made.url });
    expect((await api.ask('GET', '/readyz')).body).toEqual({ status: 'ready' });
    await connection.operatorService.removeSearchAttributes({
      namespace: 'losing',
      searchAttributes: ['TransId'],
    });
    // The server itself may take a moment to notice.
    const { status, body } = await eventually(
      () => api.ask('GET', '/readyz'),
      (answer) => answer.text.includes('has no'),
    );
    expect([status, body.code, body.detail]).toEqual([
      503,
      'temporarily_unavailable',
      'The Temporal namespace losing has no search attribute TransId (Keyword).',
    ]);
    await api.stop();
  });

  describe('to the processes', () => {
    const env = (address: string, namespace: string) => ({
      ...machine(),
      ...settings(),
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
      searchAttributes: { TransId: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
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
    expect(added).toEqual([names.filter((name) => name !== 'TransId').sort()]);
  });

  it('may be prepared by several processes at once', async () => {
    await makeNamespace('contested');

    const results = await Promise.all([1, 2, 3, 4].map(() => setUpNamespace(connection, 'contested')));

    expect(results).toEqual([1, 2, 3, 4].map(() => ({ gaps: [], refusals: [] })));
    expect(Object.keys(await customAttributes('contested')).sort()).toEqual([...names].sort());
  });

  it('keeps ended workflows for as long as an operator said', async () => {
    const retention = async (namespace: string) => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      return tsToMs(config?.workflowExecutionRetentionTtl) / DAY_MS;
    };
    await makeNamespace('short', 1);
    expect(await setUpNamespace(connection, 'short')).toEqual({ gaps: [], refusals: [] });
    expect(await retention('short')).toBe(1);
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
        { key: keys.transId, value: 'trans-1' },
      ]),
    });

    const { typedSearchAttributes } = await client.workflow.getHandle('w').describe();
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
    const env = { ...machine(), ...settings(), ...target, PORT: String(apiPort) };
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
