/** A request that changes something may wait this long for its outcome after the shutdown has begun, in ms. */
const COMMAND_GRACE_MS = 6_000;

/** Waits on behalf of callers, which can be ended early. */
class Waits {
  readonly #open = new Set<AbortController>();
  #over = false;

  /** Runs something with a signal: aborted after `ms`, when the caller hangs up or the process is to stop. */
  async within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>, hangUp?: AbortSignal): Promise<T> {
    const controller = new AbortController();
    const end = () => controller.abort();
    // A request's time may be over before its wait begins.
    const timer = setTimeout(end, Math.max(0, ms));
    hangUp?.addEventListener('abort', end, { once: true });
    this.#open.add(controller);
    if (this.#over || hangUp?.aborted) end();
    try {
      return await run(controller.signal);
    } finally {
      clearTimeout(timer);
      hangUp?.removeEventListener('abort', end);
      this.#open.delete(controller);
    }
  }

  endAll(): void {
    this.#over = true;
    for (const controller of this.#open) controller.abort();
  }
}

/** The end of the process, as requests see it. */
export class Shutdown {
  /** Reads that wait for an outcome: ended at once, as the caller can ask again. */
  readonly reads = new Waits();
  /** Requests that change something: ended as late as possible, as the caller needs the outcome. */
  readonly commands = new Waits();
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.reads.endAll();
    setTimeout(() => this.commands.endAll(), COMMAND_GRACE_MS).unref();
  }
}
