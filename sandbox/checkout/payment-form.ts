import { type Bill, factList, payableUntil } from './bill.js';
import { formatAmount, formatTimeLeft } from './display.js';
import { type Html, html } from './html.js';
import { page } from './page.js';
import { type FormErrors, type FormValues, LONGEST_ENTRY } from './payer-form.js';
import { testNumbers } from './test-numbers.js';

interface PaymentFormOptions {
  readonly bill: Bill;
  /** How much longer it can be paid, in ms. */
  readonly timeLeft: number;
  /** The payer is asked for an e-mail address only where the merchant gave none with the link. */
  readonly asksEmail: boolean;
  /** Who declined the attempt before this one, if it came to nothing. */
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

/** What describes a field: its hint, and its error once it has one, read out when the field gets the focus. */
const described = (name: string, error: string | undefined): Html =>
  error === undefined
    ? html`aria-describedby="${name}-hint"`
    : html`aria-describedby="${name}-error ${name}-hint" aria-invalid="true"`;

const phoneField = (value: string, error: string | undefined): Html => html`
  <div class="field">
    <label for="phone">Mobile number to charge</label>
    ${fieldError('phone', error)}
    <input id="phone" name="phone" type="tel" inputmode="tel" autocomplete="tel" maxlength="40" required
      value="${value}" ${described('phone', error)} ${error !== undefined && html`autofocus`}>
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
    <input id="email" name="email" type="email" autocomplete="email" maxlength="${LONGEST_ENTRY}"
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

const titleOf = ({ bill, declinedBy, errors }: PaymentFormOptions): string => {
  const title = `Pay ${formatAmount(bill.amount)} to ${bill.merchantName}`;
  if (Object.keys(errors).length > 0) return `Error: ${title}`;
  return declinedBy === undefined ? title : `Declined, try again: ${title}`;
};

/**
 * The page of a link that can be paid. Pay comes before Decline, as the button that Enter in a field presses. The
 * browser's own checks are off: the sandbox answers a wrong entry itself, in words that stand beside the field and
 * stay there, the same with every browser and by plain HTTP.
 */
export const paymentForm = (options: PaymentFormOptions): string => {
  const { bill, timeLeft, asksEmail, values, errors } = options;
  const until = html`${payableUntil(bill)}
    <span class="left">${formatTimeLeft(timeLeft)} left</span>`;
  return page({
    title: titleOf(options),
    wide: true,
    main: html`
<section class="summary" aria-label="What you pay">
  <h1><span class="payee">Pay ${bill.merchantName}</span> <span class="amount">${formatAmount(bill.amount)}</span></h1>
  ${factList([
    bill.message ? ['For', bill.message] : undefined,
    ['Pay by', until],
    ['Reference', bill.transId],
  ])}
</section>
<section class="card" aria-label="How you pay">
  ${banner(options)}
  <form method="post" novalidate>
    ${phoneField(values.phone, errors.phone)}
    ${mediumField(values.medium, errors.medium)}
    ${asksEmail && emailField(values.email, errors.email)}
    <div class="actions">
      <button class="button" name="action" value="pay">Pay ${formatAmount(bill.amount)}</button>
      <button class="button plain" name="action" value="decline">Decline</button>
    </div>
  </form>
</section>
${testNumbers()}`,
  });
};
