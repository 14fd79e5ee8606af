import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, relative } from 'node:path';

/**
 * Takes a state folder for this process alone: two Temporal servers on one database file would ruin it. The claim is
 * a socket in the folder, which falls to nobody when this process ends, however it ends.
 *
 * @returns what gives the folder free again.
 * @throws Error when another process has it.
 */
export async function claimFolder(folder: string): Promise<() => Promise<void>> {
  // Socket paths are limited to about a hundred characters, so the shorter way there is taken.
  const socket = relative(process.cwd(), join(folder, 'claim.sock'));
  if (await isAnswered(socket)) {
    throw new Error(`start: another process runs on ${folder}: stop it, or start in another folder`);
  }
  await rm(socket, { force: true });
  const claim = createServer((visitor) => visitor.destroy());
  claim.listen(socket);
  await once(claim, 'listening');
  claim.unref();
  return async () => {
    claim.close();
    await once(claim, 'close');
  };
}

async function isAnswered(socket: string): Promise<boolean> {
  const visitor = connect(socket);
  try {
    await once(visitor, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    visitor.destroy();
  }
}
