import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describePostgres, findPostgres } from '../stack/postgres/postgres-programs.js';
import { PROJECT } from './environment.js';
import { TEMPORAL_VERSION } from './servers/temporal-on-postgres.js';
import { peerFolder } from './systems/peer.js';

/** Returns the load average of the last minute. */
export const loadNow = () => loadavg()[0] ?? 0;

/**
 * On what a benchmark was run, in sentences. The peers' versions are known once they are installed.
 *
 * @param load the load average before it
 */
export async function describeMachine(command: string, load = loadNow()): Promise<string> {
  const [cpu] = cpus();
  const postgres = await findPostgres();
  const memory = Math.round(totalmem() / 2 ** 30);
  const versions = [
    `Node ${process.versions.node}`,
    `Temporal server ${TEMPORAL_VERSION}`,
    postgres && (await describePostgres(postgres)),
    await packageVersion(peerFolder('dbos'), '@dbos-inc/dbos-sdk'),
    await packageVersion(peerFolder('restate'), '@restatedev/restate-server'),
    await packageVersion(peerFolder('restate'), '@restatedev/restate-sdk'),
    await packageVersion(PROJECT, '@temporalio/worker'),
  ].filter((version) => version !== undefined);
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)} with \`${command}\`,`,
    `at commit ${await commit()}, where a paid link makes ${await countedEvents()} events,`,
    `on ${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${memory} GiB, ${platform()} ${arch()};`,
    `the load average before it was ${load.toFixed(2)}. ${versions.join(', ')}.`,
  ].join('\n');
}

/** The last commit of what is measured. */
async function commit(): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', [...args, '--', 'src'], { cwd: PROJECT })).stdout.trim();
  try {
    const [hash, changes] = [await git('log', '-1', '--format=%h'), await git('status', '--porcelain')];
    return changes === '' ? hash : `${hash} with changes`;
  } catch {
    return 'unknown';
  }
}

/** The events of a paid link, as the budget in docs/performance.md has them: they tell one workflow from another. */
async function countedEvents(): Promise<string> {
  const document = await readFile(join(PROJECT, 'docs/performance.md'), 'utf8');
  return /^\| link, paid +\| (\d+) /m.exec(document)?.[1] ?? 'unknown';
}

async function packageVersion(folder: string, name: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8');
    return `${name} ${JSON.parse(text).version}`;
  } catch {
    return undefined;
  }
}
