import { describe, expect, it } from '@jest/globals';
import { type WelcomeFacts, welcome } from '../../../stack/start/run-start.js';

const facts: WelcomeFacts = {
  apiUrl: 'http://127.0.0.1:3000',
  sandboxUrl: 'http://127.0.0.1:4000',
  deskUrl: 'http://127.0.0.1:3001/desk',
  temporal: {
    kind: 'embedded',
    target: { address: '127.0.0.1:7233', namespace: 'default' },
    uiUrl: 'http://127.0.0.1:8233',
  },
  apiKey: 'sk_generated',
  approverKey: 'sk_approving',
  keyNames: ['merchant'],
  notifications: { kind: 'listen', port: 4242 },
  bookUrl: 'postgres://sanaga:its-password@127.0.0.1:5544/book',
  processes: ['sandbox 1', 'worker 2', 'api 3'],
  folder: '.sanaga',
};

describe('what start prints', () => {
  it('names every address', () => {
    for (const address of [
      '127.0.0.1:3000',
      '127.0.0.1:3000/docs',
      '127.0.0.1:3001/desk',
      '127.0.0.1:4000',
      '127.0.0.1:7233',
      '127.0.0.1:8233',
    ]) {
      expect(welcome(facts)).toContain(address);
    }
  });

  it('says with what the Web UI reads payments, and that a Web UI of its own needs it', () => {
    const codecUrl = 'http://127.0.0.1:8234';
    expect(welcome({ ...facts, codecUrl })).toContain(
      '  Codec server     http://127.0.0.1:8234, with which the Web UI reads payments\n',
    );
    const external = welcome({ ...facts, codecUrl, temporal: { ...facts.temporal, kind: 'external' } });
    expect(external).toContain('http://127.0.0.1:8234, which your Web UI needs to read payments\n');
    expect(welcome(facts)).not.toContain('Codec server');
  });

  it('shows a first call that works as it stands', () => {
    expect(welcome(facts)).toContain(`  curl -s http://127.0.0.1:3000/v1/collections \\
    -H 'Authorization: Bearer sk_generated' -H 'Idempotency-Key: order-1001' \\
    -H 'Content-Type: application/json' \\
    -d '{"method": "link", "amount": 5000, "externalId": "order-1001"}'`);
  });

  it("shows the approver's key beside the first", () => {
    const keys =
      / {2}API key {10}sk_generated\n {2}Approver's key {3}sk_approving {3}\(of another person, who approves payouts\)\n/;
    expect(welcome(facts)).toMatch(keys);
  });

  it('says how to see the webhooks arrive, and where their secret is', () => {
    const text = welcome(facts);
    expect(text).toContain('\n  npx sanaga listen\n');
    expect(text).toMatch(/Webhooks .*http:\/\/127\.0\.0\.1:4242\/.*\.sanaga\/webhook-secret/);
  });

  it.each([
    [{ kind: 'url', origin: 'https://shop.example' }, /Webhooks +https:\/\/shop\.example, from your settings/],
    [{ kind: 'merchantsFile' }, /Webhooks +from your settings \(MERCHANTS_FILE\)/],
    [{ kind: 'none' }, /Webhooks +none: your settings name no address/],
  ] as const)('says what holds instead when the notifications go to %j', (notifications, line) => {
    const text = welcome({ ...facts, notifications });
    expect(text).toMatch(line);
    expect(text).not.toContain('npx sanaga listen');
  });

  it('names the shop and its password first, and where its webhooks arrive', () => {
    const shop = { url: 'http://127.0.0.1:8080', ownerPassword: 'opensesame' };
    const text = welcome({ ...facts, notifications: { kind: 'shop', port: 8080 }, shop });
    expect(text).toMatch(/The shop +http:\/\/127\.0\.0\.1:8080 .*\n.*8080\/admin .*password: opensesame/);
    expect(text).toMatch(/Webhooks +http:\/\/127\.0\.0\.1:8080\/webhooks\/sanaga, where the shop/);
    expect(text).not.toContain('npx sanaga listen');
    expect(welcome(facts)).not.toContain('shop');
  });

  it("does not show keys of the operator's own", () => {
    const text = welcome({ ...facts, apiKey: undefined, approverKey: undefined, keyNames: ['shop', 'desk'] });
    expect(text).toContain('from your settings (shop, desk)');
    expect(text).not.toContain('Approver');
    expect(text).toContain('Bearer <key>');
  });

  it('says that a restart keeps payments, the key and what the sandbox knows', () => {
    expect(welcome(facts)).toContain(
      'A restart loses nothing: payments, the key and all that the sandbox knows are kept in .sanaga/.',
    );
    const external = welcome({ ...facts, temporal: { ...facts.temporal, kind: 'external' } });
    expect(external).toContain('the key and all that the sandbox knows are kept in .sanaga/');
    expect(external).toMatch(/payments in your\sTemporal server/);
  });
});
