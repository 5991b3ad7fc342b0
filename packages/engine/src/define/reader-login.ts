import { environmentSubjects, livePrefix, publicStream } from '../relay/subject.ts';
import type { BrokerLogin } from './event-broker.ts';
import type { FeedScope } from './public-feed.ts';

/**
 * What a downstream system may do on NATS. It may ask for messages of its own consumer, look at
 * that consumer and confirm what it got, and listen to the live subjects of its environment.
 *
 * It may not create consumers: one that pushes could be pointed at the subjects of another tenant,
 * who would take what arrives there for his own. Names are listed in full, because wildcards of
 * NATS stand for whole words only.
 */
export function readerLogin(name: string, scope: FeedScope): BrokerLogin {
  const inboxPrefix = `_INBOX_${name}`;
  const liveSubjects = `${livePrefix}.${environmentSubjects(scope)}`;
  return {
    user: name,
    stream: publicStream,
    publish: [
      `$JS.API.CONSUMER.INFO.${publicStream}.${name}`,
      `$JS.API.CONSUMER.MSG.NEXT.${publicStream}.${name}`,
      `$JS.ACK.${publicStream}.${name}.>`,
      // Servers from 2.15 on put domain and account in front.
      `$JS.ACK.*.*.${publicStream}.${name}.>`,
    ],
    subscribe: [`${inboxPrefix}.>`, liveSubjects],
    inboxPrefix,
    liveSubjects,
  };
}
