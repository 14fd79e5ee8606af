import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where Sanaga keeps the executables that it downloads or builds: `${XDG_CACHE_HOME:-~/.cache}/sanaga`. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { XDG_CACHE_HOME: root = '', HOME: home = homedir() } = env;
  // The XDG specification asks to ignore a relative path here.
  return join(isAbsolute(root) ? root : join(home, '.cache'), 'sanaga');
}
