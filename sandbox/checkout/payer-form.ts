import { z } from 'zod';
import { phoneMediumSchema } from '../../src/provider/schemas.js';
import type { AttemptRequest, AttemptResult } from '../attempt.js';
import { nineDigits } from '../phone-number.js';

/** What the payer typed, as typed: shown again beside an error. */
export interface FormValues {
  readonly phone: string;
  readonly medium: string;
  readonly email: string;
}

/** What is wrong with it, field by field; `form` is for what no field can put right. */
export interface FormErrors {
  readonly phone?: string;
  readonly medium?: string;
  readonly email?: string;
  readonly form?: string;
}

export const noValues: FormValues = { phone: '', medium: '', email: '' };
export const noErrors: FormErrors = {};

/** The longest e-mail address there can be; nothing else that a payer types is as long. */
export const LONGEST_ENTRY = 254;

const entrySchema = z.string().trim().max(LONGEST_ENTRY).catch('');
const valuesSchema = z
  .object({ phone: entrySchema, medium: entrySchema, email: entrySchema })
  .catch(noValues);
const actionSchema = z.object({ action: z.enum(['pay', 'decline']) });

type Reading =
  | { readonly kind: 'read'; readonly request: AttemptRequest; readonly values: FormValues }
  | { readonly kind: 'wrong'; readonly errors: FormErrors; readonly values: FormValues };

/** What people put between the digits of a number. */
const SEPARATORS = /[\s.()-]/g;

/**
 * Reads the payer's form from a request's body. Whether the number and the e-mail will do is the ledger's to say. A
 * medium left empty is to be told by the number.
 */
export const readPayerForm = (body: unknown): Reading => {
  const values = valuesSchema.parse(body);
  const choice = actionSchema.safeParse(body);
  if (!choice.success) return { kind: 'wrong', values, errors: { form: 'Choose to pay or to decline.' } };
  const { action } = choice.data;
  if (action === 'decline') return { kind: 'read', values, request: { action } };
  const medium = phoneMediumSchema.optional().safeParse(values.medium || undefined);
  if (!medium.success) return { kind: 'wrong', values, errors: { medium: 'Choose one of these.' } };
  const phone = values.phone.replace(SEPARATORS, '');
  return { kind: 'read', values, request: { action, phone, medium: medium.data, email: values.email } };
};

/**
 * Puts what the ledger found wrong into words for a payer, at the field that puts it right: a number whose operator
 * can't be told is put right by choosing the operator.
 */
export const explain = (
  { field }: Extract<AttemptResult, { kind: 'invalid' }>,
  { phone = '' }: AttemptRequest,
): FormErrors => {
  if (field === 'email') return { email: 'Enter an address like name@example.com, or leave this empty.' };
  if (phone === '') return { phone: 'Enter the mobile number to charge.' };
  if (nineDigits(phone) !== undefined) {
    return { medium: 'The number doesn’t say whose it is. Choose Mobile Money or Orange Money.' };
  }
  return { phone: 'This is not a mobile number of Cameroon. It has nine digits, the first of them a 6.' };
};
