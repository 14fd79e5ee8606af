import { readFile } from 'node:fs/promises';

/** A user of this machine. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** A program with its arguments. */
export type Command = readonly [file: string, args: readonly string[]];

/**
 * PostgreSQL refuses to run as root: it runs as the user of its package then, or as nobody. Returns `undefined` where
 * this process isn't root's.
 */
export async function otherUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const [, , uid, gid] = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined || gid === undefined) {
    throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as');
  }
  return { uid: Number(uid), gid: Number(gid) };
}

/** Has a program run as another user, if one is given, without any of root's rights. */
export function asUser(user: User | undefined, [file, args]: Command): Command {
  return user === undefined ? [file, args] : ['setpriv', [...identity(user), file, ...args]];
}

/**
 * As {@link asUser}, but the program may enter folders that are root's alone, on its way to its own: that takes one of
 * root's capabilities, the least that containers have, too: `CAP_DAC_READ_SEARCH`, which writes nothing, they lack.
 * Without the bit, `access()`, by which PostgreSQL looks for its programs, doesn't count it.
 */
export function asUserInRootsFolders(user: User | undefined, [file, args]: Command): Command {
  if (user === undefined) return [file, args];
  const entering = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`);
  return ['setpriv', [...identity(user), ...entering, '--securebits=+no_setuid_fixup', file, ...args]];
}

const identity = ({ uid, gid }: User) => [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
