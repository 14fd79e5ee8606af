import { refuseNoObject, said } from './arguments.js';
import type { RequestOptions, Send } from './transport.js';
import type { Statement, StatementBeingMade, StatementList, StatementListParams } from './types.js';

export class Statements {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Lists the statements of days, newest first. For the next page, give the date of the last one as `before`. */
  async list(params: StatementListParams = {}, options?: RequestOptions): Promise<StatementList> {
    refuseNoObject('params', params);
    const { before, limit } = params;
    const query = { before, limit };
    const request = { method: 'GET', path: '/v1/statements', query, changes: 'nothing' } as const;
    return (await this.#send<StatementList>({ ...request, expects: ['data', 'hasMore'] }, options)).body;
  }

  /** Returns the statement of a day, such as `2026-11-21`: the latest, or an earlier version. */
  async retrieve(
    date: string,
    params: { readonly version?: number } = {},
    options?: RequestOptions,
  ): Promise<Statement> {
    const expects = ['date', 'version', 'payments'];
    return (await this.#send<Statement>({ ...statementOf(date, params), expects }, options)).body;
  }

  /** Returns the same as CSV, for a spreadsheet. Excel in French expects semicolons between the cells. */
  async retrieveCsv(
    date: string,
    params: { readonly version?: number; readonly separator?: 'comma' | 'semicolon' } = {},
    options?: RequestOptions,
  ): Promise<string> {
    return (await this.#send<string>({ ...statementOf(date, params), expects: 'text/csv' }, options)).body;
  }

  /**
   * For operators: has the statement of a day made, or made again. It takes seconds to an hour. Today's, in Douala,
   * covers the day so far: it isn't `complete`.
   *
   * @returns the version that it will have
   */
  async make(date: string, options?: RequestOptions): Promise<StatementBeingMade> {
    const request = {
      method: 'POST',
      path: '/v1/statements',
      body: { date },
      changes: 'once',
      expects: ['date', 'version'],
    } as const;
    return (await this.#send<StatementBeingMade>(request, options)).body;
  }
}

/** @throws {TypeError} for a text that can't be a day, and could lead to another address. */
function statementOf(date: string, params: { readonly version?: number; readonly separator?: string }) {
  refuseNoObject('params', params);
  if (typeof date !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(date)) throw new TypeError(`not a day: ${said(date)}`);
  const query = { version: params.version, separator: params.separator };
  return { method: 'GET', path: `/v1/statements/${date}`, query, changes: 'nothing' } as const;
}
