import { cacheFolder } from './cache-folder.js';
import { checkTemporal } from './check-temporal.js';
import { type Candidate, firstThatWorks, type Look } from './first-that-works.js';
import { buildTemporal, builtTemporalPath } from './go-install.js';
import { findOnPath } from './on-path.js';
import { downloadWithSdk, sdkDownloadPath } from './sdk-download.js';

/** A Temporal CLI that was asked for its version and answered. */
export interface TemporalExecutable {
  readonly path: string;
  /** Of the server that it brings. */
  readonly version: string;
}

export interface FindTemporalOptions {
  readonly report: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly download?: typeof downloadWithSdk;
  readonly build?: typeof buildTemporal;
}

const advice =
  'Install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a server that is running.';

/**
 * Finds the Temporal CLI whose dev server is to be started: `temporal` on PATH, the cache folder, the SDK's download,
 * and at last a build with Go. A report line says which one it is and why.
 *
 * @throws NothingWorkedError with every place and its reason.
 */
export async function findTemporal({
  report,
  env = process.env,
  folder = cacheFolder(env),
  download = downloadWithSdk,
  build = buildTemporal,
}: FindTemporalOptions): Promise<TemporalExecutable> {
  const check = async (path: string, why: string): Promise<Look<TemporalExecutable>> => {
    const result = await checkTemporal(path, env);
    if (result.kind === 'unusable') return { kind: 'absent', reason: result.reason };
    return { kind: 'found', found: { path, version: result.version }, why };
  };

  const candidates: Candidate<TemporalExecutable>[] = [
    {
      place: 'temporal on PATH',
      look: async () => {
        const path = await findOnPath('temporal', env);
        if (path === undefined) return { kind: 'absent', reason: 'no executable of that name' };
        return await check(path, 'it is on PATH');
      },
    },
    {
      place: 'the cache folder',
      look: async () => {
        const downloaded = await check(sdkDownloadPath('temporal', folder), 'it is in the cache folder');
        if (downloaded.kind === 'found') return downloaded;
        return await check(builtTemporalPath(folder), 'it is in the cache folder');
      },
    },
    {
      place: "the SDK's download",
      look: async () => {
        report("temporal: neither on PATH nor in the cache folder, asking for the SDK's download");
        const result = await download('temporal', { folder, env });
        if (result.kind === 'refused') {
          report(`temporal: the download did not work: ${result.reason}`);
          return { kind: 'absent', reason: result.reason };
        }
        return await check(result.path, 'the SDK has downloaded it');
      },
    },
    {
      place: 'go install',
      look: async () => {
        const result = await build({ folder, env, report });
        if (result.kind === 'refused') return { kind: 'absent', reason: result.reason };
        return await check(result.path, 'it was built with Go, as no other was to be had');
      },
    },
  ];

  const { found, why } = await firstThatWorks('Temporal CLI', candidates, advice);
  report(`temporal: using ${found.path} (server ${found.version}) because ${why}`);
  return found;
}
