import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './network.js';

/**
 * Requests on one connection that may wait for the answer to an earlier one. Few callers ever send a second one before
 * they have an answer, but 60 kB hold thousands, and the answer to each may have megabytes.
 */
const MAX_PIPELINED = 16;

interface ConnectionLimits {
  /** Connections at a time. */
  readonly max: number;
  /** Connections of one address at a time. */
  readonly ofAddress: number;
}

/** The request that is being answered on a connection, and those that wait. */
type Pipeline = (readonly [IncomingMessage, ServerResponse])[];

/**
 * Keeps anybody from taking all of a server's connections. Beyond a limit, the connection that has been idle for
 * longest makes room for the next; where none is idle, the next is refused. Requests of one connection are answered one
 * at a time, each when its caller has read the answer before it.
 */
export class Connections {
  /** The open ones by address. Those that are idle stand in the order in which they became so. */
  readonly #open = new Map<string, Set<Socket>>();
  readonly #addresses = new Map<Socket, string>();
  readonly #pipelines = new WeakMap<Socket, Pipeline>();

  constructor(
    private readonly app: RequestListener,
    private readonly limits: ConnectionLimits,
  ) {}

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#admit(socket));
    server.on('request', (request, response) => this.#take(request, response));
  }

  /** Reports whether an answer may still be written on a connection: not after half of another one. */
  isAnswerable(socket: Socket): boolean {
    const [first] = this.#pipelines.get(socket) ?? [];
    return socket.writable && first?.[1].headersSent !== true;
  }

  #admit(socket: Socket): void {
    const address = networkOf(socket.remoteAddress ?? '');
    const own = this.#open.get(address) ?? new Set();
    const isAtShare = own.size >= this.limits.ofAddress;
    if (isAtShare || this.#addresses.size >= this.limits.max) {
      const idle = isAtShare ? this.#idleAmong(own) : this.#idleOfMost();
      if (idle === undefined) {
        socket.destroy();
        return;
      }
      this.#forget(idle);
      idle.destroy();
    }
    this.#open.set(address, own.add(socket));
    this.#addresses.set(socket, address);
    socket.once('close', () => this.#forget(socket));
  }

  #idleAmong(sockets: Iterable<Socket>): Socket | undefined {
    for (const socket of sockets) if (!this.#pipelines.has(socket)) return socket;
    return undefined;
  }

  /** An idle connection of the address that has the most. */
  #idleOfMost(): Socket | undefined {
    const bySize = [...this.#open.values()].sort((one, other) => other.size - one.size);
    for (const sockets of bySize) {
      const idle = this.#idleAmong(sockets);
      if (idle !== undefined) return idle;
    }
    return undefined;
  }

  #forget(socket: Socket): void {
    const address = this.#addresses.get(socket);
    if (address === undefined) return;
    this.#addresses.delete(socket);
    const own = this.#open.get(address);
    own?.delete(socket);
    if (own?.size === 0) this.#open.delete(address);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // The rest of the bytes that were read at once from a connection that has been closed since.
    if (socket.destroyed) return;
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined) {
      this.#pipelines.set(socket, [[request, response]]);
      this.#answerNext(socket);
    } else if (pipeline.length > MAX_PIPELINED) {
      socket.destroy();
    } else {
      pipeline.push([request, response]);
    }
  }

  #answerNext(socket: Socket): void {
    const pipeline = this.#pipelines.get(socket);
    const [first] = pipeline ?? [];
    if (first === undefined || socket.writableEnded || socket.destroyed) {
      this.#becomeIdle(socket);
      return;
    }
    const [request, response] = first;
    response.once('close', () => {
      pipeline?.shift();
      this.#answerNext(socket);
    });
    this.app(request, response);
  }

  #becomeIdle(socket: Socket): void {
    this.#pipelines.delete(socket);
    const own = this.#open.get(this.#addresses.get(socket) ?? '');
    if (own?.delete(socket)) own.add(socket);
  }
}
