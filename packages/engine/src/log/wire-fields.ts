/**
 * The fields of a protobuf message, one after the other, without an object for the message.
 * Messages of the log are read by the ten thousand, and a general reader would make objects of them
 * that are mostly thrown away.
 */
export class WireFields {
  /** Number of the field that `next` went to. */
  number = 0;
  /** Its value, for a number; exact up to 2^53. */
  value = 0;
  /** The beginning of its bytes, for everything else. */
  start = 0;
  /** The end of its bytes. */
  end: number;
  readonly bytes: Buffer;
  readonly #limit: number;

  constructor(bytes: Buffer, start = 0, limit = bytes.length) {
    this.bytes = bytes;
    this.end = start;
    this.#limit = limit;
  }

  /** Moves to the next field; false at the end. Throws a RangeError on bytes that are no such message. */
  next(): boolean {
    if (this.end >= this.#limit) return false;
    this.#readNumber();
    const tag = this.value;
    this.number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        this.#readNumber();
        return true;
      case 1:
        return this.#take(8);
      case 2:
        this.#readNumber();
        return this.#take(this.value);
      case 5:
        return this.#take(4);
      default:
        throw new RangeError(`a field of wire type ${tag & 7}`);
    }
  }

  /** The field as a message. */
  message(): WireFields {
    return new WireFields(this.bytes, this.start, this.end);
  }

  /** The field as UTF-8. */
  text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  #take(length: number): boolean {
    this.start = this.end;
    this.end += length;
    if (this.end > this.#limit) throw new RangeError('a field runs past the end of its message');
    return true;
  }

  #readNumber(): void {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.bytes[this.end];
      if (byte === undefined || this.end >= this.#limit) {
        throw new RangeError('a number runs past the end of its message');
      }
      this.end += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 0x80;
    }
    this.value = value;
  }
}
