import { connect, type JsMsg, StringCodec } from 'nats';

/** A message of the public stream as a subscriber gets it. */
export interface StreamMessage {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly position: bigint;
  readonly index: number;
  /** The stream of the log that the event is in, and its place there. */
  readonly stream: string;
  readonly revision: number;
  readonly text: string;
}

const streamName = 'BILLING';
const codec = StringCodec();

/** All messages that the public stream holds now, from the first on. */
export async function readPublicStream(natsUrl: string): Promise<readonly StreamMessage[]> {
  const connection = await connect({ servers: new URL(natsUrl).host });
  try {
    const manager = await connection.jetstreamManager();
    const { state } = await manager.streams.info(streamName);
    const messages: StreamMessage[] = [];
    if (state.messages === 0) return messages;
    // Without a name it is an ordered consumer, which begins with the first message.
    const consumer = await connection.jetstream().consumers.get(streamName);
    for await (const message of await consumer.consume()) {
      messages.push(messageOf(message));
      if (message.seq >= state.last_seq) break;
    }
    return messages;
  } finally {
    await connection.close();
  }
}

function messageOf({ seq: sequence, data, headers }: JsMsg): StreamMessage {
  const header = (name: string): string => headers?.get(name) ?? '';
  return {
    sequence,
    id: header('ce-id'),
    type: header('ce-type'),
    position: BigInt(header('Billing-Position')),
    index: Number(header('Billing-Index')),
    stream: header('Billing-Stream'),
    revision: Number(header('Billing-Revision')),
    text: codec.decode(data),
  };
}
