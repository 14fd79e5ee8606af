/**
 * Parts that differ from one call to the next: ids, times, addresses. Everything else in an example must be the API's
 * real answer.
 */
const VARYING: readonly [pattern: RegExp, kind: string][] = [
  [/^col_[0-9a-f]{32}$/, 'id of a collection'],
  [/^pay_[0-9a-f]{32}$/, 'id of a payout'],
  [/^(evt_(?:col|pay)_)[0-9a-f]{32}(_\w+)$/, 'id of a notification: $1…$2'],
  [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'UUID'],
  [/^[0-9a-f]{64}$/, 'digest'],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'time'],
  [/^http:\/\/127\.0\.0\.1:\d+\/pay\/\w{32}$/, 'link'],
  [/^[A-Za-z0-9]{16}$/, 'transaction'],
  [/^\d{10}$/, 'reference'],
];

/** Fields whose numbers and names depend on the installation. */
const OF_THE_INSTALLATION = new Set(['balance', 'merchant']);

/**
 * Fields that only operators see. The key of `npm start` is an operator's as well, and the guides are for merchants.
 */
const FOR_OPERATORS = new Set(['merchant', 'temporalUrl']);

/** A value with what varies in it replaced by what it is. */
export function likenessOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(likenessOf);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        OF_THE_INSTALLATION.has(name) ? `any ${typeof field}` : likenessOf(field),
      ]),
    );
  }
  if (typeof value !== 'string') return value;
  const [pattern, kind] = VARYING.find(([one]) => one.test(value)) ?? [];
  return pattern === undefined || kind === undefined ? value : value.replace(pattern, `<${kind}>`);
}

/** An answer without what the example leaves out because only operators see it. */
export function asMerchantsSee(answer: unknown, example: unknown): unknown {
  if (!isObject(answer) || !isObject(example)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => name in example || !FOR_OPERATORS.has(name)));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
