import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Request, Response } from 'express';
import { newSession } from '../../src/desk/session.js';
import { Sessions } from '../../src/http/sessions.js';

const MINUTE = 60_000;
const options = { cookie: 'sanaga', maxAgeMs: 60 * MINUTE, maxIdleMs: 10 * MINUTE, maxOfKey: 5 };

/** A browser, as far as sessions see it: it keeps one cookie. */
class Browser {
  cookie: string | undefined;

  get request(): Request {
    return { headers: { cookie: this.cookie }, secure: false } as Request;
  }

  get response(): Response {
    const response = {
      cookie: (name: string, value: string) => (this.cookie = `${name}=${value}`),
      clearCookie: () => (this.cookie = undefined),
    };
    return response as unknown as Response;
  }
}

describe('a session', () => {
  let sessions: Sessions<ReturnType<typeof newSession>>;
  const begin = (name: string, key: string) => {
    const browser = new Browser();
    sessions.begin(browser.request, browser.response, newSession({ person: name, owner: name, scopes: [], key }));
    return browser;
  };
  const find = ({ request }: Browser) => sessions.find(request);

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    sessions = new Sessions(options);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is found by its cookie alone, and is nobody else’s', () => {
    const [ann, joe] = [begin('ann', 'key-1'), begin('joe', 'key-2')];
    expect(find(ann)).toMatchObject({ person: 'ann', key: 'key-1' });
    expect(find(joe)?.csrf).not.toBe(find(ann)?.csrf);
    const stranger = new Browser();
    expect(find(stranger)).toBeUndefined();
    stranger.cookie = `sanaga=${'x'.repeat(43)}`;
    expect(find(stranger)).toBeUndefined();
  });

  it('ends when nothing was asked for a while', () => {
    const ann = begin('ann', 'key-1');
    jest.setSystemTime(9 * MINUTE);
    expect(find(ann)).toBeDefined();
    jest.setSystemTime(18 * MINUTE);
    expect(find(ann)).toBeDefined();
    jest.setSystemTime(28 * MINUTE);
    expect(find(ann)).toBeUndefined();
  });

  it('ends at its age, however much is asked', () => {
    const ann = begin('ann', 'key-1');
    for (let at = 5; at < 60; at += 5) {
      jest.setSystemTime(at * MINUTE);
      expect(find(ann)).toBeDefined();
    }
    jest.setSystemTime(60 * MINUTE);
    expect(find(ann)).toBeUndefined();
  });

  it('ends when its operator signs out', () => {
    const ann = begin('ann', 'key-1');
    const { cookie } = ann;
    sessions.end(ann.request, ann.response);
    expect(ann.cookie).toBeUndefined();
    ann.cookie = cookie;
    expect(find(ann)).toBeUndefined();
  });

  it('ends with its key', () => {
    const [ann, again, joe] = [begin('ann', 'key-1'), begin('ann', 'key-1'), begin('joe', 'key-2')];
    sessions.endAllOf('key-1');
    expect([ann, again].some((browser) => find(browser) !== undefined)).toBe(false);
    expect(find(joe)).toBeDefined();
  });

  it('ends when its key begins too many and no other was used longer ago', () => {
    const joe = begin('joe', 'key-2');
    const browsers = [begin('ann', 'key-1')];
    for (let at = 1; at < 5; at++) browsers.push(begin('ann', 'key-1'));
    expect(find(browsers[0] as Browser)).toBeDefined();
    browsers.push(begin('ann', 'key-1'));
    expect(browsers.map((browser) => find(browser) !== undefined)).toEqual([true, false, true, true, true, true]);
    expect(find(joe)).toBeDefined();
  });
});
