import { parentPort, workerData } from 'node:worker_threads';
import { MACHINE } from './machine.js';
import { type WalkMessage, walkAll } from './walks.js';

/** A thread that plays some of the walks. */
const send = (message: WalkMessage) => parentPort?.postMessage(message);
const result = walkAll(MACHINE, workerData, (broken) => send({ kind: 'broken', broken }));
send({ kind: 'result', result });
