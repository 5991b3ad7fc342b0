import { setTimeout as pause } from 'node:timers/promises';
import type { JetStreamManager, NatsConnection } from 'nats';

/** The harm that an attack did to a reader of another tenant. */
export type Harm =
  | 'the stream changed'
  | 'the consumer of another changed'
  | 'there is a consumer that sends where it was told to'
  | 'another heard what nobody of its own said'
  | 'what is not its own was heard'
  | 'usage was sent for another';

export interface Watch {
  /** To be told of everything that the attacker hears. */
  readonly hear: (subject: string, body: string) => void;
  /** Returns the harm that was done since the last time. */
  harm(): Promise<readonly Harm[]>;
}

interface WatchOptions {
  /** To the broker itself. */
  readonly broker: NatsConnection;
  /** The subjects on which the other one listens, with its own rights. */
  readonly victim: NatsConnection;
  readonly victimConsumer: string;
  /** The subjects that the other reader may subscribe to. */
  readonly victimSubjects: readonly string[];
  /** Stands in every event of the other one, and in none of the attacker's. */
  readonly secret: string;
  /** The beginning of the subjects under which usage of the attacker comes to the broker; null for a reader. */
  readonly sendsAs: string | null;
}

/** Watches the broker and another tenant while somebody attacks. Nobody else may write meanwhile. */
export async function watch(options: WatchOptions): Promise<Watch> {
  const { broker, victim, victimConsumer, victimSubjects, secret, sendsAs } = options;
  const manager = await broker.jetstreamManager({ checkAPI: false });
  const found = new Set<Harm>();
  const surprised = () => void found.add('another heard what nobody of its own said');
  for (const subject of victimSubjects) victim.subscribe(subject, { callback: surprised });
  // Messages on subjects of the relay alone, whether they are stored or not.
  for (const subject of ['billing.v1.>', 'live.>']) {
    broker.subscribe(subject, { callback: surprised });
  }
  broker.subscribe('sent.>', {
    callback: (_error, { subject }) => {
      if (sendsAs === null || !subject.startsWith(sendsAs)) found.add('usage was sent for another');
    },
  });
  await Promise.all([victim.flush(), broker.flush()]);
  let stream = await streamText(manager);
  let consumer = await consumerText(manager, victimConsumer);
  return {
    hear: (_subject, body) => {
      if (body.includes(secret)) found.add('what is not its own was heard');
    },
    async harm() {
      const nowStream = await streamText(manager);
      const nowConsumer = await consumerText(manager, victimConsumer);
      if (nowStream !== stream) found.add('the stream changed');
      if (nowConsumer !== consumer) found.add('the consumer of another changed');
      if (await hasPush(manager)) found.add('there is a consumer that sends where it was told to');
      [stream, consumer] = [nowStream, nowConsumer];
      // The messages that the victim hears have taken another way than the questions.
      await Promise.all([victim.flush(), broker.flush()]);
      await pause(0);
      const harm = [...found];
      found.clear();
      return harm;
    },
  };
}

async function streamText(manager: JetStreamManager): Promise<string> {
  const streams = await manager.streams
    .list()
    .next()
    .catch(() => []);
  return JSON.stringify(
    streams.map(({ config, created, state }) => [config, created, state.first_seq, state.last_seq]),
  );
}

async function consumerText(manager: JetStreamManager, name: string): Promise<string> {
  const info = await manager.consumers.info('BILLING', name).catch(() => null);
  if (info === null) return 'none';
  const { config, created, delivered, ack_floor } = info;
  // A consumer that is removed while it is told about has neither of the two, whatever the type says.
  return JSON.stringify([config, created, delivered?.consumer_seq, ack_floor?.consumer_seq]);
}

async function hasPush(manager: JetStreamManager): Promise<boolean> {
  const consumers = await manager.consumers
    .list('BILLING')
    .next()
    .catch(() => []);
  // A consumer that is removed while they are listed is null there, whatever the type says.
  return consumers.some((consumer) => consumer?.config.deliver_subject !== undefined);
}
