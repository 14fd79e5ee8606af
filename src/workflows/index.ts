/** The workflows by the names that Temporal knows them by: what the worker's bundle is made of. */
export { keepUnmatched } from './keep-unmatched.js';
export { collectByLink, collectDirect, payOut, reopenPayment } from './payments.js';
