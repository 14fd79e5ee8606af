/* Health check of a process that listens, run beside it in its container: succeeds when its address answers well. */

/** Less than docker-compose.yml waits: not every engine ends a check that takes too long. */
const LIMIT_MS = 5_000;

const { ok } = await fetch(process.argv[2], { signal: AbortSignal.timeout(LIMIT_MS) });
process.exitCode = ok ? 0 : 1;
