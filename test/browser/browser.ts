import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { z } from 'zod';

/** An executable, and the environment that it needs beside the process's own. */
export interface Chromium {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** For which machine the package brings a Chromium. */
const PACKAGED_FOR = 'linux-x64';

/**
 * The browser of the browser tests: the one that `CHROMIUM_PATH` names, or else the one that the package
 * `@sparticuz/chromium` brings, whatever is installed. The latter is unpacked once, into the user's cache folder.
 *
 * @throws when there is none. The tests are to fail then, not to be skipped: a skipped test looks like a green one.
 */
export async function findChromium(
  environment: NodeJS.ProcessEnv = process.env,
  machine = `${process.platform}-${process.arch}`,
): Promise<Chromium> {
  const named = environment.CHROMIUM_PATH;
  if (named) {
    if (isExecutable(named)) return { executablePath: named, env: {} };
    throw new Error(`CHROMIUM_PATH is ${named}, which can't be run. Set it to a Chromium's path, or unset it.`);
  }
  if (machine !== PACKAGED_FOR) {
    throw new Error(
      `The browser tests need Chromium, which the project brings for ${PACKAGED_FOR} only, not for ${machine}. ` +
        'Install Chromium or Chrome, and set CHROMIUM_PATH to its executable.',
    );
  }
  const folder = await unpackChromium(environment);
  return {
    executablePath: join(folder, 'chromium'),
    // Its own libraries (NSS, NSPR, Expat) and fonts: a bare Debian has none of them.
    env: {
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, FONTS_CONF),
    },
  };
}

/** Starts the browser, without a window and with nothing that calls home. @param more arguments for it */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  return await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}

const ours = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The package's own looks for the fonts in /tmp. A folder is relative to this file. */
const FONTS_CONF = 'fonts.conf';
const FONTS_CONF_TEXT = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** @returns the folder. Another process may unpack at the same time: the first one's is kept */
async function unpackChromium({ XDG_CACHE_HOME: root = '', HOME: home = homedir() }: NodeJS.ProcessEnv) {
  const manifest = await readFile(ours('../../node_modules/@sparticuz/chromium/package.json'), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest));
  const cache = join(isAbsolute(root) ? root : join(home, '.cache'), 'sanaga');
  const folder = join(cache, `chromium-${version}`);
  if (isExecutable(join(folder, 'chromium'))) return folder;

  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    const env = { ...process.env, TMPDIR: unfinished };
    await promisify(execFile)(process.execPath, [ours('unpack-chromium.js')], { env });
    await writeFile(join(unfinished, FONTS_CONF), FONTS_CONF_TEXT);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isExecutable(join(folder, 'chromium'))) throw error;
  }
  return folder;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
