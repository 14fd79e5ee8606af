import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Sessions } from '../../src/desk/sessions.js';

const MINUTE = 60_000;
const limits = { maxAgeMs: 60 * MINUTE, maxIdleMs: 10 * MINUTE };

describe('a session', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is found by its id alone, and is nobody else’s', () => {
    const sessions = new Sessions(limits);
    const [ann, joe] = [sessions.begin('ann', 'key-1'), sessions.begin('joe', 'key-2')];
    expect(sessions.find(ann)).toMatchObject({ name: 'ann', key: 'key-1' });
    expect(sessions.find(joe)?.csrf).not.toBe(sessions.find(ann)?.csrf);
    expect(sessions.find('another')).toBeUndefined();
    expect(sessions.find(undefined)).toBeUndefined();
  });

  it('ends when nothing was asked for a while', () => {
    const sessions = new Sessions(limits);
    const id = sessions.begin('ann', 'key-1');
    jest.setSystemTime(9 * MINUTE);
    expect(sessions.find(id)).toBeDefined();
    jest.setSystemTime(18 * MINUTE);
    expect(sessions.find(id)).toBeDefined();
    jest.setSystemTime(28 * MINUTE);
    expect(sessions.find(id)).toBeUndefined();
  });

  it('ends at its age, however much is asked', () => {
    const sessions = new Sessions(limits);
    const id = sessions.begin('ann', 'key-1');
    for (let at = 5; at < 60; at += 5) {
      jest.setSystemTime(at * MINUTE);
      expect(sessions.find(id)).toBeDefined();
    }
    jest.setSystemTime(60 * MINUTE);
    expect(sessions.find(id)).toBeUndefined();
  });

  it('ends with its key, and when its operator begins too many', () => {
    const sessions = new Sessions(limits);
    const joe = sessions.begin('joe', 'key-2');
    const ids: string[] = [];
    for (let at = 0; at < 6; at++) {
      jest.setSystemTime(at);
      ids.push(sessions.begin('ann', 'key-1'));
    }
    expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual([false, true, true, true, true, true]);
    sessions.endAllOf('key-1');
    expect(ids.some((id) => sessions.find(id) !== undefined)).toBe(false);
    expect(sessions.find(joe)).toBeDefined();
  });
});
