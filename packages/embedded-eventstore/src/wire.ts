/**
 * The few protobuf primitives that the hot paths need. Reads are served from bytes that were
 * encoded once, when the event was written, so no message object is built per event.
 */

const LOW_BITS = 0x80;

/** Number of bytes that `value` (an integer from 0 to 2^53) takes as a varint. */
export function varintSize(value: number): number {
  let size = 1;
  let rest = value;
  while (rest >= LOW_BITS) {
    size += 1;
    rest = Math.floor(rest / LOW_BITS);
  }
  return size;
}

/** Writes `value` (an integer from 0 to 2^53) as a varint and returns the offset behind it. */
export function writeVarint(target: Buffer, value: number, offset: number): number {
  let rest = value;
  let at = offset;
  while (rest >= LOW_BITS) {
    target[at++] = (rest % LOW_BITS) | LOW_BITS;
    rest = Math.floor(rest / LOW_BITS);
  }
  target[at++] = rest;
  return at;
}

/** Reads a varint below 2^53 and returns it with the offset behind it. */
export function readVarint(source: Buffer, offset: number): { value: number; next: number } {
  let value = 0;
  let factor = 1;
  let at = offset;
  for (;;) {
    const byte = source[at++];
    if (byte === undefined) throw new RangeError('varint runs past the end of the buffer');
    value += (byte & 0x7f) * factor;
    if (byte < LOW_BITS) return { value, next: at };
    factor *= LOW_BITS;
  }
}

/** Writes a 64-bit unsigned big-endian integer below 2^53. */
export function writeUint64(target: Buffer, value: number, offset: number): void {
  target.writeUInt32BE(Math.floor(value / 0x1_0000_0000), offset);
  target.writeUInt32BE(value % 0x1_0000_0000, offset + 4);
}

/** Reads a 64-bit unsigned big-endian integer below 2^53. */
export function readUint64(source: Buffer, offset: number): number {
  return source.readUInt32BE(offset) * 0x1_0000_0000 + source.readUInt32BE(offset + 4);
}

/** Size of a length-delimited field with a one-byte tag. */
export function fieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Writes tag and length of a length-delimited field and returns the offset of its content. */
export function writeFieldHeader(
  target: Buffer,
  tag: number,
  length: number,
  offset: number,
): number {
  target[offset] = tag;
  return writeVarint(target, length, offset + 1);
}

/** Writes a whole length-delimited field and returns the offset behind it. */
export function writeBytesField(
  target: Buffer,
  tag: number,
  content: Uint8Array,
  offset: number,
): number {
  const at = writeFieldHeader(target, tag, content.length, offset);
  target.set(content, at);
  return at + content.length;
}
