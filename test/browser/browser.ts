import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The browser of the browser tests: the one that `CHROMIUM_PATH` names, or the first found on `PATH`.
 *
 * @throws when there is none. The tests are to fail then, not to be skipped: a skipped test looks like a green one.
 */
export const findChromium = (environment: NodeJS.ProcessEnv = process.env): string => {
  const named = environment.CHROMIUM_PATH;
  if (named) {
    if (isExecutable(named)) return named;
    throw new Error(
      `CHROMIUM_PATH is ${named}, which can't be run. Set it to a Chromium's path, or unset it.`,
    );
  }
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable);
  if (found) return found;
  throw new Error(
    `The browser tests need Chromium, and none of ${NAMES.join(', ')} is on PATH. ` +
      'Install it (Debian, Ubuntu: apt-get install -y chromium), or set CHROMIUM_PATH to one.',
  );
};

/** Starts the browser, without a window and with nothing that calls home. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
