import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { clientOf, closeServers, serveSockets } from '../support/local-servers.js';

/*
 * What HTTP lets the provider do in an answer, on real sockets: each test is a row of docs/decisions/0051-answers-and-notifications.md.
 */

afterEach(closeServers);

const order = { amount: 500, phone: '670000001' };
const accepted = '{"message":"Payment initiated","transId":"T1","dateInitiated":"2026-03-01"}';
const refused = '{"message":"solde insuffisant pour Hervé"}';

const line = (status: string, headers: readonly string[] = []) => [status, ...headers, '', ''].join('\r\n');

/** An answer in one piece. */
function answer(status: string, body: string | Uint8Array, headers: readonly string[] = []): Buffer {
  const bytes = Buffer.from(body);
  const head = line(`HTTP/1.1 ${status}`, [...headers, `Content-Length: ${bytes.length}`]);
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}

/** Answers every request with these bytes, and closes the connection. */
async function payoutAnswered(bytes: string | Uint8Array, end = true) {
  const server = await serveSockets((socket) => {
    socket.once('data', () => (end ? socket.end(bytes) : socket.write(bytes)));
  });
  return await clientOf(server.url, { service: 'payout' }).payout(order);
}

const taken = { kind: 'accepted', transId: 'T1' };
const rejected = { kind: 'rejected', statusCode: 400, message: 'solde insuffisant pour Hervé' };

describe("an answer that is the provider's, in another form", () => {
  it.each<[string, string | Uint8Array, object]>([
    ['in gzip', answer('200 OK', gzipSync(accepted), ['Content-Encoding: gzip']), taken],
    ['in deflate', answer('200 OK', deflateSync(accepted), ['Content-Encoding: deflate']), taken],
    ['in bare deflate', answer('200 OK', deflateRawSync(accepted), ['Content-Encoding: deflate']), taken],
    ['in br', answer('200 OK', brotliCompressSync(accepted), ['Content-Encoding: br']), taken],
    ['in zstd', answer('200 OK', zstdCompressSync(accepted), ['Content-Encoding: zstd']), taken],
    ['in no coding, though one is named', answer('200 OK', accepted, ['Content-Encoding: gzip']), taken],
    ['a refusal in gzip', answer('400 Bad Request', gzipSync(refused), ['Content-Encoding: gzip']), rejected],
    ['a refusal in Latin-1', answer('400 Bad Request', Buffer.from(refused, 'latin1')), rejected],
    [
      'a refusal in a charset that is named',
      answer('400 Bad Request', Buffer.from(refused, 'latin1'), [
        'Content-Type: application/json; charset=iso-8859-15',
      ]),
      rejected,
    ],
    ['a refusal in UTF-16', answer('400 Bad Request', Buffer.from(`\ufeff${refused}`, 'utf16le')), rejected],
    ['a refusal behind a byte order mark', answer('400 Bad Request', `\ufeff${refused}`), rejected],
    ['without a length, to the end of the connection', `${line('HTTP/1.1 200 OK')}${accepted}`, taken],
    ['by HTTP/1.0', `${line('HTTP/1.0 200 OK')}${accepted}`, taken],
    ['without a reason', answer('200', accepted), taken],
    [
      'in chunks, with a trailer',
      `${line('HTTP/1.1 200 OK', ['Transfer-Encoding: chunked', 'Trailer: X-Sum'])}${accepted.length.toString(16)};a=b\r\n${accepted}\r\n0\r\nX-Sum: 1\r\n\r\n`,
      taken,
    ],
    ['after 100', `${line('HTTP/1.1 100 Continue')}${answer('200 OK', accepted)}`, taken],
    ['after 102', `${line('HTTP/1.1 102 Processing')}${answer('200 OK', accepted)}`, taken],
    [
      'after early hints',
      `${line('HTTP/1.1 103 Early Hints', ['Link: </a.css>; rel=preload'])}${answer('200 OK', accepted)}`,
      taken,
    ],
    ['with 40 kB of headers', answer('200 OK', accepted, [`Set-Cookie: ${'c'.repeat(40_000)}`]), taken],
  ])('is read: %s', async (_, bytes, outcome) => {
    expect(await payoutAnswered(bytes)).toEqual(outcome);
  });
});

describe('an answer that proves nothing', () => {
  it.each<[string, string | Uint8Array, boolean?]>([
    ['a refusal that is cut off', answer('400 Bad Request', refused).subarray(0, -4)],
    [
      'a refusal whose last chunk is missing',
      `${line('HTTP/1.1 400 Bad Request', ['Transfer-Encoding: chunked'])}${Buffer.byteLength(refused).toString(16)}\r\n${refused}\r\n`,
    ],
    [
      'a refusal with less than its length',
      `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 500'])}${refused}`,
    ],
    [
      'a refusal with two lengths',
      `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 44', 'Content-Length: 45'])}${refused}`,
    ],
    ['a refusal with a comma too many', answer('400 Bad Request', '{"message":"no",}')],
    [
      'a refusal that unpacks to too much',
      answer('400 Bad Request', gzipSync(' '.repeat(3_000_000) + refused), ['Content-Encoding: gzip']),
    ],
    ['more bytes than its length', `${answer('200 OK', accepted)}garbage`],
    ['only early hints', line('HTTP/1.1 103 Early Hints')],
    ['an upgrade', line('HTTP/1.1 101 Switching Protocols', ['Upgrade: h2c', 'Connection: Upgrade'])],
    ['HTTP/2, which was not spoken', Buffer.from('00001204000000000000030000008000', 'hex')],
    ['TLS, which was not spoken', Buffer.from('15030300020246', 'hex')],
    ['nothing', ''],
    ['200 with an error and no transaction', answer('200 OK', refused)],
    ['200 with a page', answer('200 OK', '<html>T1</html>')],
    ['204', line('HTTP/1.1 204 No Content')],
    ['205', line('HTTP/1.1 205 Reset Content', ['Content-Length: 0'])],
    ['304', line('HTTP/1.1 304 Not Modified')],
  ])('leaves it open whether a payout was taken: %s', async (_, bytes) => {
    expect(await payoutAnswered(bytes)).toMatchObject({ kind: 'ambiguous' });
  });
});

describe('a status in other words', () => {
  it.each([
    { transId: 'T1', status: 'successful', amount: '500' },
    { transId: 'T1', status: ' Successful ', amount: '500.00', transType: 'PAYOUT', medium: 'Mobile_Money' },
    { data: { transId: 'T1', status: 'SUCCESSFUL', amount: 500.0, externalId: '', userId: null } },
    [{ transId: 'T1', status: 'SUCCESSFUL', amount: 500, reason: null }],
  ])('is read: %j', async (body) => {
    const server = await serveSockets((socket) => {
      socket.once('data', () => socket.end(answer('200 OK', JSON.stringify(body))));
    });
    expect(await clientOf(server.url).paymentStatus('T1')).toMatchObject({
      kind: 'found',
      transaction: { transId: 'T1', status: 'SUCCESSFUL', amount: 500 },
    });
  });

  it.each([
    { transId: 'T1', status: 'REVERSED' },
    { transId: 'T1', status: 'SUCCESSFUL', amount: 'five hundred' },
    { transId: 'T1', status: 'SUCCESSFUL', amount: '500.50' },
    {
      data: [
        { transId: 'T1', status: 'FAILED' },
        { transId: 'T1', status: 'SUCCESSFUL' },
      ],
    },
  ])('is none: %j', async (body) => {
    const server = await serveSockets((socket) => {
      socket.once('data', () => socket.end(answer('200 OK', JSON.stringify(body))));
    });
    expect(await clientOf(server.url).paymentStatus('T1')).toMatchObject({ kind: 'unavailable' });
  });
});

describe('a list', () => {
  it.each<[string, Uint8Array]>([
    ['a part of one', answer('206 Partial Content', '[]', ['Content-Range: items 0-0/3'])],
    ['one in an object, which may be a page', answer('200 OK', '{"data":[]}')],
  ])('that is %s does not show that there is no transaction', async (_, bytes) => {
    const server = await serveSockets((socket) => void socket.once('data', () => socket.end(bytes)));
    expect(await clientOf(server.url).transactionsOf('col_1', false)).toMatchObject({ kind: 'unavailable' });
  });
});

describe('a connection', () => {
  /** Answers one request on each connection, and resets the connection when another comes: it had been about to close it. */
  async function closingServer(): Promise<{ url: string; bodies: string[]; close(): void }> {
    const bodies: string[] = [];
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      let answered = false;
      socket.on('data', (data) => {
        if (answered) return void socket.resetAndDestroy();
        answered = true;
        bodies.push(String(data));
        const body = String(data).startsWith('POST')
          ? accepted
          : '{"service":"s","balance":1,"currency":"XAF"}';
        socket.write(answer('200 OK', body, ['Connection: keep-alive']));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    return {
      url: `http://127.0.0.1:${port}`,
      bodies,
      close() {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  }

  it('that the provider closes just as it is used again carries no request that moves money', async () => {
    const server = await closingServer();
    try {
      const client = clientOf(server.url, { service: 'payout' });
      await client.balance();
      expect(await client.payout(order)).toEqual(taken);
      expect(await client.payout(order)).toEqual(taken);
      expect(server.bodies.filter((body) => body.startsWith('POST /payout'))).toHaveLength(2);
    } finally {
      server.close();
    }
  });
});
