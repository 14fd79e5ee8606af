import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { machine, runToEnd } from '../support/built.js';
import { eventually } from '../support/eventually.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

const answerSchema = z.looseObject({ id: z.string() });
const notificationSchema = z.object({ type: z.string(), data: z.looseObject({ id: z.string() }) });

/** Notifications to the merchant, in order. */
const told: z.infer<typeof notificationSchema>[] = [];
const merchant = createServer(async (request, response) => {
  told.push(notificationSchema.parse(JSON.parse(await text(request))));
  response.writeHead(204).end();
});

let running: RunningStack;
beforeAll(async () => {
  await once(merchant.listen(0, '127.0.0.1'), 'listening');
  const { port } = merchant.address() as AddressInfo;
  running = await bringUp({ MERCHANT_WEBHOOK_URL: `http://127.0.0.1:${port}/` });
});
afterAll(async () => {
  await running?.stop();
  merchant.closeAllConnections();
  merchant.close();
});

describe('npx sanaga trigger link-retried', () => {
  it('has its merchant told of each outcome once', async () => {
    const env = {
      ...machine(),
      SANAGA_URL: running.stack.apiUrl,
      SANAGA_API_KEY: running.secrets.apiKey,
    };
    for (let run = 0; run < 4; run++) {
      const args = ['trigger', 'link-retried', '--json', '--sandbox', running.stack.sandboxUrl];
      const { code, stdout, stderr } = await runToEnd('build/cli/main.js', args, env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { id } = answerSchema.parse(JSON.parse(stdout));
      await running.client.workflow.getHandle(id).result();
      const toldOf = () => told.filter(({ data }) => data.id === id).map(({ type }) => type);
      const types = await eventually(
        async () => toldOf(),
        (all) => all.includes('payment.succeeded'),
      );
      expect(types.filter((type) => type === 'payment.succeeded')).toHaveLength(1);
      expect(types.filter((type) => type === 'payment.attempt_failed').length).toBeLessThanOrEqual(1);
    }
  });
});
