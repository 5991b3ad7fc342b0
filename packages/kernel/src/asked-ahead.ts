/**
 * Answers in the order of what they are about, of which a number is asked for at once: the one that is waited for, and those after it. Whoever stops listening, or is given
 * an error, leaves no question behind: those that are under way are waited for, and their answers and errors dropped, as if they had never been asked.
 *
 * @param atOnce at least one; with one each is asked for when it is waited for
 */
export async function* askedAhead<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  ask: (item: Item) => Promise<Answer>,
): AsyncGenerator<Answer, void> {
  const underWay: Promise<Answer>[] = [];
  let next = 0;
  try {
    while (next < items.length || underWay.length > 0) {
      for (const item of items.slice(next, next + atOnce - underWay.length)) {
        const answer = ask(item);
        // It may fail before anybody waits for it.
        answer.catch(() => undefined);
        underWay.push(answer);
        next += 1;
      }
      yield await (underWay[0] as Promise<Answer>);
      underWay.shift();
    }
  } finally {
    await Promise.allSettled(underWay);
  }
}
