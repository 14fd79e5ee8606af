import { parentPort, workerData } from 'node:worker_threads';
import { step } from '../../src/payments/machine/machine.js';
import { objectionTo } from '../../src/payments/machine/requests.js';
import { openPayment } from '../../src/payments/words/payment-state.js';
import { type WalkMessage, walkAll } from './walks.js';

/** A thread that plays some of the walks. */
const send = (message: WalkMessage) => parentPort?.postMessage(message);
const result = walkAll({ openPayment, step, objectionTo }, workerData, (broken) => send({ kind: 'broken', broken }));
send({ kind: 'result', result });
