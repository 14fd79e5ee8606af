import { z } from 'zod';
import { nineDigits } from '../../src/provider/contact.js';
import { phoneMediumSchema } from '../../src/provider/schemas.js';
import type { AttemptRequest, InvalidAttempt } from '../ledger.js';
import { TEST_NUMBERS } from '../test-outcome.js';
import { type Html, html } from './html.js';
import type { Locale } from './locale.js';
import { page } from './pages.js';
import { type CheckoutSummary, factList } from './summary.js';
import type { Failure, FormError, Texts } from './texts.js';

/** The payer's input, shown again beside an error and after a decline. */
export interface FormValues {
  readonly phone: string;
  readonly medium: string;
  readonly email: string;
}

/** Errors by field; `form` is for errors of no field. */
export interface FormErrors {
  readonly phone?: FormError;
  readonly medium?: FormError;
  readonly email?: FormError;
  readonly form?: FormError;
}

export const noValues: FormValues = { phone: '', medium: '', email: '' };
export const noErrors: FormErrors = {};

/** The maximum length of an e-mail address; no other field needs as much. */
const MAX_FIELD_LENGTH = 254;

const fieldSchema = z.string().trim().max(MAX_FIELD_LENGTH).catch('');
const valuesSchema = z.object({ phone: fieldSchema, medium: fieldSchema, email: fieldSchema }).catch(noValues);
const actionSchema = z.union([
  z.object({ action: z.enum(['pay', 'decline']) }),
  z.object({
    withdraw: z
      .string()
      .regex(/^[1-9]\d{0,8}$/)
      .transform(Number),
  }),
]);

type Reading =
  | { readonly kind: 'read'; readonly request: AttemptRequest; readonly values: FormValues }
  /** The waiting page's form, with the number of the attempt. */
  | { readonly kind: 'withdraw'; readonly attempt: number }
  | { readonly kind: 'wrong'; readonly errors: FormErrors; readonly values: FormValues };

/** Separators that people type between the digits of a number. */
const SEPARATORS = /[\s.()-]/g;

/**
 * Reads the payer's form. The ledger validates the number and the e-mail; an empty medium is detected by the number.
 */
export const readPayerForm = (body: unknown): Reading => {
  const values = valuesSchema.parse(body);
  const choice = actionSchema.safeParse(body);
  if (!choice.success) return { kind: 'wrong', values, errors: { form: 'noAction' } };
  if ('withdraw' in choice.data) return { kind: 'withdraw', attempt: choice.data.withdraw };
  const { action } = choice.data;
  if (action === 'decline') return { kind: 'read', values, request: { action } };
  const medium = phoneMediumSchema.optional().safeParse(values.medium || undefined);
  if (!medium.success) return { kind: 'wrong', values, errors: { medium: 'badMedium' } };
  const phone = values.phone.replace(SEPARATORS, '');
  return { kind: 'read', values, request: { action, phone, medium: medium.data, email: values.email } };
};

/** Explains an invalid attempt at the field to correct: a number of no known operator needs a medium. */
export const explain = ({ field }: InvalidAttempt, { phone = '' }: AttemptRequest): FormErrors => {
  if (field === 'email') return { email: 'badEmail' };
  if (phone === '') return { phone: 'noPhone' };
  return nineDigits(phone) === undefined ? { phone: 'badPhone' } : { medium: 'unknownOperator' };
};

interface PaymentFormOptions {
  readonly summary: CheckoutSummary;
  /** `true` to ask for an e-mail address, because the merchant gave none. */
  readonly asksEmail: boolean;
  /** The reason why the last attempt failed, if one did. */
  readonly failure?: Failure | undefined;
  readonly values: FormValues;
  readonly errors: FormErrors;
  /** The merchant's address for the payer to return to, known to be http(s). */
  readonly returnTo?: string | undefined;
  readonly locale: Locale;
}

const mediums = ({ form }: Texts) => [
  { value: '', label: form.detectMedium },
  { value: 'mobile money', label: 'Mobile Money' },
  { value: 'orange money', label: 'Orange Money' },
];

const fieldError = (name: string, error: FormError | undefined, { errors }: Texts): Html | undefined =>
  error && html`<p class="error" id="${name}-error">${errors[error]}</p>`;

/** Links a field to its hint and error, which screen readers read with it. */
const describedBy = (name: string, error: FormError | undefined): Html =>
  error === undefined
    ? html`aria-describedby="${name}-hint"`
    : html`aria-describedby="${name}-error ${name}-hint" aria-invalid="true"`;

const phoneField = (value: string, error: FormError | undefined, texts: Texts): Html => html`
  <div class="field">
    <label for="phone">${texts.form.phone}</label>
    ${fieldError('phone', error, texts)}
    <input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="tel" maxlength="40" required
      value="${value}" ${describedBy('phone', error)} ${error !== undefined && html`autofocus`}>
    <p class="hint" id="phone-hint">${texts.form.forExample} 670&nbsp;00&nbsp;00&nbsp;00</p>
  </div>`;

const mediumField = (value: string, error: FormError | undefined, texts: Texts): Html => html`
  <fieldset ${error !== undefined && html`aria-describedby="medium-error"`}>
    <legend>${texts.form.medium}</legend>
    ${fieldError('medium', error, texts)}
    ${mediums(texts).map(
      (medium) => html`
      <label class="choice">
        <input type="radio" name="medium" value="${medium.value}" ${medium.value === value && html`checked`}
          ${medium.value === value && error !== undefined && html`autofocus`}>
        ${medium.label}
      </label>`,
    )}
  </fieldset>`;

const emailField = (value: string, error: FormError | undefined, texts: Texts): Html => html`
  <div class="field">
    <label for="email">${texts.form.email} <span class="hint">${texts.form.optional}</span></label>
    ${fieldError('email', error, texts)}
    <input id="email" name="email" type="email" autocomplete="email" maxlength="${MAX_FIELD_LENGTH}"
      value="${value}" ${error !== undefined && html`aria-describedby="email-error" aria-invalid="true" autofocus`}>
  </div>`;

const banner = ({ failure, errors, locale: { texts } }: PaymentFormOptions): Html | undefined => {
  if (errors.form !== undefined)
    return html`<div class="banner" role="alert"><strong>${texts.errors[errors.form]}</strong></div>`;
  if (failure === undefined) return undefined;
  return html`
    <div class="banner" role="alert">
      <strong>${texts.failures[failure].text}</strong>
      <p>${texts.tryAgain}</p>
    </div>`;
};

const titleOf = ({ summary, failure, errors, locale }: PaymentFormOptions): string => {
  const { form } = locale.texts;
  const title = form.title(locale.formatAmount(summary.amount), summary.merchantName);
  if (Object.keys(errors).length > 0) return form.titleAfterError(title);
  return failure === undefined ? title : locale.texts.failures[failure].title(title);
};

/**
 * The page of a link that can be paid. Pay comes before Decline because Enter in a field presses the first button. The
 * browser's own validation is off: the sandbox's messages appear beside the field, and are the same in every browser.
 *
 * The end that it names is the provider's. A merchant may end the link sooner, and the provider's interface has no
 * field to say when, so the page counts nothing down.
 */
export const paymentForm = (options: PaymentFormOptions): string => {
  const { summary, asksEmail, values, errors, locale } = options;
  const { texts } = locale;
  const amount = locale.formatAmount(summary.amount);
  const until = html`${locale.formatTime(summary.expiresAt)}
    <span class="aside">${texts.form.mayEndSooner}</span>`;
  return page(locale, {
    title: titleOf(options),
    wide: true,
    main: html`
<section class="summary" aria-label="${texts.form.whatYouPay}">
  <h1><span class="payee">${texts.form.payee(summary.merchantName)}</span> <span class="amount">${amount}</span></h1>
  ${factList([
    summary.message ? [texts.purpose, summary.message] : undefined,
    [texts.form.payBy, until],
    [texts.reference, summary.transId],
  ])}
</section>
<section class="card" aria-label="${texts.form.howYouPay}">
  ${banner(options)}
  <form method="post" novalidate>
    ${phoneField(values.phone, errors.phone, texts)}
    ${mediumField(values.medium, errors.medium, texts)}
    ${asksEmail && emailField(values.email, errors.email, texts)}
    <div class="actions">
      <button class="button" name="action" value="pay">${texts.form.pay(amount)}</button>
      <button class="button plain" name="action" value="decline">${texts.form.decline}</button>
    </div>
  </form>
  ${options.failure !== undefined && returnLink(options.returnTo, summary.merchantName, texts)}
</section>
${testNumbers(texts)}`,
  });
};

/** The way back to the shop, where the merchant gave an address. */
const returnLink = (returnTo: string | undefined, merchant: string, texts: Texts): Html | undefined =>
  returnTo === undefined ? undefined : html`<p><a href="${returnTo}">${texts.receipt.returnTo(merchant)}</a></p>`;

/** The test numbers, collapsed until opened. */
const testNumbers = (texts: Texts): Html => html`
<details>
  <summary>${texts.testNumbers}</summary>
  <p>${texts.testNumbersHint('677\u00a0000\u00a0000')}</p>
  <dl class="facts">
    ${TEST_NUMBERS.map(
      ({ digit, pattern }) => html`<div><dt><code>${pattern}</code></dt><dd>${texts.testOutcomes[digit]}</dd></div>`,
    )}
  </dl>
</details>`;
