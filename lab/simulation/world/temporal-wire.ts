import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';

/** A worker's identity (process id and host) with the digits that it puts behind it to name a queue of its own. */
const QUEUE = new RegExp(`\\d+@${hostname().replace(/\W/g, '\\$&')}-[0-9a-f]{32}`);
const HOST = `@${hostname()}-`;
/** Room for a process id before, and the digits behind. */
const [BEFORE, BEHIND] = [10, 32];

/**
 * The wire between workers and Temporal. It carries every byte as it is, and listens for one thing: the names of the
 * queues that workers keep for the workflows in their memory, which nothing else tells.
 */
export class TemporalWire {
  /** The queues that were asked for tasks so far. */
  readonly queues = new Set<string>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(host: string, port: number) {
    this.#server = createServer((worker) => {
      const temporal = connect({ host, port, noDelay: true });
      worker.setNoDelay(true);
      this.#join(worker, temporal);
      this.#join(temporal, worker);
      worker.on('data', (bytes: Buffer) => this.#listenTo(bytes));
    });
  }

  /** @param address `host:port` of the server */
  static async to(address: string): Promise<TemporalWire> {
    const [host = '', port] = address.split(':');
    const wire = new TemporalWire(host, Number(port));
    wire.#server.listen(0, '127.0.0.1');
    await once(wire.#server, 'listening');
    return wire;
  }

  /** Where workers connect: `host:port`. */
  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the wire is not connected');
    return `127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }

  #listenTo(bytes: Buffer): void {
    for (let at = bytes.indexOf(HOST); at >= 0; at = bytes.indexOf(HOST, at + 1)) {
      const around = bytes.toString('latin1', Math.max(0, at - BEFORE), at + HOST.length + BEHIND);
      const [queue] = QUEUE.exec(around) ?? [];
      if (queue !== undefined) this.queues.add(queue);
    }
  }
}
