import { pino } from 'pino';
import { createDesk, type DeskOptions } from '../../src/desk/app.js';
import { serve } from '../../src/http/server.js';
import { Shutdown } from '../../src/process/shutdown.js';

export interface Loaded {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Path and query of the page that redirects ended at. */
  readonly path: string;
}

export type DeskUnderTest = Awaited<ReturnType<typeof startDesk>>;

/** The desk over real HTTP. */
export async function startDesk(apiUrl: string, options: Partial<DeskOptions> = {}) {
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const shutdown = new Shutdown();
  const sessions = { maxAgeMs: 3_600_000, maxIdleMs: 600_000 };
  const app = createDesk({ apiUrl, sessions, trustedProxies: 0, logger, shutdown, ...options });
  const serving = await serve(app, { host: '127.0.0.1', port: 0, shutdown });
  const url = `http://127.0.0.1:${serving.port}`;
  return { url, lines, visitor: () => new Visitor(url), stop: () => serving.stop() };
}

/** An attribute's value as a browser reads it. */
function unescaped(value: string): string {
  const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return value.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => CHARACTERS[name] ?? '');
}

/** A browser without a screen: it keeps cookies, and follows redirects. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  /** Sent with each request, as a proxy before the desk would. */
  headers: Readonly<Record<string, string>> = {};
  page = '';

  constructor(private readonly url: string) {}

  get(path: string): Promise<Loaded> {
    return this.#load('GET', path, undefined);
  }

  post(path: string, fields: Readonly<Record<string, string>>): Promise<Loaded> {
    return this.#load('POST', path, new URLSearchParams(fields));
  }

  /** Sends the page's form that goes to an address which ends so, with its own hidden fields. */
  async submit(end: string, fields: Readonly<Record<string, string>> = {}): Promise<Loaded> {
    const { action, hidden } = this.form(end);
    const { pathname, search } = new URL(action, this.url);
    return await this.post(pathname + search, { ...hidden, ...fields });
  }

  form(end: string) {
    const form = [...this.page.matchAll(/<form[^>]*method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].find(
      ([, action = '']) => action.endsWith(end),
    );
    const [, action, body = ''] = form ?? [];
    if (action === undefined) throw new Error(`the page has no form to ${end}:\n${this.page}`);
    const inputs = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    return {
      action,
      hidden: Object.fromEntries(inputs.map(([, name, value = '']) => [name, unescaped(value)])),
    };
  }

  async signIn(key: string, next = '/desk'): Promise<Loaded> {
    await this.get(`/desk/sign-in?next=${encodeURIComponent(next)}`);
    return await this.submit('/sign-in', { key });
  }

  async #load(method: string, path: string, body: URLSearchParams | undefined): Promise<Loaded> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(method === 'POST' && { origin: this.url }),
        ...this.headers,
        ...(cookie !== '' && { cookie }),
      },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value = ''] = pair.split('=');
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    if (response.status === 303 && location !== null) return await this.#load('GET', location, undefined);
    this.page = text;
    return { status: response.status, headers: response.headers, text, path };
  }
}
