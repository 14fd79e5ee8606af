import { cacheFolder } from './cache-folder.js';
import { type Candidate, firstThatWorks, type Look } from './first-that-works.js';
import { fetchedTestServer, fetchTestServer } from './maven-test-server.js';
import { isExecutableFile } from './on-path.js';
import { downloadWithSdk, sdkDownloadPath } from './sdk-download.js';

export interface FindTestServerOptions {
  readonly report: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly folder?: string;
  readonly download?: typeof downloadWithSdk;
  readonly fetch?: typeof fetchTestServer;
}

const advice = 'Install java (17 or later) and Maven, or let this machine reach https://temporal.download.';

/**
 * Finds the executable of the time-skipping test server, which takes a port as its only argument: what the cache folder
 * holds from an earlier download, the SDK's download, and at last the Java archive through Maven. A report line says
 * which one it is and why.
 *
 * @throws NothingWorkedError with every place and its reason.
 */
export async function findTestServer({
  report,
  env = process.env,
  folder = cacheFolder(env),
  download = downloadWithSdk,
  fetch = fetchTestServer,
}: FindTestServerOptions): Promise<string> {
  const candidates: Candidate<string>[] = [
    {
      place: 'the cache folder',
      look: async (): Promise<Look<string>> => {
        const downloaded = sdkDownloadPath('temporal-test-server', folder);
        const path = (await isExecutableFile(downloaded)) ? downloaded : await fetchedTestServer(folder);
        if (path !== undefined) return { kind: 'found', found: path, why: 'it is in the cache folder' };
        return { kind: 'absent', reason: `${folder} has none` };
      },
    },
    {
      place: "the SDK's download",
      look: async () => {
        const result = await download('temporal-test-server', { folder, env });
        if (result.kind === 'downloaded') {
          return { kind: 'found', found: result.path, why: 'the SDK has downloaded it' };
        }
        report(`test server: the SDK's download did not work: ${result.reason}`);
        return { kind: 'absent', reason: result.reason };
      },
    },
    {
      place: 'Maven',
      look: async () => {
        const result = await fetch({ folder, env, report });
        if (result.kind === 'refused') return { kind: 'absent', reason: result.reason };
        return { kind: 'found', found: result.path, why: 'Maven has fetched it, as no other was to be had' };
      },
    },
  ];

  const { found, why } = await firstThatWorks('time-skipping test server', candidates, advice);
  report(`test server: using ${found} because ${why}`);
  return found;
}
