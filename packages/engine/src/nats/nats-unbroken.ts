import { ConsumerEvents, type ConsumerMessages, type JsMsg } from 'nats';

/** The part of the client's messages that a reading needs. */
type Messages = Pick<ConsumerMessages, 'status' | 'stop'> & AsyncIterable<JsMsg>;

/**
 * The messages of a consumer as they come, until they are stopped. Throws when the broker has left one out, and when
 * it has fallen silent: nats-server 2.9 now and then makes a consumer, while messages are just being stored, that gives
 * neither messages nor heartbeats however often it is asked, and that looks sound to whoever asks about it. Only
 * another consumer helps. A silence that the reader does not wait in is its own: while it deals with what has
 * come it asks for nothing.
 */
export async function* unbroken(messages: Messages): AsyncGenerator<JsMsg> {
  let isWaiting = false;
  let isSilent = false;
  const watch = async (): Promise<void> => {
    for await (const { type } of await messages.status()) {
      if (type !== ConsumerEvents.HeartbeatsMissed || !isWaiting) continue;
      isSilent = true;
      messages.stop();
    }
  };
  void watch();
  const iterator = messages[Symbol.asyncIterator]();
  for (let count = 1; ; count += 1) {
    isWaiting = true;
    const next = await iterator.next();
    isWaiting = false;
    if (next.done) break;
    const { deliverySequence } = next.value.info;
    if (deliverySequence !== count) throw new Error(`NATS left out delivery ${count} of a reading`);
    yield next.value;
  }
  if (isSilent) throw new Error('NATS has fallen silent in a reading');
}
