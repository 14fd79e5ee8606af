import type { Response } from 'express';
import type { Ending } from '../faults/spoil-answer.js';

/** Ends requests, and knows those that it keeps waiting on purpose, so that they can be cut off all at once. */
export class RequestEnder {
  readonly #waiting = new Map<Response, NodeJS.Timeout>();

  /** Sends an ending over the wire. */
  end(response: Response, ending: Ending): void {
    switch (ending.kind) {
      case 'answer': {
        const send = () =>
          response
            .status(ending.answer.status)
            .set(ending.answer.headers ?? {})
            .json(ending.answer.body);
        if (ending.delayMs === 0) send();
        else this.#after(ending.delayMs, response, send);
        return;
      }
      case 'text':
        response
          .status(ending.status)
          .set(ending.headers ?? {})
          .type(ending.type)
          .send(ending.text);
        return;
      case 'silence':
        this.#after(ending.holdMs, response, () => response.destroy());
        return;
      case 'reset':
        reset(response);
    }
  }

  /** Cuts off every request that is kept waiting. */
  close(): void {
    for (const response of this.#waiting.keys()) response.destroy();
  }

  #after(delayMs: number, response: Response, run: () => void): void {
    const timer = setTimeout(() => {
      this.#waiting.delete(response);
      run();
    }, delayMs);
    this.#waiting.set(response, timer);
    response.once('close', () => {
      clearTimeout(timer);
      this.#waiting.delete(response);
    });
  }
}

/** Sends a TCP reset rather than a polite end, as a network that fails does. */
function reset(response: Response): void {
  response.socket?.resetAndDestroy();
}
