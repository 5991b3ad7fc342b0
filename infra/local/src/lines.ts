import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/**
 * Reads a stream line by line, as fast as the lines are taken. A line longer than the limit comes in
 * pieces, so that a program that never ends its line cannot fill the memory.
 *
 * @param limitCharacters longest piece that is given out
 */
export async function* linesOf(
  stream: Readable,
  limitCharacters = 64 * 1024,
): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    rest += decoder.write(chunk);
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield* piecesOf(line, limitCharacters);
    while (rest.length > limitCharacters) {
      yield rest.slice(0, limitCharacters);
      rest = rest.slice(limitCharacters);
    }
  }
  rest += decoder.end();
  if (rest !== '') yield* piecesOf(rest, limitCharacters);
}

function* piecesOf(line: string, limitCharacters: number): Generator<string> {
  for (let start = 0; start === 0 || start < line.length; start += limitCharacters) {
    yield line.slice(start, start + limitCharacters);
  }
}
