/**
 * Splits TypeScript text into code, strings and comments, so that rules about code do not trip over
 * words in comments. Not a parser: it only follows quotes, comments, templates and regular expressions.
 */
export interface ScannedText {
  /** The text with comments and the contents of strings turned into spaces; same length and lines. */
  readonly code: string;
  /** The text with comments turned into spaces. */
  readonly codeAndStrings: string;
  /** The text of the comments alone; everything else is spaces. */
  readonly comments: string;
}

type Kind = 'code' | 'string' | 'comment';

/** After these words and marks a slash begins a regular expression; after a value it divides. */
const BEFORE_EXPRESSION = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|throw|=>))$/;

export function scanText(text: string): ScannedText {
  const kinds = new Array<Kind>(text.length).fill('code');
  /** For every open `${` the number of braces that are open inside it. */
  const templates: number[] = [];
  let position = 0;
  let before = '';

  const mark = (end: number, kind: Kind): void => {
    kinds.fill(kind, position, end);
    position = end;
  };
  while (position < text.length) {
    const rest = text.slice(position, position + 2);
    const character = rest[0] ?? '';
    if (rest === '//') {
      mark(endOf(text, '\n', position), 'comment');
    } else if (rest === '/*') {
      mark(endOf(text, '*/', position + 2) + 2, 'comment');
    } else if (character === "'" || character === '"') {
      mark(endOfQuoted(text, position + 1, character), 'string');
      before = 'x';
    } else if (character === '/' && BEFORE_EXPRESSION.test(before)) {
      mark(endOfExpression(text, position + 1), 'string');
      before = 'x';
    } else if (character === '`' || (character === '}' && templates.at(-1) === 0)) {
      if (character === '}') templates.pop();
      const end = endOfTemplatePart(text, position + 1);
      if (text.startsWith('${', end - 2)) templates.push(0);
      mark(end, 'string');
      before = templates.length > 0 && text.startsWith('${', end - 2) ? '(' : 'x';
    } else {
      const open = templates.length - 1;
      if (open >= 0 && character === '{') templates[open] = (templates[open] ?? 0) + 1;
      if (open >= 0 && character === '}') templates[open] = (templates[open] ?? 0) - 1;
      if (character.trim() !== '') before = (before + character).slice(-10);
      else if (/\w$/.test(before)) before += ' ';
      position += 1;
    }
    before = before.trimEnd();
  }
  return {
    code: only(text, kinds, ['code']),
    codeAndStrings: only(text, kinds, ['code', 'string']),
    comments: only(text, kinds, ['comment']),
  };
}

function only(text: string, kinds: readonly Kind[], wanted: readonly Kind[]): string {
  let result = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    result += character === '\n' || wanted.includes(kinds[index] ?? 'code') ? character : ' ';
  }
  return result;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end < 0 ? text.length : end;
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === quote || text[index] === '\n') return index + 1;
  }
  return text.length;
}

function endOfExpression(text: string, from: number): number {
  let isInClass = false;
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '[') isInClass = true;
    else if (character === ']') isInClass = false;
    else if (character === '\n' || (character === '/' && !isInClass)) return index + 1;
  }
  return text.length;
}

/** A part of a template ends with its quote or with the beginning of an expression in it. */
function endOfTemplatePart(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '`') return index + 1;
    else if (text.startsWith('${', index)) return index + 2;
  }
  return text.length;
}
