/** The workflows, exported under their names at Temporal: the worker's bundle is made from this file. */
export { keepRefunds } from './keep-refunds.js';
export { keepRestore } from './keep-restore.js';
export { keepUnmatched } from './keep-unmatched.js';
export { limitPayouts } from './limit-payouts.js';
export { makeStatement } from './make-statement.js';
export { collectByLink, collectDirect, payOut, reopenPayment } from './payments.js';
