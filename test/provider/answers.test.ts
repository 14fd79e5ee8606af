import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { clientOf, closeServers, serveSockets } from '../support/local-servers.js';
import { expired, selfSigned } from '../support/self-signed.js';

/*
 * What HTTP lets the provider do in an answer, on real sockets, and what each answer proves:
 * docs/decisions/0051-answers-and-notifications.md.
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

const size = accepted.length.toString(16);
const gzipped = gzipSync(accepted);
/** An answer of chunks, given with their sizes and line ends. */
const chunked = (chunks: string, headers: readonly string[] = [], status = '200 OK') =>
  `${line(`HTTP/1.1 ${status}`, ['Transfer-Encoding: chunked', ...headers])}${chunks}`;

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
    [
      'after 100, 102 and 103 together',
      `${[100, 102, 103].map((status) => line(`HTTP/1.1 ${status}`)).join('')}${answer('200 OK', accepted)}`,
      taken,
    ],
    ['with lines that end in LF alone', String(answer('200 OK', accepted)).replaceAll('\r\n', '\n'), taken],
    ['with a folded header', answer('200 OK', accepted, ['X-Note: one', ' two']), taken],
    ['by HTTP/1.2', answer('200 OK', accepted).toString().replace('1.1', '1.2'), taken],
    ['behind empty lines, and before one', `\r\n\r\n${answer('200 OK', accepted)}\r\n`, taken],
    ['in chunks, with spaces around their sizes', chunked(`${size}  \r\n${accepted}\r\n0\r\n\r\n`), taken],
    ['in many chunks', chunked(`${[...accepted].map((one) => `1\r\n${one}\r\n`).join('')}0\r\n\r\n`), taken],
    ['in gzip, which no header names', answer('200 OK', gzipSync(accepted)), taken],
    [
      'in gzip within chunks, as a transfer coding',
      Buffer.concat([
        Buffer.from(
          `${line('HTTP/1.1 200 OK', ['Transfer-Encoding: gzip, chunked'])}${gzipped.length.toString(16)}\r\n`,
        ),
        gzipped,
        Buffer.from('\r\n0\r\n\r\n'),
      ]),
      taken,
    ],
    ["in a coding that nobody knows, and isn't", answer('200 OK', accepted, ['Content-Encoding: aws-chunked']), taken],
    ['with 201', answer('201 Created', accepted), taken],
    ['with 202', answer('202 Accepted', accepted), taken],
    ['with 203', answer('203 Non-Authoritative Information', accepted), taken],
    ['with NaN', answer('200 OK', '{"transId":"T1","fee":NaN,"message":"NaN \\"-Infinity\\""}'), taken],
    [
      'with an id that is a number',
      answer('200 OK', '{"transId":12345678901234567890}'),
      { ...taken, transId: '12345678901234567890' },
    ],
    ['with a key twice, the last of which counts', answer('200 OK', '{"transId":"T0","transId":"T1"}'), taken],
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
    ['a refusal with less than its length', `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 500'])}${refused}`],
    [
      'a refusal with two lengths',
      `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 44', 'Content-Length: 45'])}${refused}`,
    ],
    [
      'a refusal with the same length twice',
      `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 44', 'Content-Length: 44'])}${refused}`,
    ],
    ['a refusal with a length that is none', `${line('HTTP/1.1 400 Bad Request', ['Content-Length: -1'])}${refused}`],
    [
      'a refusal that is longer than its length',
      `${line('HTTP/1.1 400 Bad Request', ['Content-Length: 20'])}${refused}`,
    ],
    [
      'a refusal in a chunk that is longer than its size',
      chunked(`8\r\n${refused}\r\n0\r\n\r\n`, [], '400 Bad Request'),
    ],
    [
      'a refusal in a chunk that is shorter than its size',
      chunked(`ff\r\n${refused}\r\n0\r\n\r\n`, [], '400 Bad Request'),
    ],
    ['a refusal in a chunk without a size', chunked(`xx\r\n${refused}\r\n0\r\n\r\n`, [], '400 Bad Request')],
    [
      'a refusal without its last empty line',
      chunked(`${Buffer.byteLength(refused).toString(16)}\r\n${refused}\r\n0\r\n`, [], '400 Bad Request'),
    ],
    [
      'a refusal in gzip that is cut off',
      answer('400 Bad Request', gzipSync(refused).subarray(0, -9), ['Content-Encoding: gzip']),
    ],
    [
      'a refusal in a coding that nobody knows',
      answer(
        '400 Bad Request',
        Buffer.from(refused).map((byte) => byte ^ 7),
        ['Content-Encoding: compress'],
      ),
    ],
    ['a refusal that names a transaction', answer('400 Bad Request', '{"message":"a duplicate","transId":"T1"}')],
    [
      'credentials that are refused, and a transaction',
      answer('403 Forbidden', '{"message":"no","data":{"transId":"T1"}}'),
    ],
    ['a request to slow down, and a transaction', answer('429 Too Many Requests', '{"message":"slow","transId":"T1"}')],
    ['a part that names a transaction', answer('206 Partial Content', accepted, ['Content-Range: bytes 0-70/71'])],
    ...[300, 301, 302, 303, 305, 307, 308].map((status): [string, Buffer] => [
      `a redirect by ${status}`,
      answer(`${status} Elsewhere`, refused, ['Location: http://127.0.0.1:1/payout']),
    ]),
    [
      'a refusal with a length beside chunks',
      chunked(
        `${Buffer.byteLength(refused).toString(16)}\r\n${refused}\r\n0\r\n\r\n`,
        ['Content-Length: 7'],
        '400 Bad Request',
      ),
    ],
    ['a refusal with a space before a colon', answer('400 Bad Request', refused, ['X-Note : one'])],
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
    ['200 with nothing', answer('200 OK', '')],
    ['200 with an id that is NaN', answer('200 OK', '{"transId":NaN}')],
    ['202 with nothing', answer('202 Accepted', '')],
    ['207', answer('207 Multi-Status', '<multistatus/>')],
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
  /**
   * Answers one request on each connection, and resets the connection when another comes: it had been about to close
   * it.
   */
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
        const body = String(data).startsWith('POST') ? accepted : '{"service":"s","balance":1,"currency":"XAF"}';
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

  it('on which an answer comes twice gives none of it to a request or a list that comes next', async () => {
    const balance = '{"service":"s","balance":1,"currency":"XAF"}';
    const list = '[{"transId":"T9","status":"CREATED"}]';
    const server = await serveSockets((socket) => {
      socket.on('data', (data) => {
        socket.write(answer('200 OK', String(data).startsWith('GET /balance') ? balance : list));
        // Now and in the next moments, one of which is the next request's.
        for (const moment of [0, 1, 2, 5]) setTimeout(() => socket.write(answer('200 OK', '[]')), moment);
      });
    });
    const client = clientOf(server.url);
    for (let count = 0; count < 20; count++) {
      await client.balance();
      expect(await client.transactionsOf('col_1', false)).toMatchObject({
        transactions: [{ transId: 'T9' }],
      });
    }
  });

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

describe('over TLS, a payout', () => {
  const known = getCACertificates();
  beforeAll(() => setDefaultCACertificates([...known, selfSigned.cert, expired]));
  afterAll(() => setDefaultCACertificates(known));

  const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

  /** Pays out over TLS to a server that is given each connection as it speaks TLS, and as it is. */
  async function payoutOver(onSocket: (socket: TLSSocket, raw: Socket) => void, options: object, name = '127.0.0.1') {
    let received = '';
    const server = await serveSockets((raw) => {
      const socket = new TLSSocket(raw, { isServer: true, ...selfSigned, ...options });
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          received += data;
        });
      onSocket(socket, raw);
    });
    const url = server.url.replace('http://127.0.0.1', `https://${name}`);
    const outcome = await clientOf(url, { service: 'payout', timeoutMs: 10_000 }).payout(order);
    return { outcome, received };
  }

  /** Answers, and ends the connection without the alert that says so. */
  const answering = (bytes: string | Uint8Array) => (socket: TLSSocket, raw: Socket) =>
    void socket.once('data', () => socket.write(bytes, () => raw.end()));

  describe.each(VERSIONS)('(%s)', (version) => {
    const only = { minVersion: version, maxVersion: version };

    it.each<[string, object, string]>([
      ['a certificate that has expired', { ...only, cert: expired }, '127.0.0.1'],
      ['a certificate of another name', only, '127.0.0.2'],
    ])('was not sent to %s', async (_, options, name) => {
      const { outcome, received } = await payoutOver(() => undefined, options, name);
      expect(outcome).toMatchObject({ kind: 'notSent' });
      expect(received).toBe('');
    });

    it('was not sent when the handshake is cut off', async () => {
      const server = await serveSockets((raw) => void raw.once('data', () => raw.destroy()));
      const url = server.url.replace('http:', 'https:');
      expect(await clientOf(url, { service: 'payout' }).payout(order)).toMatchObject({ kind: 'notSent' });
    });

    it.each<[string, string | Uint8Array]>([
      ['of a length', answer('200 OK', accepted)],
      ['to the end of the connection', `${line('HTTP/1.1 200 OK')}${accepted}`],
    ])('was taken by an answer %s that ends without a word', async (_, bytes) => {
      expect((await payoutOver(answering(bytes), only)).outcome).toEqual(taken);
    });

    it.each<[string, (socket: TLSSocket, raw: Socket) => void]>([
      ['a refusal of a length that is cut off', answering(answer('400 Bad Request', refused).subarray(0, -4))],
      ['a refusal that is cut off', answering(`${line('HTTP/1.1 400 Bad Request')}${refused.slice(0, -4)}`)],
      ['an end without an answer', (socket, raw) => void socket.once('data', () => raw.end())],
      ['an end that is announced', (socket) => void socket.once('data', () => socket.end())],
      ['a reset', (socket, raw) => void socket.once('data', () => raw.resetAndDestroy())],
    ])('may have been taken, with %s', async (_, onSocket) => {
      expect((await payoutOver(onSocket, only)).outcome).toMatchObject({ kind: 'ambiguous' });
    });
  });

  it.each([
    ['TLSv1.2', 'notSent'],
    ['TLSv1.3', 'ambiguous'],
  ])('to a server that demands a certificate of ours is %s: %s', async (version, kind) => {
    // By TLS 1.3, the request may be on its way before the server says so.
    const options = { minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: true };
    expect((await payoutOver(() => undefined, options)).outcome).toMatchObject({ kind });
  });
});
