import type { Payment } from '../payments/payment.js';
import type { PaymentId } from '../payments/payment-id.js';

/** A payment as the API shows it: with the address of its workflow in Temporal's Web UI, when there is one. */
export type PaymentView = Viewed<Payment>;
type Viewed<Shown> = Shown & { readonly temporalUrl?: string };

/** Where the payments' workflows can be looked at. */
export interface WebUi {
  readonly url?: string | undefined;
  readonly namespace: string;
}

/** The payment, or what is known of it, with its link into the Web UI; without a UI, as it is. */
export function viewPayment<Shown extends Pick<Payment, 'id'>>(payment: Shown, ui: WebUi): Viewed<Shown> {
  return ui.url === undefined
    ? payment
    : { ...payment, temporalUrl: temporalUrl(payment.id, ui.url, ui.namespace) };
}

function temporalUrl(id: PaymentId, url: string, namespace: string): string {
  return `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${id}`;
}
