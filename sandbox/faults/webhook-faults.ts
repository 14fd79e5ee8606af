import type { WireTransaction } from '../../src/provider/schemas.js';
import type { Status } from '../entry.js';
import type { WebhookFault } from './fault-rule.js';
import { formedNotification, type NotificationForm } from './odd-forms.js';

/** A notification to be sent. */
export interface WebhookDelivery {
  readonly status: Status;
  readonly body: string | Buffer;
  /** Additional delay, in ms of the sandbox's clock. */
  readonly delayMs: number;
  /** Held back until the transaction's next notification has been sent, at most this long. */
  readonly heldMs?: number | undefined;
  /** False for a notification forged by a fault, which is never retried. */
  readonly isGenuine: boolean;
  readonly faults: readonly string[];
}

const opposite = (status: Status): Status => (status === 'SUCCESSFUL' ? 'FAILED' : 'SUCCESSFUL');

/** A JSON object with an additional field of `bytes` characters. */
const padded = (body: string, bytes: number) => `${body.slice(0, -1)},"padding":"${'x'.repeat(bytes)}"}`;

/** The deliveries for one status change: the genuine notification, as changed, dropped, doubled or joined by faults. */
export function planDeliveries(transaction: WireTransaction, faults: readonly WebhookFault[]): WebhookDelivery[] {
  const deliveries: WebhookDelivery[] = [];
  const forgeries: WebhookDelivery[] = [];
  let genuine: Omit<WebhookDelivery, 'body'> & { readonly body: string } = {
    status: transaction.status,
    body: JSON.stringify(transaction),
    delayMs: 0,
    isGenuine: true,
    faults: [],
  };
  let copies = 1;
  let form: NotificationForm | undefined;
  for (const fault of faults) {
    const applied = [...genuine.faults, fault.fault];
    switch (fault.fault) {
      case 'webhookDrop':
        copies = 0;
        break;
      case 'webhookDouble':
        copies *= 2;
        genuine = { ...genuine, faults: applied };
        break;
      case 'webhookDelay':
        genuine = { ...genuine, delayMs: genuine.delayMs + fault.delayMs, faults: applied };
        break;
      case 'webhookReorder':
        genuine = { ...genuine, heldMs: fault.delayMs, faults: applied };
        break;
      case 'webhookMalformed':
        genuine = { ...genuine, body: genuine.body.slice(0, genuine.body.length >>> 1), faults: applied };
        break;
      case 'webhookOddForm':
        form = fault.form;
        genuine = { ...genuine, faults: applied };
        break;
      case 'webhookHuge':
        genuine = { ...genuine, body: padded(genuine.body, fault.bytes), faults: applied };
        break;
      case 'webhookForge': {
        const status = fault.status ?? (fault.amount === undefined ? opposite(transaction.status) : transaction.status);
        const forged = { ...transaction, status, amount: fault.amount ?? transaction.amount };
        forgeries.push({
          status,
          body: JSON.stringify(forged),
          delayMs: fault.delayMs,
          isGenuine: false,
          faults: [fault.fault],
        });
      }
    }
  }
  const body = formedNotification(genuine.body, form);
  for (let copy = 0; copy < copies; copy++) deliveries.push({ ...genuine, body });
  return [...deliveries, ...forgeries];
}
