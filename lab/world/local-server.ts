import { createServer, type RequestListener, type Server } from 'node:http';

/** A server on a free port of this machine that can go away for a while and come back at the same address. */
export class LocalServer {
  readonly #server: Server;
  #port = 0;
  #absences = 0;

  constructor(listener: RequestListener) {
    this.#server = createServer({ keepAliveTimeout: 60_000 }, listener);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, always at the same address. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  /** Cuts every connection, even in the middle of a request. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  /** Ends one absence. Absences may overlap: it listens again when the last one ends. */
  async comeBack(): Promise<void> {
    this.#absences--;
    if (this.#absences === 0) await this.listen();
  }

  /** Stops listening: connections are refused. */
  async leave(): Promise<void> {
    this.#absences++;
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }
}
