/** Milliseconds for which items are gathered while many others are under way: little beside the append that they wait for. */
const gatheringMilliseconds = 3;

/**
 * Collects the items for one member: all that come in one turn go in one message, or in a few. While much is under way, those of
 * a few milliseconds do: to seal, send and take a message costs more than the items in it.
 */
export class Outbox<Item> {
  readonly #send: (items: readonly Item[]) => void;
  readonly #isBusy: () => boolean;
  #items: Item[] = [];
  #bytes = 0;

  constructor(send: (items: readonly Item[]) => void, isBusy = () => false) {
    this.#send = send;
    this.#isBusy = isBusy;
  }

  /** `bytes` is about the size of the item. */
  add(item: Item, bytes: number): void {
    if (this.#items.length >= messageLimits.items || this.#bytes + bytes > messageLimits.bytes) {
      this.#flush();
    }
    this.#items.push(item);
    this.#bytes += bytes;
    if (this.#items.length > 1) return;
    const flush = (): void => this.#flush();
    if (this.#isBusy()) setTimeout(flush, gatheringMilliseconds);
    else setImmediate(flush);
  }

  #flush(): void {
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#bytes = 0;
    this.#send(items);
  }
}

/** The most that goes in one message, of which brokers take 1 MiB. */
export const messageLimits = { items: 64, bytes: 256 * 1024 } as const;
