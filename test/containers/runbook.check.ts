import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROJECT } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { readPage } from '../support/pages.js';
import { commandsOf } from '../support/runbook.js';
import { Shell } from '../support/shell.js';
import { allHealthy, compose, containersOf, docker, ENGINE, inTree, TREE, untilHealth } from './compose.js';
import { begin, create, ends, endWell, get, MERCHANT_KEY, OPERATOR_KEY } from './merchant.js';

/** The commands of the operators' pages, as they stand, in the folder of docker-compose.yml. */

const deploying = await readPage('docs/operations/deploying.md');
const guide = await readPage('docs/operators.md');
const { text: runbook } = await readPage('docs/operations/runbook.md');

/** The one command of a table, between backticks, that matches. */
function inTable(pattern: RegExp): string {
  const found = [...runbook.matchAll(/`([^`\n]+)`/g)].flatMap(([, command = '']) =>
    pattern.test(command) ? command : [],
  );
  const [command, ...others] = [...new Set(found)];
  if (command === undefined || others.length > 0) throw new Error(`${1 + others.length} commands match ${pattern}`);
  return command;
}

const deployingBlock = (pattern: RegExp) => {
  const [block] = deploying.blocks.filter(({ text }) => pattern.test(text));
  if (block === undefined) throw new Error(`no block matches ${pattern}`);
  return block.text;
};

/**
 * What the commands find on an operator's machine: the project's command line, and images that are built. Where this
 * runs, packages can't be had, and the next version is the present one under another name.
 */
const MACHINE = `npx() { shift; '${process.execPath}' '${PROJECT}build/cli/main.js' "$@"; }
docker-compose() {
  if [ "$*" = build ]; then
    for name in sanaga sanaga-sandbox; do ${ENGINE} tag "$name:0.1.0" "$name:$(sed -n 's/^SANAGA_TAG=//p' .env)"; done
  else
    command docker-compose "$@"
  fi
}`;

let scratch: string;
let shell: Shell;

/** Runs commands to their end. @returns what they have printed. @throws Error when one fails */
async function follow(commands: string): Promise<string> {
  const { failures, stdout, stderr } = await shell.run(commands);
  if (failures.length > 0) throw new Error(`${failures.join('\n')}\n${stdout}\n${stderr}`);
  return stdout;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'sanaga-operator-'));
  shell = new Shell(TREE, { ...process.env }, scratch);
  await follow(MACHINE);
  await follow(commandsOf(/^export SANAGA_URL/).replace('sk_…', OPERATOR_KEY));
  await follow(commandsOf(/^temporal\(\) \{ docker-compose/));
});
afterAll(async () => {
  await shell.close();
  await rm(scratch, { recursive: true, force: true });
});

/** Payments before, during and after what is done. */
async function through(act: () => Promise<unknown>): Promise<void> {
  const begun = await begin();
  await act();
  await allHealthy();
  await endWell(begun);
  await endWell(await begin());
}

describe('the runbook', () => {
  it('asks whether Temporal is well', async () => {
    expect(await follow(commandsOf(/temporal operator cluster health/))).toContain('SERVING');
    // It asks all parts of the queue, and gives up when a busy server takes too long.
    const describeQueue = () =>
      follow('temporal task-queue describe --task-queue payments').catch(({ message }: Error) => message);
    await eventually(describeQueue, (printed) => printed.includes('Pollers'));
  });

  it('restarts what reads settings, and nothing else', async () => {
    const untouched = await Promise.all(['postgres', 'temporal'].map(containersOf));
    await through(() => follow(inTable(/^docker-compose up -d --no-deps --force-recreate api worker codec desk$/)));
    expect(await Promise.all(['postgres', 'temporal'].map(containersOf))).toEqual(untouched);
  });

  it('scales to four workers', async () => {
    await follow(inTable(/--scale worker=4/));
    expect(await containersOf('worker')).toHaveLength(4);
    await endWell(await begin());
    await follow('docker-compose up -d --no-deps --scale worker=1 worker');
    expect(await containersOf('worker')).toHaveLength(1);
  });

  it("changes PostgreSQL's password", async () => {
    await follow(commandsOf(/^NEW=/));
    await through(async () => {
      await follow(commandsOf(/ALTER ROLE temporal PASSWORD/));
      await untilHealth('temporal', 'healthy');
    });
  });

  it("changes the password of the book's database", async () => {
    await follow(commandsOf(/^NEW=/));
    await through(() => follow(commandsOf(/BOOK_PASSWORD=\$\{NEW/)));
  });

  it('backs up while payments run, and restores a moment since then', async () => {
    const before = await ends(await create('/v1/payouts', { amount: 500, phone: '677000000' }));
    const open = await begin();
    await follow('docker-compose exec -T backup pgbackrest --type=diff backup');
    const moment = (await follow("date -u '+%F %T+00'")).trim();
    await endWell(open);
    // The log has arrived beyond that moment.
    await follow('docker-compose exec -T backup pgbackrest check');

    const chapter = 'Restoring a backup';
    await follow(commandsOf(/^docker-compose stop worker api temporal-ui temporal/, chapter));
    await follow(commandsOf(/--target=/, chapter).replace(/^TO=.*$/m, `TO='${moment}'`));
    await follow(commandsOf(/INSERT INTO gaps/, chapter));
    await follow(commandsOf(/payers erase/, chapter));
    await follow(commandsOf(/temporal-ui worker api/, chapter));
    await allHealthy();

    expect(await get(before.id)).toMatchObject({ status: 'SUCCESSFUL' });
    // As they were when it was made: the provider is asked, and has one transaction of each.
    await endWell(open);
    await follow(commandsOf(/known_until/, 'The book has gone back'));
    await follow(commandsOf(/npx sanaga list --status REVIEW/, 'The book has gone back'));
    await endWell(await begin());
  });

  it('knows when a leaked key is dead', async () => {
    const swap = async (key: string, other: string) => {
      await follow(`sed -i 's/${key}/${other}/' .env`);
      await follow('docker-compose up -d --no-deps api codec');
      await untilHealth('api', 'healthy');
    };
    await swap(MERCHANT_KEY, 'another-api-key-for-a-trial');
    try {
      const dead = commandsOf(/LEAKED/).replace('sk_…', MERCHANT_KEY);
      // The balancer finds the new API a moment later.
      const answer = () => follow(dead).catch(({ message }: Error) => message);
      expect(await eventually(answer, (printed) => /^[1-5]\d\d$/.test(printed.trim()))).toContain('401');
    } finally {
      await swap('another-api-key-for-a-trial', MERCHANT_KEY);
    }
  });
});

describe('the guide for operators', () => {
  const asked = guide.blocks.filter(({ text }) =>
    /^(docker-compose (exec|kill)|temporal operator|.*\ntemporal workflow count)/.test(text),
  );

  it.each(asked.map(({ place, text }) => [place, text]))('has commands that work: %s', async (_, commands) => {
    await follow(commands);
  });
  afterAll(allHealthy);

  it('has a look at the connections, and at old transactions', async () => {
    const [connections = '', transactions = ''] = asked
      .map(({ text }) => text)
      .filter((text) => text.includes('pg_stat_activity'));
    expect(await follow(connections)).toMatch(/book\s*\| sanaga/);
    expect(await follow(transactions)).toContain('xact_start');
  });
});

describe('deploying', () => {
  it('brings a new version, and the last one back', async () => {
    expect(await follow(deployingBlock(/^sed -i 's\/\^SANAGA_TAG/))).toMatch(/^Replayed: \d.* Failed: 0\./m);
    await through(() => follow(deployingBlock(/^docker-compose up -d --no-deps worker$/m)));
    expect(await docker('inspect', '--format', '{{.Config.Image}}', ...(await containersOf('worker')))).toContain(
      '0.2.0',
    );
    await through(() =>
      follow(`sed -i 's/^SANAGA_TAG=.*/SANAGA_TAG=0.1.0/' .env
        docker-compose up -d --no-deps api desk
        docker-compose up -d`),
    );
  });

  it('has workers of a newer version beside the older ones, makes it current, and goes back', async () => {
    const begun = await begin();
    await follow("sed -i 's/^WORKER_BUILD_ID=.*/WORKER_BUILD_ID=1.3.0/' .env\ndocker-compose up -d --no-deps worker");
    const setCurrent = deployingBlock(/set-current-version --deployment-name sanaga --build-id 1\.4\.0/);
    const makeCurrent = (build: string) =>
      follow(`for try in 1 2 3 4 5 6; do ${setCurrent.replace('1.4.0', build).trim()} && break; sleep 5; done`);
    await makeCurrent('1.3.0');
    const id = await follow('docker-compose run -d --rm --no-deps --use-aliases -e WORKER_BUILD_ID=1.4.0 worker');
    await makeCurrent('1.4.0');
    await endWell(begun);
    await endWell(await begin());
    expect(await follow(deployingBlock(/worker deployment describe/))).toContain('1.4.0');
    await makeCurrent('1.3.0');
    await docker('stop', id.trim().split('\n').at(-1) ?? '');
    await endWell(await begin());
    await follow("sed -i 's/^WORKER_BUILD_ID=.*/WORKER_BUILD_ID=/' .env\ndocker-compose up -d --no-deps worker");
    await follow(deployingBlock(/--unversioned/));
    await endWell(await begin());
  });

  it('leaves .env as it was', async () => {
    const env = await readFile(inTree('.env'), 'utf8');
    expect(env).toContain('SANAGA_TAG=0.1.0');
    expect(await compose('ps', '--services')).toContain('worker');
  });
});
