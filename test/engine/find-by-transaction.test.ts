import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { RecordsUnavailable } from '../../src/engine/errors.js';
import { findByTransId, findForHint } from '../../src/engine/find-by-transaction.js';
import { RecordsUnavailableError } from '../../src/records/database.js';
import type { Records } from '../../src/records/records.js';

describe('a transaction', () => {
  const holders = ({ indexed = [], recorded }: { indexed?: string[]; recorded: string[] | 'away' }) => {
    const client = {
      withDeadline: (_: unknown, call: () => unknown) => call(),
      workflow: { list: () => indexed.map((workflowId) => ({ workflowId })) },
    };
    const records = {
      async list() {
        if (recorded === 'away') throw new RecordsUnavailableError('away');
        return recorded.map((id) => ({ id }));
      },
    };
    return { client: client as unknown as Client, records: records as unknown as Records };
  };

  it("is looked for in both, and can't be while the records are away", async () => {
    const both = holders({ indexed: ['col_1'], recorded: ['col_1', 'col_2'] });
    expect(await findByTransId(both, 'T1')).toEqual(['col_1', 'col_2']);
    const away = holders({ indexed: ['col_1'], recorded: 'away' });
    await expect(findByTransId(away, 'T1')).rejects.toBeInstanceOf(RecordsUnavailable);
  });

  it('is looked for in the records for a hint only when Temporal has none', async () => {
    expect(await findForHint(holders({ indexed: ['col_1'], recorded: 'away' }), 'T1')).toEqual(['col_1']);
    expect(await findForHint(holders({ recorded: ['col_2'] }), 'T1')).toEqual(['col_2']);
    const unknown = findForHint(holders({ recorded: 'away' }), 'T1');
    await expect(unknown).rejects.toBeInstanceOf(RecordsUnavailable);
  });

  it('is looked for in whatever form the provider has given it', async () => {
    for (const transId of ['TX#17', '" OR "']) {
      const both = holders({ indexed: ['col_1'], recorded: ['col_2'] });
      expect(await findByTransId(both, transId)).toEqual(['col_2', 'col_1']);
      expect(await findForHint(both, transId)).toEqual(['col_1']);
    }
  });
});
