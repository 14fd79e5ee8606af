import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import { z } from 'zod';

/*
 * Forms that the provider doesn't document, and that HTTP and JSON allow or that senders are known for: nothing is
 * missing from them but what they are named for, and a client must read each.
 */

/** Makes a notification out of the JSON of a Transaction. */
const NOTIFICATIONS = {
  list: (json: string) => `[${json}]`,
  wrapped: (json: string) => `{"event":"transaction","data":${json}}`,
  latin1: (json: string) => Buffer.from(json.replace('{', '{"merchantName":"Épicerie Hélène",'), 'latin1'),
  noStatus: (json: string) => json.replace(/"status":"\w+",/, ''),
} as const;

export type NotificationForm = keyof typeof NOTIFICATIONS;
export const notificationForm = z.enum(Object.keys(NOTIFICATIONS) as NotificationForm[]);

export function formedNotification(json: string, form?: NotificationForm): string | Buffer {
  return form === undefined ? json : NOTIFICATIONS[form](json);
}

/** Bytes of a chunk, fewer than most characters' names have in JSON. */
const CHUNK = 5;

/** Sends the JSON of an answer, whose status and headers are set. */
const ANSWERS = {
  byteOrderMark: (response: Response, json: string) => response.end(`\ufeff${json}`),
  chunked: async (response: Response, json: string) => {
    const bytes = Buffer.from(json);
    for (let at = 0; at < bytes.length; at += CHUNK) response.write(bytes.subarray(at, at + CHUNK));
    await pause(1);
    response.end();
  },
  /** The body ends with the connection, as in HTTP/1.0. */
  untilClose: (response: Response, json: string) => {
    response.shouldKeepAlive = false;
    response.useChunkedEncodingByDefault = false;
    response.write(json);
    response.end();
  },
  earlyHints: (response: Response, json: string) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    response.end(json);
  },
} as const;

export type AnswerForm = keyof typeof ANSWERS;
export const answerForm = z.enum(Object.keys(ANSWERS) as AnswerForm[]);

export function sendAnswer(response: Response, json: string, form: AnswerForm): void {
  response.type('json');
  void ANSWERS[form](response, json);
}
