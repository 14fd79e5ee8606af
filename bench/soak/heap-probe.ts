/*
 * Loaded by Node before the API's or the worker's own program, in each of its threads: now and then it collects all
 * garbage, and writes down what is left of the heap. Only the soak test does so.
 */
import { appendFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

const { HEAP_LOG: file, HEAP_EVERY_MS: every } = process.env;

if (file !== undefined && gc !== undefined) {
  const collect = gc;
  setInterval(() => {
    collect();
    // Without what lies outside it, in buffers of calls under way: that is some 20 MB more or less at any moment.
    const { heapUsed } = process.memoryUsage();
    const line = { at: Date.now(), pid: process.pid, thread: threadId, bytes: heapUsed };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, Number(every)).unref();
}
