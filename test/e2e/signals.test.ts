import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, listens } from '../../stack/processes/ports.js';
import { makeSecrets, stackSettings } from '../../stack/processes/settings.js';
import { machine, startToRun } from '../support/built.js';

/**
 * Signals that we don't use, and that tools for logs and terminals send. Node ends at one, and opens its inspector at
 * another.
 */
const HARMLESS = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/** Long enough for an inspector to open. */
const OPENING_MS = 500;

describe('a program that runs until it is stopped', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-signals-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['lib/server.js', 'PORT'],
    ['lib/worker.js', undefined],
    ['lib/desk.js', 'DESK_PORT'],
    ['lib/codec-server.js', 'CODEC_PORT'],
    ['build/sandbox/main.js', 'SANDBOX_PORT'],
    ['examples/shop/start.js', 'PORT'],
  ])('%s goes on after SIGHUP, SIGUSR1 and SIGUSR2, and opens no inspector', async (program, portName) => {
    const port = await freePort();
    const env = {
      ...machine(),
      ...stackSettings({ api: 0, sandbox: 1, codec: port, desk: port, book: 1 }, makeSecrets()),
      // Nothing is there, which each of them waits for.
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      NODE_OPTIONS: '--inspect-port=0',
      ...(program.includes('shop') && {
        SANAGA_URL: 'http://127.0.0.1:1',
        SANAGA_API_KEY: 'a-key-that-nobody-looks-at',
        SANAGA_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
        SHOP_OWNER_PASSWORD: 'a password',
      }),
      ...(portName !== undefined && { [portName]: String(port) }),
    };
    const { child, printed } = startToRun(program, [], env, folder);
    printed.catch(() => undefined);
    const said = outputOf(child);
    const exit = once(child, 'exit');
    if (portName === undefined) await printed;
    while (portName !== undefined && child.exitCode === null && !(await listens(port))) await pause(50);

    for (const signal of HARMLESS) child.kill(signal);
    await pause(OPENING_MS);
    child.kill('SIGTERM');
    const [code, signal] = await exit;
    expect(said()).not.toContain('Debugger');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  });
});

function outputOf(child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      said += String(text);
    });
  }
  return () => said;
}
