import type { Payload } from '@temporalio/common';
// A CommonJS package whose named exports Node can't detect.
import proto from '@temporalio/proto';
import { z } from 'zod';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Payloads in one request. */
export const MAX_PAYLOADS = 10_000;

/** Metadata names of one payload: ours have two or three. Reading each takes far longer than reading the body. */
const MAX_NAMES = 20;

const bytes = z.string().transform((text) => Buffer.from(text, 'base64'));

const hasFewNames = (metadata: unknown) =>
  typeof metadata !== 'object' || Object.keys(metadata ?? {}).length <= MAX_NAMES;

const bodySchema = z.object({
  payloads: z
    .array(
      z.object({
        metadata: z
          .unknown()
          .refine(hasFewNames, { abort: true })
          .pipe(z.record(z.string(), bytes).nullable().default(null)),
        data: bytes.nullable().default(null),
      }),
    )
    .max(MAX_PAYLOADS),
});

/** Thrown for a body that breaks Temporal's protocol. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';

  constructor() {
    super(
      `The body must be {"payloads": […]}, with at most ${MAX_PAYLOADS} of them, and ${MAX_NAMES} names in the metadata of each.`,
    );
  }
}

/** Reads the payloads of a request. @throws {MalformedError} */
export function readPayloads(body: unknown): Payload[] {
  const read = bodySchema.safeParse(body);
  if (!read.success) throw new MalformedError();
  return read.data.payloads;
}

/** Writes payloads in their JSON form. */
export function writePayloads(payloads: readonly Payload[]): object {
  return { payloads: payloads.map((payload) => PayloadMessage.fromObject(payload)) };
}
