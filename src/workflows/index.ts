/** The workflows by the names that Temporal knows them by: what the worker's bundle is made of. */
export { collectByLink } from './collect-by-link.js';
export { collectDirect } from './collect-direct.js';
export { keepUnclaimed } from './keep-unclaimed.js';
export { payOut } from './pay-out.js';
export { reconcileLate } from './reconcile-late.js';
