import { execFile } from 'node:child_process';
import { findTemporal } from '../../stack/temporal/temporal-cli.js';
import { PATIENCE_MS } from './eventually.js';

/** Runs a command of Temporal's command line, as an operator types it. */
export type TemporalCommand = (...words: readonly string[]) => Promise<{
  readonly isDone: boolean;
  readonly said: string;
}>;

/** @param address the server's, `host:port` */
export async function temporalCommands(address: string): Promise<TemporalCommand> {
  const { path: executable } = await findTemporal({ report: () => undefined });
  const target = ['--address', address, '--command-timeout', '60s'];
  return (...words) =>
    new Promise((resolve) =>
      execFile(executable, [...words, ...target], { timeout: PATIENCE_MS }, (error, stdout, stderr) =>
        resolve({ isDone: error === null, said: `${stdout}${stderr}` }),
      ),
    );
}
