/* PGlite as a process of its own: its port and its folder are its arguments. It runs until SIGTERM or SIGINT. */
import { once } from 'node:events';
import { stopSignal } from '../processes/stop-signal.js';
import { startPGliteServer } from './pglite-server.js';

const stop = stopSignal();
const [port, folder] = process.argv.slice(2);
const server = await startPGliteServer(Number(port), folder);
if (!stop.aborted) await once(stop, 'abort');
await server.stop();
