import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { examplePayment } from '../../src/schemas/payment.js';
import { atCheckout } from '../../stack/demo/payer.js';
import { machine, runToEnd } from '../support/built.js';
import { bringUp, type RunningStack } from '../support/running-stack.js';

/** A merchant's program with the generated client. */
const PROGRAM = `
import json, os, sys
from sanaga_client import AuthenticatedClient
from sanaga_client.api.collections import create_collection
from sanaga_client.api.payments import get_payment
from sanaga_client.models import LinkCollectionRequest, Payment, Problem

client = AuthenticatedClient(base_url=os.environ["API"], token=os.environ["KEY"])
if sys.argv[1] == "create":
    order = LinkCollectionRequest(method="link", amount=int(sys.argv[2]), external_id="order-1")
    answer = create_collection.sync(client=client, body=order, idempotency_key="order-1-" + sys.argv[2])
else:
    answer = get_payment.sync(id=sys.argv[2], client=client, wait=20)
assert isinstance(answer, (Payment, Problem)), answer
print(json.dumps(answer.to_dict()))
`;

describe('a client that openapi-python-client generates from docs/openapi.json', () => {
  let running: RunningStack;
  let folder: string;
  let python: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sanaga-client-'));
    const generated = await runToEnd('scripts/generate-client.js', [join(folder, 'sanaga_client')], machine());
    expect(generated).toMatchObject({ code: 0, stderr: '' });
    python = generated.stdout.trim();
    await writeFile(join(folder, 'shop.py'), PROGRAM);
    running = await bringUp();
  });

  afterAll(async () => {
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function shop(...args: readonly string[]) {
    const env = { ...machine(), API: running.stack.apiUrl, KEY: running.secrets.apiKey };
    const { stdout } = await promisify(execFile)(python, ['shop.py', ...args], { cwd: folder, env });
    return JSON.parse(stdout);
  }

  it('collects a payment by link, and reads its outcome', async () => {
    const created = await shop('create', '5000');
    expect(created).toMatchObject({ kind: 'collection', status: 'CREATED', externalId: 'order-1' });
    await atCheckout(created.link, { action: 'pay', phone: '677123000' });
    expect(await shop('get', created.id)).toMatchObject({ status: 'SUCCESSFUL', final: true });
    expect(await running.transactionsOf(created.id)).toHaveLength(1);
  });

  it('reads words and fields that a later version has added', async () => {
    const added = {
      status: 'REVERSED',
      failureCode: 'refunded_elsewhere',
      medium: 'bank transfer',
      colour: 'red',
    };
    const later = { ...examplePayment, ...added };
    const program =
      'import json, sys; from sanaga_client.models import Payment; print(json.dumps(Payment.from_dict(json.loads(sys.argv[1])).to_dict()))';
    const { stdout } = await promisify(execFile)(python, ['-c', program, JSON.stringify(later)], {
      cwd: folder,
    });
    expect(JSON.parse(stdout)).toMatchObject(added);
  });

  it('reads a problem', async () => {
    expect(await shop('create', '1')).toMatchObject({
      code: 'invalid_request',
      errors: [{ field: 'amount', message: 'must be at least 100 XAF' }],
    });
  });
});
