import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Statement } from '../../reconciliation/statement.js';

/** Elements written without a pause, which takes some milliseconds. */
const ELEMENTS_OF_PIECE = 250;

/**
 * Writes a statement as the API's JSON, in pieces, so that others get their turn: a day can have tens of thousands of
 * payments.
 */
export async function* statementJson(statement: Statement): AsyncGenerator<string> {
  const { payments, differences, ...rest } = statement;
  yield `${JSON.stringify({ object: 'statement', ...rest }).slice(0, -1)},"payments":[`;
  yield* elementsOf(payments);
  yield '],"differences":[';
  yield* elementsOf(differences);
  yield ']}';
}

async function* elementsOf(list: readonly object[]): AsyncGenerator<string> {
  for (let from = 0; from < list.length; from += ELEMENTS_OF_PIECE) {
    const piece = list.slice(from, from + ELEMENTS_OF_PIECE).map((element) => JSON.stringify(element));
    yield `${from === 0 ? '' : ','}${piece.join(',')}`;
    await letOthersRun();
  }
}
