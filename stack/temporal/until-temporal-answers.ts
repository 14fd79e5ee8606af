import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { probeTemporal } from '../../src/temporal/connection.js';
import type { ServerProcess } from './server-process.js';

const TRY_EVERY = 50;

/**
 * Waits until a server that was just started answers for its namespace.
 *
 * @throws Error with the end of the server's log when it has ended meanwhile, or not answered after `limit` ms.
 */
export async function untilTemporalAnswers(
  connection: Connection,
  namespace: string,
  { server, limit }: { server: Pick<ServerProcess, 'ended' | 'log'>; limit: number },
): Promise<void> {
  let end: string | undefined;
  void server.ended.then((how) => {
    end = how;
  });

  const deadline = Date.now() + limit;
  for (;;) {
    let failure: unknown;
    try {
      await probeTemporal(connection, namespace);
      if (end === undefined) return;
    } catch (error) {
      failure = error;
    }
    const log = `\n${server.log()}`.trimEnd();
    if (end !== undefined) throw new Error(`temporal: the dev server ended with ${end}${log}`);
    if (Date.now() > deadline) {
      throw new Error(`temporal: the dev server did not answer within ${limit / 1_000} s${log}`, {
        cause: failure,
      });
    }
    await delay(TRY_EVERY);
  }
}
