/* PGlite as a process of its own: its port and its folder are its arguments. It runs until SIGTERM or SIGINT. */
import { once } from 'node:events';
import { startPGliteServer } from './pglite-server.js';

const stopping = new AbortController();
const { signal: stop } = stopping;
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());
// It has no settings to read again: without a listener, it would end.
process.on('SIGHUP', () => undefined);
const [port, folder] = process.argv.slice(2);
const server = await startPGliteServer(Number(port), folder);
if (!stop.aborted) await once(stop, 'abort');
await server.stop();
