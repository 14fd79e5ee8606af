import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { Sanaga, verifyWebhook } from '../client/index.js';
import { nineDigits, readEmail } from '../src/provider/contact.js';
import { readRetryAfter } from '../src/provider/http.js';
import {
  interpretBalance,
  interpretExchange,
  interpretExpiry,
  interpretInitiation,
  interpretList,
  interpretStatus,
} from '../src/provider/interpret.js';
import { readNotification, readQuery } from '../src/provider/notification.js';
import { providerText } from '../src/provider/provider-text.js';
import {
  balanceSchema,
  errorSchema,
  initiationSchema,
  linkInitiationSchema,
  transactionSchema,
} from '../src/provider/schemas.js';
import { type Part, readConfig, settingNames } from '../src/settings/read-settings.js';
import { visible, visibleJson, visibleLines } from '../src/text/visible-text.js';
import { runsOf, slowest } from './support/hostile-text.js';

const RUNS = runsOf(64 * 1024);

/** Pieces that are enough for a setting, which comes from an operator. */
const MARKS_AND_ENDS = ['6', 'a', ' ', '/', ',', ':', '.', '-', 'a:', 'https://a', '\u0301\u0323'];

/** Every regular expression that stands in our source, once. */
const expressions = [
  ...new Map(
    globSync('{src,client,cli,sandbox,examples,stack}/**/*.ts').flatMap((file) => {
      const found: (readonly [string, { file: string; expression: RegExp }])[] = [];
      const look = (node: ts.Node): void => {
        if (ts.isRegularExpressionLiteral(node)) {
          const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
          found.push([node.text, { file, expression: new RegExp(source, flags) }]);
        }
        ts.forEachChild(node, look);
      };
      look(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
      return found;
    }),
  ).values(),
];

/** Returns plain text from an expression, which leads into the middle of it. */
function beginningsOf({ source }: RegExp): string[] {
  const plain = source.replace(/\\[a-zA-Z]|\[[^\]]*\]|\(\?[:=!<]*/g, ' ').replace(/\\(.)/g, '$1');
  const words = plain.match(/[\w"':;=@/.,#-]+/g) ?? [];
  return [...new Set(['', ...words, words.join('')])].slice(0, 2);
}

describe('a regular expression of ours', () => {
  it.each(expressions.map((one) => [`${one.expression}`, one.file, one.expression] as const))(
    'takes no longer the longer its text is, but for reading it: %s in %s',
    async (_, __, expression) => {
      const read = (text: string) => text.replace(expression, '');
      const beginnings = beginningsOf(expression);
      const pieces = beginnings.filter((beginning) => beginning !== '');
      const runs = [...runsOf(16 * 1024), ...runsOf(16 * 1024, pieces)];
      const texts = runs.flatMap((run) => beginnings.map((beginning) => beginning + run));
      expect(await slowest(read, texts)).toBeUndefined();
    },
  );
});

describe("64 kB of other people's text", () => {
  it.each<[string, (text: string) => unknown]>([
    ['a phone number', nineDigits],
    ['an e-mail address', readEmail],
    ['a mailbox', (text) => readEmail(`${text}@example.com`)],
    ['a Retry-After', (text) => readRetryAfter(text, undefined, 0)],
    ['a Date', (text) => readRetryAfter('Wed, 21 Oct 2026 07:28:00 GMT', text, 0)],
    [
      'the query of an address',
      (text) =>
        readQuery(`/webhooks/provider/token?transId=${encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))}`),
    ],
    ['what is shown', visible],
    ['lines that are shown', visibleLines],
    ['JSON that is shown', visibleJson],
    ["the provider's words", (text) => providerText(text)],
    [
      "the provider's words about somebody",
      (text) =>
        providerText(text, {
          name: 'Awa Éléonore Mballa Ngo Bassong',
          phone: '+237677123456',
          email: 'awa@example.com',
          credentials: ['collection-user', 'collection-key'],
        }),
    ],
  ])('is read in linear time as %s', async (_, read) => {
    expect(await slowest(read)).toBeUndefined();
  });

  it.each(['name', 'phone', 'email'] as const)("is read as the provider's words to an order's %s", async (field) => {
    const about = (text: string) => providerText(`refused: ${text}`, { [field]: text.slice(0, 200) });
    expect(await slowest(about)).toBeUndefined();
  });
});

describe('an answer of the provider with 64 kB in', () => {
  const transaction = { transId: 't1', status: 'PENDING', amount: 100, link: 'https://pay.example/t1' };
  const succeeded = (body: unknown) => ({ kind: 'succeeded', body }) as const;
  const readers: [string, object, (body: object) => unknown][] = [
    ['a link', linkInitiationSchema.shape, (body) => interpretInitiation(succeeded(body), linkInitiationSchema)],
    ['an initiation', initiationSchema.shape, (body) => interpretInitiation(succeeded(body), initiationSchema)],
    ['a status', transactionSchema.shape, (body) => interpretStatus(succeeded(body), 't1')],
    ['an expiry', transactionSchema.shape, (body) => interpretExpiry(succeeded(body), 't1')],
    ['a list', transactionSchema.shape, (body) => interpretList(succeeded([body]), 'col_1')],
    ['a balance', balanceSchema.shape, (body) => interpretBalance(succeeded(body))],
    [
      'a refusal',
      errorSchema.shape,
      (body) => interpretExchange({ kind: 'answered', statusCode: 400, body }, { name: 'Awa Mballa' }),
    ],
  ];
  it.each(readers.flatMap(([what, shape, read]) => Object.keys(shape).map((field) => ({ what, field, read }))))(
    '$field of $what is read in linear time',
    async ({ field, read }) => {
      const texts = [...RUNS, ...RUNS.map((run) => `https://${run}`), ...RUNS.map((run) => `1.0${run}`)];
      expect(await slowest((text) => read({ ...transaction, [field]: text }), texts)).toBeUndefined();
    },
  );
});

describe('a notification of the provider with 64 kB', () => {
  const read = (body: string, contentType = 'application/json', contentEncoding = '') =>
    readNotification(Buffer.from(body), { contentType, contentEncoding }, 64 * 1024);
  it.each<[string, (text: string) => Promise<unknown>]>([
    ['as its body', (text) => read(text)],
    ['as its type', (text) => read('{}', `application/json; charset=${text}`)],
    ['as its coding', (text) => read('{}', 'application/json', text)],
    ['as the field of a form', (text) => read(`transId=${text}`, 'application/x-www-form-urlencoded')],
    ['as the name of a field of a form', (text) => read(`${text}=1`, 'application/x-www-form-urlencoded')],
    [
      'as a part of a form',
      (text) => read(`--x\r\nContent-Disposition: form-data; name="${text}`, 'multipart/form-data; boundary=x'),
    ],
    ['as the boundary of a form', (text) => read(`--${text}`, `multipart/form-data; boundary=${text}`)],
    ['as a text within it', (text) => read(JSON.stringify({ data: text }))],
    ['as the name of a field', (text) => read(JSON.stringify({ [text]: 1 }))],
    ...['transId', 'status', 'externalId', 'userId']
      .map((field) => [`as its ${field}`, (text: string) => read(JSON.stringify({ [field]: text }))] as const)
      .map(([name, work]): [string, (text: string) => Promise<unknown>] => [name, work]),
  ])('%s is read in linear time', async (_, work) => {
    expect(await slowest(work, RUNS)).toBeUndefined();
  });

  it.each<[string, (share: number) => string]>([
    ['objects within each other', (share) => `${'{"data":'.repeat(8_000 * share)}1${'}'.repeat(8_000 * share)}`],
    ['lists within each other', (share) => `${'['.repeat(32_000 * share)}${']'.repeat(32_000 * share)}`],
    [
      'transactions',
      (share) => JSON.stringify(Array.from({ length: 3_000 * share }, (_, index) => ({ transId: `t${index}` }))),
    ],
    ['texts that are JSON', (share) => JSON.stringify(Array.from({ length: 8_000 * share }, () => '{}'))],
    ['ids', (share) => 'col_2775d55233b9d4be2a8db3491967ed92 '.repeat(1_700 * share)],
  ])('of %s is read in linear time', async (_, bodyOf) => {
    expect(
      await slowest(
        (body) => read(body),
        [bodyOf(1)],
        () => bodyOf(1 / 4),
      ),
    ).toBeUndefined();
  });
});

describe('the settings', () => {
  const parts: Part[] = ['api', 'worker', 'desk', 'codec', 'book'];
  it.each(parts.flatMap((part) => settingNames(part).map((name) => [part, name] as const)))(
    'of the %s are read in linear time, whatever 16 kB %s has',
    async (part, name) => {
      const read = (text: string) => {
        try {
          readConfig(part, { [name]: text });
        } catch {
          // Refused.
        }
      };
      expect(await slowest(read, runsOf(16 * 1024, MARKS_AND_ENDS))).toBeUndefined();
    },
  );
});

describe("the merchants' library", () => {
  const id = 'pay_2775d55233b9d4be2a8db3491967ed92';
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const signed = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  const clientOf = (answer: () => Response) =>
    new Sanaga({
      apiKey: 'sk_1',
      baseUrl: 'https://sanaga.example',
      maxRetries: 0,
      fetch: async () => answer(),
    });
  const quietly = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch {
      // Refused.
    }
  };

  it.each(Object.keys(signed))('verifies a webhook with 64 kB as its %s in linear time', async (name) => {
    const verify = (text: string) => quietly(() => verifyWebhook('{}', { ...signed, [name]: text }, secret));
    expect(await slowest(verify, RUNS)).toBeUndefined();
    const short = runsOf(900);
    expect(await slowest(verify, short)).toBeUndefined();
  });

  it.each<[string, (text: string) => Promise<unknown>]>([
    ['the body of a webhook', (text) => verifyWebhook(text, signed, secret)],
    ['a secret', (text) => verifyWebhook('{}', signed, text)],
    ['an API key', async (text) => new Sanaga({ apiKey: text, baseUrl: 'https://sanaga.example' })],
    ['an address', async (text) => new Sanaga({ apiKey: 'sk_1', baseUrl: `https://sanaga.example/${text}` })],
    ["a payment's id", async (text) => clientOf(() => Response.json({})).payments.retrieve(`pay_${text}`)],
    ['a day', async (text) => clientOf(() => Response.json({})).statements.retrieve(text)],
    [
      'a problem',
      async (text) =>
        clientOf(() => Response.json({ code: text, detail: text }, { status: 400 })).payments.retrieve(id),
    ],
    ['an answer', async (text) => clientOf(() => new Response(text)).payments.retrieve(id)],
    [
      'a Retry-After',
      async (text) =>
        clientOf(() => new Response('', { status: 503, headers: { 'retry-after': text } })).payments.retrieve(id),
    ],
  ])('reads 64 kB as %s in linear time', async (_, read) => {
    expect(await slowest((text) => quietly(() => read(text)), RUNS)).toBeUndefined();
  });
});

describe('the measure', () => {
  const spaces = [`${' '.repeat(64 * 1024)}\u0000`];

  it('finds an expression that goes back from each character', async () => {
    expect(await slowest((text) => text.replace(/\s+$/, ''), spaces)).toBeDefined();
  });

  it('finds no work that is as much for each character', async () => {
    const slow = (text: string) => {
      for (let round = 0; round < 500; round += 1) text.replace(/\s/g, '');
    };
    expect(await slowest(slow, [' a'.repeat(2 * 1024)])).toBeUndefined();
  });
});
