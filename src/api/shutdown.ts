/** What is waited for on a caller's behalf, and can be ended early. */
class Waits {
  readonly #open = new Set<AbortController>();
  #over = false;

  /**
   * Runs something that lasts until the signal it is given: when `ms` have passed, the caller has hung up, or the
   * process is about to stop.
   */
  async within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>, hangUp?: AbortSignal): Promise<T> {
    const controller = new AbortController();
    const end = () => controller.abort();
    const timer = setTimeout(end, ms);
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

/** How long, in ms, a POST that is being answered may go on after the process was told to stop. */
const ANSWERING_GRACE = 6_000;

/** The end of the process, as requests see it. */
export class Shutdown {
  /** Reads that wait for an outcome: ended at once, for the caller can ask again. */
  readonly reads = new Waits();
  /** Requests that have set something going: ended as late as possible, for their caller wants to know. */
  readonly commands = new Waits();
  #begun = false;

  get begun(): boolean {
    return this.#begun;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.reads.endAll();
    setTimeout(() => this.commands.endAll(), ANSWERING_GRACE).unref();
  }
}
