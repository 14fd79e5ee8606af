import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { isWhole } from '../text/exact-json.js';

/*
 * Bodies of the provider's, its answers and its notifications, as any sender may write them that keeps to RFC 9110 and
 * RFC 8259, or nearly does: see docs/decisions/0051-answers-and-notifications.md.
 */

/** The headers that describe a body; either may be missing, or wrong. */
export interface BodyHeaders {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
}

type Decompress = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, readonly Decompress[]>> = {
  gzip: [promisify(gunzip)],
  'x-gzip': [promisify(gunzip)],
  // `deflate` means zlib's format, but many send raw deflate data.
  deflate: [promisify(inflate), promisify(inflateRaw)],
  br: [promisify(brotliDecompress)],
  zstd: [promisify(zstdDecompress)],
};

/** Codings that one body is decoded from, at most. */
const MAX_CODINGS = 3;

/**
 * Removes a body's content codings. A body that isn't coded as its header says is returned unchanged: a proxy may have
 * decoded it and left the header.
 *
 * @param max bytes that it may have then; one that has more is read as empty
 */
export async function removeContentCodings(
  bytes: Uint8Array,
  { contentEncoding = '' }: BodyHeaders,
  max: number,
): Promise<Uint8Array> {
  const codings = contentEncoding.toLowerCase().split(',').slice(-MAX_CODINGS).reverse();
  let content = bytes;
  for (const coding of codings) content = await decompress(content, DECODERS[coding.trim()] ?? [], max);
  // No text begins with these bytes: it is gzip, although no header says so.
  const isGzip = content[0] === 0x1f && content[1] === 0x8b;
  return isGzip ? await decompress(content, DECODERS.gzip ?? [], max) : content;
}

async function decompress(bytes: Uint8Array, decoders: readonly Decompress[], max: number): Promise<Uint8Array> {
  for (const decode of decoders) {
    try {
      return await decode(bytes, { maxOutputLength: max });
    } catch (error) {
      if (error instanceof RangeError) return new Uint8Array();
    }
  }
  return bytes;
}

/**
 * Decodes a body as text. A byte order mark gives the charset, and so do the zeros of UTF-16 and UTF-32. Otherwise it
 * is UTF-8, as JSON has to be, or else the charset of its header, or Latin-1, which may garble names but no ASCII.
 */
export function textOf(bytes: Uint8Array, { contentType = '' }: BodyHeaders): string {
  const [first, second, third, fourth] = bytes;
  if (first === 0 && second === 0) return utf32(bytes, false);
  if (third === 0 && fourth === 0) return utf32(bytes, true);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0 && second !== 0) return new TextDecoder('utf-16be').decode(bytes);
  if (second === 0 && third !== 0) return new TextDecoder('utf-16le').decode(bytes);
  const [, named = 'latin1'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType) ?? [];
  for (const charset of ['utf-8', named]) {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      // It isn't in this charset, or there is none of this name.
    }
  }
  return new TextDecoder('latin1').decode(bytes);
}

/** Decodes UTF-32, which TextDecoder doesn't know. Invalid characters are replaced, as it does. */
function utf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const characters = Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => {
    const point = view.getUint32(index * 4, isLittleEndian);
    return point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point);
  });
  return characters
    .join('')
    .toWellFormed()
    .replace(/^\ufeff/, '');
}

/** Matches strings, which are kept as they are, and NaN and Infinity. */
const NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|-?\b(?:NaN|Infinity)\b/gs;

/**
 * Parses JSON; `undefined` when the text isn't JSON. An integer too large for a number, and a number that rounding
 * would make whole, is returned as its text; NaN and Infinity, which aren't JSON, as `null`.
 */
export function parseJson(text: string): unknown {
  const json = text.replace(/^\ufeff/, '');
  return tryParse(json) ?? (/NaN|Infinity/.test(json) ? tryParse(json.replace(NO_NUMBER, nullIfNoNumber)) : undefined);
}

function nullIfNoNumber(token: string): string {
  return token.startsWith('"') ? token : 'null';
}

function tryParse(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json, withAllDigits);
    return value;
  } catch {
    return undefined;
  }
}

/** @param context the source text of a number, which TypeScript's library doesn't know of yet */
function withAllDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const { source = '' } = context ?? {};
  const isRounded = Number.isSafeInteger(value) ? !isWhole(source) : /^-?\d+$/.test(source);
  return isRounded ? source : value;
}
