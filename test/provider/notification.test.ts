import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { BodyHeaders } from '../../src/provider/body.js';
import { readNotification, readQuery } from '../../src/provider/notification.js';
import { slowest } from '../support/hostile-text.js';

const id = `pay_${'0123456789abcdef'.repeat(2)}`;
const transaction = {
  transId: 'T1',
  status: 'SUCCESSFUL',
  amount: 500,
  payerName: 'Hervé Ngô',
  externalId: id,
  userId: id,
};
const json = JSON.stringify(transaction);
const named = { transId: 'T1', status: 'SUCCESSFUL', paymentId: id, externalId: id };

/** Little-endian. */
const utf32 = (text: string) =>
  Buffer.concat(
    [...text].map((character) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(character.codePointAt(0) ?? 0);
      return bytes;
    }),
  );

const read = async (body: string | Uint8Array, headers: BodyHeaders = {}) =>
  (await readNotification(typeof body === 'string' ? Buffer.from(body) : body, headers, 64 * 1024)).hints;

describe('a notification in any layout', () => {
  it.each<[string, unknown]>([
    ['alone', transaction],
    ['a list of one', [transaction]],
    ['in data', { event: 'payment', data: transaction }],
    ['in a transaction within a payload', { payload: { transaction } }],
    ['as a string of JSON', json],
    ['as a string of JSON in an object', { body: json }],
    ['with the names of its fields in capitals', { TransId: 'T1', Status: 'SUCCESSFUL', ExternalId: id }],
    ['with underscores in them', { trans_id: 'T1', status: 'SUCCESSFUL', external_id: id }],
    ['with its status in other letters and spaces', { ...transaction, status: ' Successful ' }],
    ['with what it is about around it', { externalId: id, data: { transId: 'T1', status: 'SUCCESSFUL' } }],
  ])('is read: %s', async (_, body) => {
    expect(await read(JSON.stringify(body))).toEqual([named]);
  });

  it.each<[string, object, object]>([
    ['no status', { ...transaction, status: undefined }, { ...named, status: undefined }],
    ['an unknown status', { ...transaction, status: 'PAID' }, { ...named, status: undefined }],
    ['a status that is null', { ...transaction, status: null }, { ...named, status: undefined }],
    ['a transId alone', { transId: 'T1' }, { transId: 'T1' }],
    ['a transId that is a number', { transId: 17 }, { transId: '17' }],
    ['a userId alone', { userId: `${id}_direct` }, { paymentId: id }],
    ['an externalId alone', { externalId: id }, { paymentId: id, externalId: id }],
    [
      "another system's externalId, and our userId",
      { transId: 'T1', externalId: 'order-17', userId: id },
      { transId: 'T1', externalId: 'order-17', paymentId: id },
    ],
    ['fields of other types', { ...transaction, amount: [], email: 7 }, named],
  ])('is read with %s', async (_, body, expected) => {
    expect(await read(JSON.stringify(body))).toEqual([expected]);
  });

  it('keeps every digit of a transId that is a large number', async () => {
    expect(await read('{"transId": 12345678901234567890}')).toEqual([{ transId: '12345678901234567890' }]);
  });

  it('may be about several transactions', async () => {
    const others = ['T1', 'T2', 'T3'].map((transId) => ({ transId, status: 'FAILED' }));
    expect(await read(JSON.stringify({ transactions: others }))).toEqual(others);
  });

  it('takes the last of two fields with one name', async () => {
    expect(await read('{"transId":"T0","transId":"T1"}')).toEqual([{ transId: 'T1' }]);
  });

  it('takes nothing from around a transaction for what another says', async () => {
    expect(await read('{"transId":"T1","status":"FAILED","service":{"status":"ACTIVE"}}')).toEqual([
      { transId: 'T1', status: 'FAILED' },
    ]);
  });
});

describe('a notification in any form', () => {
  const form = `transId=T1&status=SUCCESSFUL&externalId=${id}`;

  it.each<[string, string | Uint8Array, BodyHeaders]>([
    ['with another Content-Type', json, { contentType: 'text/html' }],
    ['behind a byte order mark', `\ufeff${json}`, {}],
    ['with names in Latin-1', Buffer.from(json, 'latin1'), {}],
    [
      'with names in a charset that is named',
      Buffer.from(json, 'latin1'),
      { contentType: 'text/json; charset="iso-8859-15"' },
    ],
    ['with a charset that nobody knows', json, { contentType: 'application/json; charset=klingon' }],
    ['in UTF-16', Buffer.from(json, 'utf16le'), {}],
    ['in UTF-16 behind its mark', Buffer.from(`\ufeff${json}`, 'utf16le'), {}],
    ['in UTF-32', utf32(json), {}],
    ['in UTF-32 behind its mark', utf32(`\ufeff${json}`), {}],
    ['in UTF-32 in the other order', utf32(json).swap32(), {}],
    ['in UTF-32 in the other order behind its mark', utf32(`\ufeff${json}`).swap32(), {}],
    ['in UTF-16 in the other order', Buffer.from(`\ufeff${json}`, 'utf16le').swap16(), {}],
    ['in gzip', gzipSync(json), { contentEncoding: 'gzip' }],
    ['in gzip by its old name', gzipSync(json), { contentEncoding: 'X-GZIP' }],
    ['in deflate', deflateSync(json), { contentEncoding: 'deflate' }],
    ['in bare deflate', deflateRawSync(json), { contentEncoding: 'deflate' }],
    ['in br', brotliCompressSync(json), { contentEncoding: 'br' }],
    ['in zstd', zstdCompressSync(json), { contentEncoding: 'zstd' }],
    ['in two codings', brotliCompressSync(gzipSync(json)), { contentEncoding: 'gzip, br' }],
    ['in no coding, though one is named', json, { contentEncoding: 'gzip' }],
    ['with a charset for its coding', json, { contentEncoding: 'utf-8' }],
    ['as a form', form, { contentType: 'application/x-www-form-urlencoded' }],
    ['as a form without its type', form, {}],
    ['as a form of JSON', `payload=${encodeURIComponent(json)}`, {}],
    ['as a form of nested fields', form.replace(/(\w+)=/g, 'data[$1]='), {}],
    [
      'as a form of parts',
      `${['transId', 'status', 'externalId']
        .map(
          (name, at) =>
            `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${['T1', 'SUCCESSFUL', id][at]}\r\n`,
        )
        .join('')}--x--\r\n`,
      { contentType: 'multipart/form-data; boundary=x' },
    ],
  ])('is read: %s', async (_, body, headers) => {
    expect(await read(body, headers)).toEqual([named]);
  });

  it.each([
    ['JSON that is cut off', json.slice(0, -20)],
    ['JSON with a comma too many', `{"transId":"T1","externalId":"${id}",}`],
    ['XML', `<t><externalId>${id}</externalId></t>`],
  ])('leads to the payment that it names: %s', async (_, body) => {
    expect(await read(body)).toEqual([{ paymentId: id }]);
  });

  it.each([
    ['XML', '<t><transId>T-1.x</transId></t>'],
    ['XML with attributes', "<t transId='T-1.x'/>"],
    ['XML with CDATA', '<t><ns:transId><![CDATA[T-1.x]]></ns:transId></t>'],
    ['JSON that is cut off', '{"transId": "T-1.x", "amou'],
    ['JavaScript', "{transId: 'T-1.x', status: 'FAILED'}"],
    ['YAML', 'trans_id: T-1.x\nstatus: FAILED\n'],
    ['words', 'transactionId = T-1.x\r\n'],
  ])('leads to the transaction that it names alone: %s', async (_, body) => {
    expect(await read(body)).toEqual([{ transId: 'T-1.x' }]);
  });

  it('does not take an id that is cut off for another', async () => {
    expect(await read('{"transId":"T-1')).toEqual([]);
  });

  it.each<[string, string, BodyHeaders]>([
    ['a form of lists', 'data[0][transId]=T1&data[0][status]=FAILED&data[1][transId]=T2', {}],
    ['a form whose fields come twice', 'transId=T1&status=FAILED&transId=T2', {}],
    ['XML', '<a><transId>T1</transId><status>FAILED</status></a><a><transId>T2</transId></a>', {}],
    ['lines of JSON', '{"transId":"T1","status":"FAILED"}\n{"transId":"T2"}\n', {}],
  ])('may be about two transactions: %s', async (_, body, headers) => {
    expect((await read(body, headers)).map(({ transId }) => transId)).toEqual(['T1', 'T2']);
  });

  it('may have its JSON in a file of a form', async () => {
    const part = 'Content-Disposition: form-data; name="payload"; filename="a.json"\r\nContent-Type: application/json';
    const body = `--boundary-1\r\n${part}\r\n\r\n${json}\r\n--boundary-1--\r\n`;
    expect(await read(body, { contentType: 'multipart/form-data; boundary=boundary-1' })).toEqual([named]);
  });

  it('may be in gzip, of which no header tells', async () => {
    expect(await read(gzipSync(json))).toEqual([named]);
  });

  it('may have NaN for a number', async () => {
    expect(await read(json.replace('500', 'NaN'))).toEqual([named]);
  });

  it.each([
    ['quotes', '\\"'.repeat(30_000)],
    ['names', 'transId="'.repeat(7_000)],
    ['ids', `transId:${'a'.repeat(60_000)}`],
    ['brackets', 'a[b]='.repeat(13_000)],
    ['fields that come again', 'a=&'.repeat(20_000)],
    ['a long name', `${'a'.repeat(60_000)}.b=1`],
  ])('is read in linear time: %s', async (_, body) => {
    expect(await slowest((text) => read(text), [`"NaN${body}`, body])).toBeUndefined();
  });

  it('may be in the address', () => {
    expect(readQuery(`/webhooks/provider/token?${form}`)).toEqual([named]);
  });
});

describe('what names neither a transaction nor a payment', () => {
  it.each([
    '',
    'nonsense',
    '[]',
    '{}',
    'null',
    '"T1"',
    '7',
    '{"transId":{}}',
    '{"transId":"."}',
    '{"transId":".."}',
    '{"transId":""}',
    '{"transId":"\\ud800"}',
    '{"transId":"T\\u0000"}',
    `{"transId":"${'x'.repeat(201)}"}`,
    '{"status":"SUCCESSFUL"}',
    '[['.repeat(20_000),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  ])('is none: %.40s', async (body) => {
    expect(await read(body)).toEqual([]);
  });

  it('is a body that unpacks to more than a notification may have', async () => {
    expect(await read(gzipSync(' '.repeat(1_000_000) + json), { contentEncoding: 'gzip' })).toEqual([]);
  });
});
