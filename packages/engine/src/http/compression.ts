import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** A coding of the bytes of an answer, as HTTP calls it. */
export type Coding = 'br' | 'gzip';

/** Answers of fewer characters are sent as they are: compressing them costs more than it saves. */
export const compressedFrom = 4096;

const codings: Coding[] = ['br', 'gzip'];

/** The coding that the caller prefers for an answer of a size; null: none. */
export function codingFor(request: Request, response: Response, size: number): Coding | null {
  if (size < compressedFrom) return null;
  response.vary('Accept-Encoding');
  const preferred = request.acceptsEncodings(codings);
  return preferred === 'br' || preferred === 'gzip' ? preferred : null;
}

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;

// Of the answers of this API the highest qualities save little more, and take up to a hundred times as long.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipOptions = { level: 3 };

/** Compresses a text, beside the event loop. */
export const compressed = (text: string | Uint8Array, coding: Coding): Promise<Buffer> =>
  coding === 'br' ? compressors.br(text, brotliOptions) : compressors.gzip(text, gzipOptions);
