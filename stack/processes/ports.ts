import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A TCP port of 127.0.0.1 that nothing listens on. For about a minute the system gives it to no other process that asks
 * for any free port, so a server in another process can be started on it.
 */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const { port } = addressOf(server);

  // Closing a connection from the listening side leaves it in TIME_WAIT. Until that is over, Linux assigns the port
  // only to a process that asks for this very one.
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  const [socket] = await accepted;
  socket.destroy();
  await once(client.on('error', () => undefined).resume(), 'close');

  await close(server);
  return port;
}

/** Below what systems hand out by themselves: from 32768 on Linux, from 49152 elsewhere. */
const [MIN_PORT, MAX_PORT] = [15_000, 30_000];

/** The steady ports that this process has chosen. Nothing may listen on them yet, or for the moment. */
const chosen = new Set<number>();

/**
 * A free port of 127.0.0.1 that stays free while its server is away: it is outside the range from which systems assign
 * ports to outgoing connections. A process gets none twice.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(MIN_PORT, MAX_PORT);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isPortFree(port)) return port;
  }
}

/** Reports whether a server could listen on this port of 127.0.0.1 now. */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await close(await listen(port));
    return true;
  } catch {
    return false;
  }
}

/**
 * Reports whether a server listens on this port of 127.0.0.1. It only connects, so that a server about to listen isn't
 * disturbed.
 */
export async function listens(port: number): Promise<boolean> {
  const caller = connect(port, '127.0.0.1');
  try {
    await once(caller, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    caller.destroy();
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric address');
  return address;
}

/** A port that a part of the stack needs. */
export interface WantedPort {
  readonly port: number;
  /** The part that is to listen there. */
  readonly of: string;
  /** Tells how to choose another port. */
  readonly advice: string;
}

/** Time limit for the ports of a stack that is still stopping, in ms. */
const PATIENCE_MS = 6_000;
const CHECK_EVERY_MS = 200;

/**
 * Waits until nothing listens on these ports of 127.0.0.1.
 *
 * @throws Error with a line for each port that is still taken after `patienceMs`.
 */
export async function untilPortsAreFree(
  wanted: readonly WantedPort[],
  report: (line: string) => void,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const taken = await takenOf(wanted);
    if (taken.length === 0) return;
    if (Date.now() >= deadline) throw new Error(taken.map(describe).join('\n'));
    if (isFirst) {
      const numbers = taken.map(({ port }) => port).join(', ');
      report(`start: port ${numbers} is in use; waiting in case another stack is still stopping`);
    }
    await pause(CHECK_EVERY_MS);
  }
}

async function takenOf(wanted: readonly WantedPort[]): Promise<WantedPort[]> {
  const free = await Promise.all(wanted.map(({ port }) => isPortFree(port)));
  return wanted.filter((_, index) => !free[index]);
}

const describe = ({ port, of, advice }: WantedPort) =>
  `start: port ${port} for ${of} is taken: stop what listens there, or ${advice}`;
