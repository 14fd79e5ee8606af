/** The workflows, exported under their names at Temporal: the worker's bundle is made from this file. */
export { makeStatement } from './make-statement.js';
export { collectByLink, collectDirect, payOut } from './payments.js';
