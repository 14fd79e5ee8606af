import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../../stack/processes/child.js';
import { lastLine, runCommand } from '../../stack/processes/run-command.js';
import { cleanEnvironment, PROJECT } from '../environment.js';
import type { LoadTarget } from '../load/messages.js';
import type { SystemContext } from './system.js';

/** The systems that Sanaga is compared with: each a package of its own in `bench/peers`. */

const PEERS = join(PROJECT, 'bench/peers');
const INSTALL_LIMIT_MS = 20 * 60_000;
/** The folder of a peer. */
export const peerFolder = (name: string) => join(PEERS, name);

/** Installs a peer's packages, unless they are there. @throws Error of npm */
export async function installPeer(name: string, report: (line: string) => void): Promise<void> {
  const folder = peerFolder(name);
  // npm writes this file last.
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return;
  report(`${name}: npm ci, once`);
  const outcome = await runCommand('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    env: process.env,
    cwd: folder,
    timeLimitMs: INSTALL_LIMIT_MS,
  });
  if (outcome.kind === 'failed') {
    throw new Error(`${name}: npm ci ${outcome.reason}: ${lastLine(outcome.output)}`);
  }
}

/** The key that the merchant's requests to a peer carry. */
const PEER_API_KEY = `sk_${randomBytes(24).toString('base64url')}`;

/** A peer's settings: every peer has the same. */
export function peerSettings({ provider, merchant }: SystemContext, port: number): Record<string, string> {
  return {
    PORT: String(port),
    API_KEY: PEER_API_KEY,
    PROVIDER_URL: provider.url,
    PROVIDER_USER: provider.user,
    PROVIDER_KEY: provider.key,
    WEBHOOK_URL: merchant.url,
    WEBHOOK_SECRET: merchant.secret,
  };
}

/** Starts one of a peer's programs: Node runs TypeScript as it is. */
export async function startPeer(
  { folder }: SystemContext,
  peer: string,
  program: string,
  env: NodeJS.ProcessEnv,
): Promise<Child> {
  return await startChild({
    name: `${peer} ${program}`,
    file: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', join(peerFolder(peer), `${program}.ts`)],
    env: { ...cleanEnvironment(), ...env },
    logFile: join(folder, `${program}.log`),
  });
}

/** Returns the addresses of a peer's API. */
export function peerTarget(port: number): LoadTarget {
  const apiUrl = `http://127.0.0.1:${port}`;
  return {
    apis: [{ createUrl: `${apiUrl}/v1/collections`, webhookUrl: `${apiUrl}/webhooks/provider` }],
    apiKey: PEER_API_KEY,
  };
}
