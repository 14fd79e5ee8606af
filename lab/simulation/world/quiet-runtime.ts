import { DefaultLogger, Runtime } from '@temporalio/worker';

let isQuiet = false;

/** Lets Temporal's runtime, one for each process, log its own errors alone: what workflows log is for operators. */
export function quietRuntime(): void {
  if (isQuiet) return;
  isQuiet = true;
  const logger = new DefaultLogger('ERROR', ({ message, meta }) => {
    if (meta?.sdkComponent !== 'workflow') process.stderr.write(`${message} ${JSON.stringify(meta)}\n`);
  });
  Runtime.install({ logger, shutdownSignals: [] });
}
