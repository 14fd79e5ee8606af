import { describe, expect, it } from '@jest/globals';
import { examplePayment } from '../../src/schemas/payment.js';
import { expectDocumented, expectDocumentedWebhook } from '../support/documented.js';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': '1' };
const PROBLEM_TYPE = { ...JSON_TYPE, 'content-type': 'application/problem+json; charset=utf-8' };
const problem = (code: string, status: number) => ({
  type: `/docs/errors#${code}`,
  title: 'Title',
  status,
  detail: 'Detail.',
  code,
  requestId: '1',
});

function check(status: number, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  const received = { status, headers: new Headers(headers), text: JSON.stringify(body) };
  return () => expectDocumented('GET', '/v1/payments/col_1?wait=1', received);
}

describe('what tests check every response of the API against', () => {
  it('accepts what the document has', () => {
    expect(check(200, examplePayment)).not.toThrow();
    expect(check(404, problem('not_found', 404), PROBLEM_TYPE)).not.toThrow();
  });

  it.each<[string, () => void]>([
    ['a status', check(204, examplePayment)],
    ['a content type', check(200, examplePayment, { ...JSON_TYPE, 'content-type': 'text/html' })],
    ['a field', check(200, { ...examplePayment, colour: 'red' })],
    ['a field of a field', check(200, { ...examplePayment, review: { number: 1, since: 'x' } })],
    ['a value', check(200, { ...examplePayment, status: 'PAID' })],
    ['a problem that this call does not have', check(404, problem('no_such_notification', 404), PROBLEM_TYPE)],
    ['a missing header', check(200, examplePayment, { 'content-type': 'application/json' })],
  ])('refuses %s that it has not', (_, checked) => {
    expect(checked).toThrow('not in the OpenAPI document');
  });

  it('refuses an answer at an address that it has not', () => {
    const received = { status: 200, headers: new Headers(JSON_TYPE), text: '{}' };
    expect(() => expectDocumented('GET', '/v1/nothing', received)).toThrow('no such operation');
  });
});

describe('what tests check every notification to merchants against', () => {
  const event = { type: 'payment.succeeded', timestamp: '2026-01-01T00:00:00.000Z', data: examplePayment };
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,abc' };
  const checked = (body: object, sent: Record<string, string> = headers) => {
    const webhook = { text: JSON.stringify(body), headers: new Headers(sent) };
    return () => expectDocumentedWebhook(webhook);
  };

  it('accepts what the document has', () => {
    expect(checked(event)).not.toThrow();
    expect(checked({ ...event, merchant: 'shop' })).not.toThrow();
  });

  it.each<[string, () => void]>([
    ['a type', checked({ ...event, type: 'payment.paid' })],
    ['a field', checked({ ...event, attempt: 1 })],
    ['a field of the payment', checked({ ...event, data: { ...examplePayment, colour: 'red' } })],
    ['a value', checked({ ...event, timestamp: 'yesterday' })],
    ['no payment', checked({ ...event, data: undefined })],
    ['a missing header', checked(event, { 'webhook-timestamp': '1', 'webhook-signature': 'v1,abc' })],
  ])('refuses %s that it has not', (_, check) => {
    expect(check).toThrow('not in the OpenAPI document');
  });
});
