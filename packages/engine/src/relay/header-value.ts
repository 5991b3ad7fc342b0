/** Printable ASCII but space, double quote and per cent, which CloudEvents leaves as it is. */
const plain = /^[\x21\x23\x24\x26-\x7e]*$/;
const special = /[^\x21\x23\x24\x26-\x7e]/gu;

/**
 * A text as the value of a message header: other characters than plain ASCII are percent-encoded as
 * UTF-8 (CloudEvents, NATS binding). A correlation id may be the caller's own text, and must not be
 * able to start a header of its own.
 */
export const encodeHeader = (text: string): string =>
  plain.test(text) ? text : text.toWellFormed().replace(special, encodeURIComponent);

/** The text that `encodeHeader` was given; the value itself when it is no such encoding. */
export function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
