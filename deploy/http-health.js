/* Health check of a process that listens, run beside it in its container: succeeds when its address answers well. */
const { ok } = await fetch(process.argv[2]);
process.exitCode = ok ? 0 : 1;
