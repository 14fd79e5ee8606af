import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { RETENTION_DAYS } from '../../src/temporal/namespace.js';
import { paymentSearchAttributes } from '../../src/temporal/search-attributes.js';

const script = await readFile(new URL('../../deploy/temporal-setup.sh', import.meta.url), 'utf8');

describe('deploy/temporal-setup.sh', () => {
  it('creates the search attributes that payments carry, with their types', () => {
    const [, list = ''] = /<<'ATTRIBUTES'\n([\s\S]*?)\nATTRIBUTES/.exec(script) ?? [];
    const types = { BOOL: 'Bool', KEYWORD: 'Keyword', INT: 'Int' } as const;
    const needed = Object.values(paymentSearchAttributes).map(({ name, type }) => `${name} ${types[type]}`);
    expect(list.split('\n').sort()).toEqual(needed.sort());
  });

  it('keeps ended payments as long as an embedded server does', () => {
    expect(script).toContain(`\nretention_days=${RETENTION_DAYS}\n`);
  });
});
