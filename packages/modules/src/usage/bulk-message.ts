/** The only member of a bulk, which no single event has. */
const events = 'events';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [brace, bracket] = [0x7b, 0x5b];
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d;

/**
 * Tells whether a message is a bulk: a JSON object with the member `events`, wherever it stands among others. What is no
 * JSON may be either: it is refused by both.
 */
export function isBulk(message: Buffer): boolean {
  let depth = 0;
  let isNameNext = false;
  for (let place = 0; place < message.length; place += 1) {
    const byte = message[place] ?? 0;
    if (byte === quote) {
      const end = endOfText(message, place);
      if (isNameNext && nameIn(message, place, end) === events) return true;
      isNameNext = false;
      place = end;
    } else if (byte === brace || byte === bracket) {
      depth += 1;
      if (depth === 1 && byte === bracket) return false;
      isNameNext = depth === 1;
    } else if (isClosing(byte)) {
      depth -= 1;
      if (depth <= 0) return false;
    } else if (byte === comma && depth === 1) {
      isNameNext = true;
    }
  }
  return false;
}

/** The place of the quotation mark that ends the text which begins at a place. */
function endOfText(message: Buffer, start: number): number {
  for (let place = start + 1; place < message.length; place += 1) {
    if (message[place] === backslash) place += 1;
    else if (message[place] === quote) return place;
  }
  return message.length;
}

/** A name, whose characters may be written as escapes. */
function nameIn(message: Buffer, start: number, end: number): string {
  const text = message.toString('utf8', start, end + 1);
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return '';
  }
}
