import type { WireTransaction } from '../../src/provider/schemas.js';
import type { Status } from '../entry.js';
import type { WebhookFault } from './fault-rule.js';

/** One notification to be sent. */
export interface Delivery {
  readonly status: Status;
  readonly body: string;
  /** Beyond the usual delay, in ms of the sandbox's clock. */
  readonly delayMs: number;
  /** Waits for the transaction's next notification to go out, this long at most. */
  readonly heldMs?: number | undefined;
  /** Whether it is the provider's own word: what a fault made up is never tried again. */
  readonly genuine: boolean;
  readonly faults: readonly string[];
}

const opposite = (status: Status): Status => (status === 'SUCCESSFUL' ? 'FAILED' : 'SUCCESSFUL');

/** A transaction's notification with a field more than it needs, of `bytes` characters. */
const padded = (body: string, bytes: number) => `${body.slice(0, -1)},"padding":"${'x'.repeat(bytes)}"}`;

/** What is sent of one status change: the true notification alone, unless faults change, drop, double or add to it. */
export function planDeliveries(transaction: WireTransaction, faults: readonly WebhookFault[]): Delivery[] {
  const deliveries: Delivery[] = [];
  const extra: Delivery[] = [];
  let truth: Delivery = {
    status: transaction.status,
    body: JSON.stringify(transaction),
    delayMs: 0,
    genuine: true,
    faults: [],
  };
  let copies = 1;
  for (const fault of faults) {
    const named = [...truth.faults, fault.fault];
    switch (fault.fault) {
      case 'webhookDrop':
        copies = 0;
        break;
      case 'webhookDouble':
        copies *= 2;
        truth = { ...truth, faults: named };
        break;
      case 'webhookDelay':
        truth = { ...truth, delayMs: truth.delayMs + fault.delayMs, faults: named };
        break;
      case 'webhookReorder':
        truth = { ...truth, heldMs: fault.delayMs, faults: named };
        break;
      case 'webhookMalformed':
        truth = { ...truth, body: truth.body.slice(0, truth.body.length >>> 1), faults: named };
        break;
      case 'webhookHuge':
        truth = { ...truth, body: padded(truth.body, fault.bytes), faults: named };
        break;
      case 'webhookForge': {
        const status =
          fault.status ?? (fault.amount === undefined ? opposite(transaction.status) : transaction.status);
        const forged = { ...transaction, status, amount: fault.amount ?? transaction.amount };
        extra.push({
          status,
          body: JSON.stringify(forged),
          delayMs: fault.delayMs,
          genuine: false,
          faults: [fault.fault],
        });
      }
    }
  }
  for (let copy = 0; copy < copies; copy++) deliveries.push(truth);
  return [...deliveries, ...extra];
}
