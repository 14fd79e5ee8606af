/** Asks once at a time for all callers, and reuses the answer, or the failure, for a time in ms. */
export function shareAnswers<Answer>(ask: () => Promise<Answer>, reusedMs: number): () => Promise<Answer> {
  let shared: Promise<Answer> | undefined;
  let freshUntil = 0;

  async function read(): Promise<Answer> {
    try {
      return await ask();
    } finally {
      freshUntil = Date.now() + reusedMs;
    }
  }

  return () => {
    if (shared === undefined || Date.now() >= freshUntil) {
      freshUntil = Number.POSITIVE_INFINITY;
      shared = read();
    }
    return shared;
  };
}
