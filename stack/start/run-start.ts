import { once } from 'node:events';
import { join, relative } from 'node:path';
import { claimPorts, type WantedPort } from '../processes/claim-ports.js';
import { keptSecrets } from '../processes/secrets.js';
import type { StackPorts } from '../processes/settings.js';
import { bringUpStack, PARTS } from '../processes/stack.js';
import { claimFolder } from './claim-folder.js';
import { startSettings, type TemporalPorts } from './start-settings.js';
import { welcome } from './welcome.js';

/** Where everything is kept that a restart needs, in the current folder. */
const STATE_FOLDER = '.sanaga';

/**
 * Brings the stack up and leaves it running until `stop`. Temporal's database, what the sandbox knows, the secrets and
 * the logs are kept in the state folder, so that the next start goes on where this one ended.
 *
 * @returns the exit code: 0 when it was asked to stop, 1 when a part of it failed.
 * @throws ConfigError for wrong settings; Error for taken ports and for a part that doesn't come up; whatever `stop`
 * was aborted with before the stack was up. Nothing is left running then.
 */
export async function runStart({ stop }: { readonly stop: AbortSignal }): Promise<number> {
  const own = process.env;
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const folder = join(process.cwd(), STATE_FOLDER);
  const secrets = await keptSecrets(folder);
  const { ports, temporalPorts, env, taskQueue, keyNames } = await startSettings(own, secrets);
  const release = await claimFolder(folder);
  await claimPorts([...ours(ports), ...(own.TEMPORAL_ADDRESS ? [] : temporals(temporalPorts))], report);
  const stack = await bringUpStack({
    ports,
    env: { SANDBOX_JOURNAL: join(folder, 'sandbox.journal'), ...env },
    taskQueue,
    logFolder: join(folder, 'logs'),
    report,
    temporal: {
      env: own,
      databaseFile: join(folder, 'temporal.db'),
      port: temporalPorts.frontend,
      uiPort: temporalPorts.ui,
    },
    stop,
  });
  try {
    const text = welcome({
      apiUrl: stack.apiUrl,
      sandboxUrl: stack.sandboxUrl,
      temporal: stack.temporal,
      apiKey: own.API_KEYS ? undefined : secrets.apiKey,
      keyNames,
      processes: PARTS.map((name) => `${name} ${stack.part(name).pid}`),
      folder: relative(process.cwd(), folder),
    });
    process.stdout.write(text);
    const asked = stop.aborted ? undefined : once(stop, 'abort').then(() => undefined);
    const failure = await Promise.race([stack.broken, asked]);
    if (failure === undefined) return 0;
    report(failure);
    return 1;
  } finally {
    report('start: stopping');
    await stack.stop();
    await release();
    report('start: stopped');
  }
}

const ours = ({ api, sandbox }: StackPorts): WantedPort[] => [
  { port: api, of: 'the API', advice: 'set PORT to another port' },
  { port: sandbox, of: 'the sandbox', advice: 'set SANDBOX_PORT to another port' },
];

const temporals = ({ frontend, ui }: TemporalPorts): WantedPort[] => [
  {
    port: frontend,
    of: 'Temporal',
    advice: 'set TEMPORAL_PORT to another port, or TEMPORAL_ADDRESS to use the server there',
  },
  { port: ui, of: "Temporal's Web UI", advice: 'set TEMPORAL_UI_PORT to another port' },
];
