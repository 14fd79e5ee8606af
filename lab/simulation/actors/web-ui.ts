import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { PaymentRecord } from '../payment-record.js';
import { diceOf } from '../plan/dice.js';
import { HOUR, MINUTE } from '../plan/durations.js';
import type { Cast } from './cast.js';

/** Of a thousand payments. */
const CANCELLED = 60;
const TERMINATED = 5;

/** Somebody in Temporal's Web UI: presses Cancel, which must change nothing, or Terminate, which ends a workflow for good. */
export class WebUi {
  constructor(
    private readonly cast: Cast,
    private readonly client: Client,
  ) {}

  /** Plans what is pressed for a payment that arrives at a time (ms since the epoch). */
  begin(record: PaymentRecord, arrival: number): void {
    const { id } = record.planned;
    const dice = diceOf(this.cast.seed, 'web UI', id);
    const moment = (label: string) =>
      arrival +
      dice.pick(`${label} unit`, [
        [2, dice.between(label, 0, 30) * 100],
        [3, dice.between(label, 1, 90) * MINUTE],
        [2, dice.between(label, 2, 50) * HOUR],
      ]);
    if (dice.chance('cancels', CANCELLED / 1_000)) {
      this.cast.timeline.exactly(moment('cancel'), () => this.#cancel(id));
    }
    if (dice.chance('terminates', TERMINATED / 1_000)) {
      this.cast.timeline.exactly(moment('terminate'), () => this.#terminate(record));
    }
  }

  async #cancel(id: string): Promise<void> {
    await this.#press('cancel', () => this.client.workflow.getHandle(id).cancel());
  }

  async #terminate(record: PaymentRecord): Promise<void> {
    const { id } = record.planned;
    const isDone = await this.#press('terminate', () =>
      this.client.workflow.getHandle(id).terminate('somebody pressed the wrong button'),
    );
    if (isDone) record.terminated = true;
  }

  /** Whether there was anything to press it for. */
  async #press(button: string, act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      this.cast.tally.add(`webUi:${button}`);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }
}
