export * from './errors.js';
export type { EventList } from './event-list.js';
export type { CreateOptions } from './orders.js';
export type { PaymentList, PaymentListOptions } from './payment-list.js';
export type { WaitOptions } from './payments.js';
export { Sanaga } from './sanaga.js';
export { type ClientOptions, type RequestOptions, VERSION } from './transport.js';
export type * from './types.js';
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './webhooks.js';
