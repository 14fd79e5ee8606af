import { z } from 'zod';
import { phoneMediumSchema } from '../../src/provider/schemas.js';
import type { AttemptRequest, InvalidAttempt } from '../ledger.js';
import { nineDigits } from '../phone-number.js';
import { TEST_NUMBERS } from '../test-outcome.js';
import { type Html, html } from './html.js';
import { page } from './pages.js';
import { type CheckoutSummary, expiryText, factList, formatAmount, formatTimeLeft } from './summary.js';

/** What the payer entered, shown again beside an error. */
export interface FormValues {
  readonly phone: string;
  readonly medium: string;
  readonly email: string;
}

/** What is wrong, by field; `form` is for errors of no field. */
export interface FormErrors {
  readonly phone?: string;
  readonly medium?: string;
  readonly email?: string;
  readonly form?: string;
}

export const noValues: FormValues = { phone: '', medium: '', email: '' };
export const noErrors: FormErrors = {};

/** The maximum length of an e-mail address; no other field needs as much. */
const MAX_FIELD_LENGTH = 254;

const fieldSchema = z.string().trim().max(MAX_FIELD_LENGTH).catch('');
const valuesSchema = z
  .object({ phone: fieldSchema, medium: fieldSchema, email: fieldSchema })
  .catch(noValues);
const actionSchema = z.object({ action: z.enum(['pay', 'decline']) });

type Reading =
  | { readonly kind: 'read'; readonly request: AttemptRequest; readonly values: FormValues }
  | { readonly kind: 'wrong'; readonly errors: FormErrors; readonly values: FormValues };

/** What people type between the digits of a number. */
const SEPARATORS = /[\s.()-]/g;

/** Reads the payer's form. The ledger validates the number and the e-mail; an empty medium is detected by the number. */
export const readPayerForm = (body: unknown): Reading => {
  const values = valuesSchema.parse(body);
  const choice = actionSchema.safeParse(body);
  if (!choice.success) return { kind: 'wrong', values, errors: { form: 'Choose to pay or to decline.' } };
  const { action } = choice.data;
  if (action === 'decline') return { kind: 'read', values, request: { action } };
  const medium = phoneMediumSchema.optional().safeParse(values.medium || undefined);
  if (!medium.success) return { kind: 'wrong', values, errors: { medium: 'Choose one of these options.' } };
  const phone = values.phone.replace(SEPARATORS, '');
  return { kind: 'read', values, request: { action, phone, medium: medium.data, email: values.email } };
};

/** Explains an invalid attempt at the field to correct: a number of no known operator needs a medium. */
export const explain = ({ field }: InvalidAttempt, { phone = '' }: AttemptRequest): FormErrors => {
  if (field === 'email')
    return { email: 'Enter an address like name@example.com, or leave this field empty.' };
  if (phone === '') return { phone: 'Enter the mobile number to charge.' };
  if (nineDigits(phone) !== undefined) {
    return { medium: 'The operator of this number is unknown. Choose Mobile Money or Orange Money.' };
  }
  return { phone: 'This is not a Cameroonian mobile number. Enter nine digits, starting with 6.' };
};

interface PaymentFormOptions {
  readonly summary: CheckoutSummary;
  /** How long the link can still be paid. */
  readonly timeLeftMs: number;
  /** Whether to ask for an e-mail address, because the merchant gave none. */
  readonly asksEmail: boolean;
  /** Who declined the last attempt, if one failed. */
  readonly declinedBy?: 'payer' | 'operator' | undefined;
  readonly values: FormValues;
  readonly errors: FormErrors;
}

const mediums = [
  { value: '', label: 'Detect from my number' },
  { value: 'mobile money', label: 'Mobile Money' },
  { value: 'orange money', label: 'Orange Money' },
] as const;

const fieldError = (name: string, error: string | undefined): Html | undefined =>
  error === undefined ? undefined : html`<p class="error" id="${name}-error">${error}</p>`;

/** Links a field to its hint and error, which screen readers read with it. */
const describedBy = (name: string, error: string | undefined): Html =>
  error === undefined
    ? html`aria-describedby="${name}-hint"`
    : html`aria-describedby="${name}-error ${name}-hint" aria-invalid="true"`;

const phoneField = (value: string, error: string | undefined): Html => html`
  <div class="field">
    <label for="phone">Mobile number to charge</label>
    ${fieldError('phone', error)}
    <input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="tel" maxlength="40" required
      value="${value}" ${describedBy('phone', error)} ${error !== undefined && html`autofocus`}>
    <p class="hint" id="phone-hint">For example 670&nbsp;00&nbsp;00&nbsp;00</p>
  </div>`;

const mediumField = (value: string, error: string | undefined): Html => html`
  <fieldset ${error !== undefined && html`aria-describedby="medium-error"`}>
    <legend>Pay with</legend>
    ${fieldError('medium', error)}
    ${mediums.map(
      (medium) => html`
      <label class="choice">
        <input type="radio" name="medium" value="${medium.value}" ${medium.value === value && html`checked`}
          ${medium.value === value && error !== undefined && html`autofocus`}>
        ${medium.label}
      </label>`,
    )}
  </fieldset>`;

const emailField = (value: string, error: string | undefined): Html => html`
  <div class="field">
    <label for="email">E-mail for the receipt <span class="hint">(optional)</span></label>
    ${fieldError('email', error)}
    <input id="email" name="email" type="email" autocomplete="email" maxlength="${MAX_FIELD_LENGTH}"
      value="${value}" ${error !== undefined && html`aria-describedby="email-error" aria-invalid="true" autofocus`}>
  </div>`;

const banner = ({ declinedBy, errors }: PaymentFormOptions): Html | undefined => {
  if (errors.form !== undefined)
    return html`<div class="banner" role="alert"><strong>${errors.form}</strong></div>`;
  if (declinedBy === undefined) return undefined;
  return html`
    <div class="banner" role="alert">
      <strong>${declinedBy === 'payer' ? 'You declined the payment.' : 'The payment was declined.'}</strong>
      <p>Nothing was charged. You can try again below.</p>
    </div>`;
};

const titleOf = ({ summary, declinedBy, errors }: PaymentFormOptions): string => {
  const title = `Pay ${formatAmount(summary.amount)} to ${summary.merchantName}`;
  if (Object.keys(errors).length > 0) return `Error: ${title}`;
  return declinedBy === undefined ? title : `Declined, try again: ${title}`;
};

/**
 * The page of a link that can be paid. Pay comes before Decline because Enter in a field presses the first button. The
 * browser's own validation is off: the sandbox's messages appear beside the field, and are the same in every browser.
 */
export const paymentForm = (options: PaymentFormOptions): string => {
  const { summary, timeLeftMs, asksEmail, values, errors } = options;
  const until = html`${expiryText(summary)}
    <span class="left">${formatTimeLeft(timeLeftMs)} left</span>`;
  return page({
    title: titleOf(options),
    wide: true,
    main: html`
<section class="summary" aria-label="What you pay">
  <h1><span class="payee">Pay ${summary.merchantName}</span> <span class="amount">${formatAmount(summary.amount)}</span></h1>
  ${factList([
    summary.message ? ['For', summary.message] : undefined,
    ['Pay by', until],
    ['Reference', summary.transId],
  ])}
</section>
<section class="card" aria-label="How you pay">
  ${banner(options)}
  <form method="post" novalidate>
    ${phoneField(values.phone, errors.phone)}
    ${mediumField(values.medium, errors.medium)}
    ${asksEmail && emailField(values.email, errors.email)}
    <div class="actions">
      <button class="button" name="action" value="pay">Pay ${formatAmount(summary.amount)}</button>
      <button class="button plain" name="action" value="decline">Decline</button>
    </div>
  </form>
</section>
${testNumbers()}`,
  });
};

/** The test numbers, collapsed until opened. */
const testNumbers = (): Html => html`
<details>
  <summary>Test numbers</summary>
  <p>Any number works, for example 677&nbsp;000&nbsp;000. Its last three digits decide the outcome:</p>
  <dl class="facts">
    ${TEST_NUMBERS.map(({ pattern, effect }) => html`<div><dt><code>${pattern}</code></dt><dd>${effect}</dd></div>`)}
  </dl>
</details>`;
