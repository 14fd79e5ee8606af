import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Child, startChild } from '../../../stack/processes/child.js';
import { untilReady } from '../../../stack/processes/until-ready.js';

const STAYS = 'console.log("up"); setInterval(() => {}, 1000);';

describe('a process of the stack', () => {
  let folder: string;
  const children: Child[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-test-'));
  });

  afterEach(async () => {
    await Promise.all(children.splice(0).map((child) => child.stop(0)));
    await rm(folder, { recursive: true, force: true });
  });

  async function run(program: string, env: NodeJS.ProcessEnv = {}): Promise<Child> {
    const file = join(folder, 'part.mjs');
    await writeFile(file, program);
    const child = await startChild({ name: 'part', program: file, env, logFile: join(folder, 'part.log') });
    children.push(child);
    return child;
  }

  const written = async (child: Child) =>
    await untilReady(child, async () => (await child.logTail()).includes('up'), 10_000);

  it('gets the environment it is given, and no more', async () => {
    const child = await run('console.log(JSON.stringify(process.env));', { PORT: '3000' });
    await child.ended;
    expect(JSON.parse(await child.logTail())).toEqual({ PORT: '3000' });
  });

  it('writes both its streams to its log, which only its owner may read', async () => {
    const child = await run('console.log("out"); console.error("err");');
    expect(await child.ended).toBe('code 0');
    expect((await child.logTail()).split('\n').sort()).toEqual(['err', 'out']);
  });

  it('leaves the log of the one before it beside its own', async () => {
    await (await run('console.log("first");')).ended;
    await (await run('console.log("second");')).ended;
    expect(await readFile(join(folder, 'part.log'), 'utf8')).toBe('second\n');
    expect(await readFile(join(folder, 'part.log.before'), 'utf8')).toBe('first\n');
  });

  it('is stopped gently', async () => {
    const child = await run(`process.on('SIGTERM', () => process.exit(3)); ${STAYS}`);
    await written(child);
    await child.stop(10_000);
    expect(await child.ended).toBe('code 3');
  });

  it('is killed when it does not heed that', async () => {
    const child = await run(`process.on('SIGTERM', () => {}); ${STAYS}`);
    await written(child);
    await child.stop(100);
    expect(await child.ended).toBe('SIGKILL');
  });

  it('is killed at once when it is to be', async () => {
    const child = await run(STAYS);
    await child.kill();
    expect(await child.ended).toBe('SIGKILL');
  });

  it('goes on with a log when it is told to', async () => {
    const file = join(folder, 'part.mjs');
    const options = {
      name: 'part',
      program: file,
      env: {},
      logFile: join(folder, 'part.log'),
      appendLog: true,
    };
    for (const word of ['first', 'second']) {
      await writeFile(file, `console.log("${word}");`);
      await (await startChild(options)).ended;
    }
    expect(await readFile(options.logFile, 'utf8')).toBe('first\nsecond\n');
  });

  it('can be stopped after its end', async () => {
    const child = await run('');
    await child.ended;
    await child.stop(10_000);
    expect(await child.ended).toBe('code 0');
  });

  it('is not ready when it has ended: the error shows the end of its log', async () => {
    const child = await run('console.error("PORT is not a port"); process.exit(78);');
    await expect(untilReady(child, async () => false)).rejects.toThrow(
      'part: ended with code 78\nPORT is not a port',
    );
  });

  it('is not ready when it never does its work', async () => {
    const child = await run(STAYS);
    const probe = () => Promise.reject(new Error('refused'));
    await expect(untilReady(child, probe, 200)).rejects.toThrow('part: not ready after 0.2 s');
  });
});
