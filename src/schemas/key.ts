import { z } from 'zod';
import { SCOPES } from '../settings/merchants.js';
import { described } from './fields.js';

export const keySchema = z
  .object({
    object: z.literal('key'),
    name: described(z.string(), "The key's owner: a merchant or an operator"),
    person: described(z.string(), 'Who uses it: what is done with the key is done by this person'),
    scopes: described(z.array(z.enum(SCOPES)), 'The calls that it allows'),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret' });
