import { once } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import { Shutdown } from '../../src/process/shutdown.js';

describe('a wait on behalf of a caller', () => {
  it('ends at once when its time was over before it began, and gives no timer less than none', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    try {
      const { commands } = new Shutdown();
      const isOver = await commands.within(-1_000, async (signal) => {
        if (!signal.aborted) await once(signal, 'abort');
        return signal.aborted;
      });
      expect(isOver).toBe(true);
      expect(timers.mock.calls.filter(([, ms = 0]) => ms < 0)).toEqual([]);
    } finally {
      timers.mockRestore();
    }
  });
});
