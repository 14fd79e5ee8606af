/** An error and what caused it, in what is safe to log: libraries hang whole requests on their errors. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  return { type: name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) };
}
