import type { Payment } from '../payments/payment.js';
import type { PaymentId } from '../payments/payment-id.js';

/** A payment as the API shows it: with the address of its workflow in Temporal's Web UI, when there is one. */
export interface PaymentView extends Payment {
  readonly temporalUrl?: string;
}

/** Where the payments' workflows can be looked at. */
export interface WebUi {
  readonly url?: string | undefined;
  readonly namespace: string;
}

/** The payment with its link into the Web UI; without a UI, as it is. */
export function viewPayment(payment: Payment, ui: WebUi): PaymentView {
  return ui.url === undefined
    ? payment
    : { ...payment, temporalUrl: temporalUrl(payment.id, ui.url, ui.namespace) };
}

function temporalUrl(id: PaymentId, url: string, namespace: string): string {
  return `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${id}`;
}
