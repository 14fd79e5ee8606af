import { describe, expect, it } from '@jest/globals';
import { findChromium } from './browser.js';

describe('the browser of the browser tests', () => {
  it('is the one that CHROMIUM_PATH names', () => {
    expect(findChromium({ CHROMIUM_PATH: process.execPath, PATH: '' })).toBe(process.execPath);
  });

  it('is asked for by name when CHROMIUM_PATH leads nowhere', () => {
    expect(() => findChromium({ CHROMIUM_PATH: '/nowhere/chromium' })).toThrow(
      "CHROMIUM_PATH is /nowhere/chromium, which can't be run",
    );
  });

  it('is asked for with what to install when there is none', () => {
    expect(() => findChromium({ PATH: '/nowhere' })).toThrow('apt-get install -y chromium');
  });
});
