import type { IncomingMessage } from 'node:http';

/** A field of the JSON body that Express has read of a request; `undefined` before, or when there is none. */
export function bodyField(request: IncomingMessage, name: string): string | undefined {
  const body: unknown = Reflect.get(request, 'body');
  const json = Buffer.isBuffer(body) ? parse(body.toString()) : body;
  if (typeof json !== 'object' || json === null) return undefined;
  const value: unknown = Reflect.get(json, name);
  return typeof value === 'string' ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
