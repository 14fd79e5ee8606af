import PQueue from 'p-queue';
import { ApiError, type Payment, type Sanaga } from '../client/index.js';

/** Payments of a list that are read at the same time. */
const MAX_READS = 8;

/** Reads payments of a list, which lacks much of what they show. `payment` is `undefined` while it can't be read. */
export async function readListed(
  sanaga: Sanaga,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly payment: Payment | undefined }[]> {
  const reads = new PQueue({ concurrency: MAX_READS });
  const read = ids.map((id) => async () => ({ id, payment: await readOne(sanaga, id, signal) }));
  // After an error, the others needn't be read.
  return await reads.addAll(read).finally(() => reads.clear());
}

/** Reads a payment; `undefined` when it can't be read at the moment. */
async function readOne(sanaga: Sanaga, id: string, signal: AbortSignal): Promise<Payment | undefined> {
  try {
    return await sanaga.payments.retrieve(id, {}, { signal });
  } catch (error) {
    if (error instanceof ApiError && (error.status >= 500 || error.status === 429)) return undefined;
    throw error;
  }
}
