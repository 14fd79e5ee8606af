import { once } from 'node:events';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { freePort } from '../../stack/processes/ports.js';
import { keptSecrets, keptWebhookSecret, type Secrets } from '../../stack/processes/settings.js';
import { built, machine, PROJECT, startToRun } from '../support/built.js';

/** The ports that the guides name. */
const PORTS = {
  3000: 'PORT',
  3001: 'DESK_PORT',
  4000: 'SANDBOX_PORT',
  4242: 'LISTEN_PORT',
  8234: 'CODEC_PORT',
} as const;

/** A running `npm start` in a folder that looks like the repository's. */
export interface RunningStart {
  /** The folder in which it runs. */
  readonly folder: string;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly listenPort: number;
  readonly temporalAddress: string;
  readonly bookUrl: string;
  readonly secrets: Secrets;
  readonly webhookSecret: string;
  /** The id of the API's process. */
  readonly apiPid: string;
  /** The environment of a reader's terminal: Node as the machine has it, and `sanaga` on the PATH. */
  readonly env: NodeJS.ProcessEnv;
  /** A text of the guides with the ports that are really used. Another port for 8080 is chosen for each call. */
  withPorts(text: string, shopPort: number): string;
  stop(): Promise<void>;
}

/** @param base an empty folder */
export async function runStart(base: string, settings: Readonly<Record<string, string>>): Promise<RunningStart> {
  const folder = join(base, 'sanaga');
  const bin = join(folder, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  await symlink(join(PROJECT, 'dist'), join(folder, 'dist'));
  // As npm makes it, with the Node that the project brings.
  const command = join(bin, 'sanaga');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${built('build/cli/main.js')}' "$@"\n`);
  await chmod(command, 0o755);

  const ports = Object.fromEntries(
    await Promise.all(Object.entries(PORTS).map(async ([port]) => [port, await freePort()] as const)),
  );
  const temporal = await freePort();
  const env = {
    ...machine(),
    ...Object.fromEntries(Object.entries(PORTS).map(([port, name]) => [name, String(ports[port])])),
    TEMPORAL_PORT: String(temporal),
    TEMPORAL_UI_PORT: String(await freePort()),
    ...settings,
  };
  const { child, printed } = startToRun('build/cli/main.js', ['start'], env, folder);
  const welcome = await printed;
  const state = join(folder, '.sanaga');
  const path = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return {
    folder,
    apiUrl: `http://127.0.0.1:${ports[3000]}`,
    sandboxUrl: `http://127.0.0.1:${ports[4000]}`,
    listenPort: Number(ports[4242]),
    temporalAddress: `127.0.0.1:${temporal}`,
    bookUrl: /\bBook +(\S+)/.exec(welcome)?.[1] ?? '',
    secrets: await keptSecrets(state),
    webhookSecret: await keptWebhookSecret(state),
    apiPid: /\bapi (\d+)/.exec(welcome)?.[1] ?? '',
    env: {
      ...machine(),
      PATH: [bin, ...path].join(delimiter),
      // What is installed is on this machine.
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    },
    withPorts: (text, shopPort) =>
      text
        .replace(/127\.0\.0\.1:(3000|3001|4000|4242|8234)\b/g, (_, port) => `127.0.0.1:${ports[port]}`)
        .replace(/127\.0\.0\.1:8080\b/g, `127.0.0.1:${shopPort}`)
        .replace(/\.listen\(8080\b/g, `.listen(${shopPort}`),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
