import { shared } from '../log/shared.ts';

interface Asked<Answer> {
  readonly ask: () => Promise<Answer>;
  /** Those who wait for an answer. */
  waiting: number;
}

/**
 * Lets those who ask the same at once share an answer, none of which is older than its question (`shared`). What nobody waits for
 * is forgotten.
 */
export class SharedReads<Answer> {
  readonly #asked = new Map<string, Asked<Answer>>();

  /**
   * The answer to a question.
   *
   * @param question the same text for the same question, and for no other
   * @param read asks it; of those who wait that of the first is taken
   */
  async run(question: string, read: () => Promise<Answer>): Promise<Answer> {
    const asked = this.#asked.get(question) ?? { ask: shared(read), waiting: 0 };
    this.#asked.set(question, asked);
    asked.waiting += 1;
    try {
      return await asked.ask();
    } finally {
      asked.waiting -= 1;
      if (asked.waiting === 0) this.#asked.delete(question);
    }
  }
}
