import { describe, expect, it } from '@jest/globals';
import { openLink, payDirectly, startSandbox, textOf, transactionsOf } from '../running-sandbox.js';

describe('GET /transaction/{userId}', () => {
  it("lists all of a user's transactions, most recent first, and nobody else's", async () => {
    const running = await startSandbox();
    const first = await openLink(running, { userId: 'ann' });
    await openLink(running, { userId: 'ben' });
    await openLink(running);
    const second = await payDirectly(running, { userId: 'ann' });
    const listed = transactionsOf(await running.get('/transaction/ann'));
    expect(listed.map(({ transId }) => transId)).toEqual([second, first]);
  });

  it('has no paging', async () => {
    const running = await startSandbox();
    for (let nth = 0; nth < 120; nth++) await openLink(running, { userId: 'ann' });
    expect(transactionsOf(await running.get('/transaction/ann'))).toHaveLength(120);
  });

  it('is empty for a user without any', async () => {
    const { get } = await startSandbox();
    expect(await get('/transaction/nobody')).toMatchObject({ status: 200, body: [] });
  });

  it.each(['a%20b', 'a.b', '%C3%A9', 'x'.repeat(101), 'a%2Fb'])(
    'refuses the userId %s with 400',
    async (userId) => {
      const { get } = await startSandbox();
      const reply = await get(`/transaction/${userId}`);
      expect(reply.status).toBe(400);
      expect(textOf(reply, 'message')).toContain('userId');
    },
  );
});
