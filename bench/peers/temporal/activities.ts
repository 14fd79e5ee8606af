export { initiatePay, notifyMerchant, paymentStatus } from '../payment-services.ts';
