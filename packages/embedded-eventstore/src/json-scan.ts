/**
 * Finds members of a top-level JSON object in its source text. Stream metadata holds 64-bit
 * numbers, which `JSON.parse` would round, and must be rewritten without touching the text around
 * them.
 */

/** One member: its decoded key and where its value stands in the text. */
export interface MemberSpan {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** Lists the top-level members of `text`, which must already be known to be a JSON object. */
export function topLevelMembers(text: string): MemberSpan[] {
  const members: MemberSpan[] = [];
  let at = skipBlank(text, text.indexOf('{') + 1);
  while (at < text.length && text[at] !== '}') {
    const keyEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const start = skipBlank(text, text.indexOf(':', keyEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ key: String(key), start, end });
    at = skipBlank(text, end);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return members;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, from: number): number {
  let at = from;
  let depth = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '"') {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    }
    if (depth === 0 && ', \t\r\n'.includes(character)) return at;
    at += 1;
  }
  return at;
}
