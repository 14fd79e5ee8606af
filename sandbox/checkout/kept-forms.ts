import { randomBytes } from 'node:crypto';
import type { FormErrors, FormValues } from './payment-form.js';

/** A payer's input, and its mistakes. */
export interface KeptForm {
  readonly values: FormValues;
  readonly errors: FormErrors;
}

/** Time for which a form is kept, in real ms: people type in real time. */
const KEEP_MS = 15 * 60_000;

/** Maximum number of forms; the oldest is dropped for a new one. */
const MAX_FORMS = 1000;

/**
 * Keeps what payers typed between their POST and the page that it redirects to, so that going back never asks to send
 * a form again, and no phone number is in an address. Only in memory, for 15 minutes, each under a random key.
 *
 * Every form gets a new key: if one could choose it, a link sent with a chosen key would show its sender what the payer
 * types.
 */
export class KeptForms {
  readonly #forms = new Map<string, KeptForm & { readonly token: string; readonly timer: NodeJS.Timeout }>();

  /** Keeps a form of the link with this token. Returns its key. */
  keep(token: string, form: KeptForm): string {
    const [oldest] = this.#forms.keys();
    if (oldest !== undefined && this.#forms.size >= MAX_FORMS) this.#drop(oldest);
    const key = randomBytes(16).toString('base64url');
    const timer = setTimeout(() => this.#drop(key), KEEP_MS).unref();
    this.#forms.set(key, { values: form.values, errors: form.errors, token, timer });
    return key;
  }

  /** The form with this key; `undefined` when it is no longer kept, or belongs to another link. */
  find(token: string, key: string): KeptForm | undefined {
    const form = this.#forms.get(key);
    return form?.token === token ? form : undefined;
  }

  #drop(key: string): void {
    clearTimeout(this.#forms.get(key)?.timer);
    this.#forms.delete(key);
  }
}
