/** Fields of the API whose option isn't named after them, or that are arguments. */
const OTHERWISE: Readonly<Record<string, string>> = {
  amount: '<amount>',
  'created[gte]': '--since',
  'created[lt]': '--until',
  date: '<day>',
  review: '--number',
};

const NAMED_ALIKE: ReadonlySet<string> = new Set([
  ...['phone', 'medium', 'name', 'email', 'externalId', 'userId', 'message', 'redirectUrl', 'expiresIn'],
  ...['status', 'kind', 'transId', 'financialTransId', 'merchant', 'final', 'limit', 'since'],
  ...['why', 'force', 'version', 'reason', 'approval', 'sendAt', 'held'],
]);

/**
 * Names the option for a field of the API.
 *
 * @example optionOf('externalId') // '--external-id'
 */
export function optionOf(field: string): string {
  const [name = '', ...path] = field.split('.');
  if (name === 'metadata') return ['--metadata', ...path].join(' ');
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return OTHERWISE[field] ?? (NAMED_ALIKE.has(name) ? option : field);
}
