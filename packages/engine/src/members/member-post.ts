import { LRUCache } from 'lru-cache';
import type { Nats } from '../nats/nats-connection.ts';
import { openMessages } from '../nats/nats-messages.ts';
import type { Member } from './live-members.ts';
import type { Sealing } from './sealing.ts';

/** A message between members, with the sender's count of its messages and its time in milliseconds. */
interface Letter {
  readonly from: Member;
  readonly number: number;
  readonly at: number;
  readonly content: unknown;
}

/** The kinds of messages that go to one member. */
export type PostKind = 'requests' | 'answers';

export interface PostOptions {
  readonly nats: Nats;
  readonly sealing: Sealing;
  readonly self: Member;
  readonly onAnnounced: (from: Member, content: unknown) => void;
  readonly onPost: (from: Member, kind: PostKind, content: unknown) => void;
  /** Nobody listened to a message for this member. */
  readonly onUndelivered: (member: string) => void;
  readonly onOpen: () => void;
}

/** The way from member to member. */
export interface MemberPost {
  isOpen(): boolean;
  announce(content: unknown): void;
  /** Sends to one member; false when that cannot be. */
  send(to: string, kind: PostKind, content: unknown): boolean;
  close(): Promise<void>;
}

/** Members whose last number is remembered. */
const sendersMaximum = 1_000;
/** An older letter waited where it was of no use any more. Members' clocks differ by some seconds. */
const oldestMilliseconds = 20_000;

/** Opens the post of a member on the subjects `counterfoil.api.<installation>.…`. */
export function openMemberPost(options: PostOptions): MemberPost {
  const { nats, sealing, self } = options;
  const root = `counterfoil.api.${sealing.installation}`;
  const announcements = `${root}.members`;
  const box = (member: string, kind: PostKind): string => `${root}.${member}.${kind}`;
  const undelivered = `${root}.${self.id}.undelivered`;
  const lastNumbers = new LRUCache<string, number>({ max: sendersMaximum });
  let sent = 0;

  const seal = (subject: string, content: unknown): Uint8Array => {
    sent += 1;
    const letter: Letter = { from: self, number: sent, at: Date.now(), content };
    return sealing.seal(subject, letter);
  };
  /** A letter counts once: one that somebody has recorded and sends again is none. */
  const open = (subject: string, bytes: Uint8Array): Letter | null => {
    const letter = sealing.open(subject, bytes) as Letter | null;
    if (!letter || letter.from.id === self.id) return null;
    const box = `${letter.from.id} ${subject}`;
    if (letter.number <= (lastNumbers.get(box) ?? 0)) return null;
    lastNumbers.set(box, letter.number);
    return Math.abs(Date.now() - letter.at) > oldestMilliseconds ? null : letter;
  };

  const messages = openMessages(nats, {
    subjects: [announcements, `${root}.${self.id}.>`],
    onOpen: options.onOpen,
    take: ({ subject, bytes, isUndelivered }) => {
      if (isUndelivered) {
        options.onUndelivered(subject.slice(undelivered.length + 1));
        return;
      }
      const letter = open(subject, bytes);
      if (!letter) return;
      const { from, content } = letter;
      if (subject === announcements) options.onAnnounced(from, content);
      else if (subject === box(self.id, 'requests')) options.onPost(from, 'requests', content);
      else if (subject === box(self.id, 'answers')) options.onPost(from, 'answers', content);
    },
  });
  return {
    isOpen: messages.isOpen,
    announce: (content) => void messages.send(announcements, seal(announcements, content)),
    send: (to, kind, content) => {
      const subject = box(to, kind);
      return messages.send(subject, seal(subject, content), `${undelivered}.${to}`);
    },
    close: messages.close,
  };
}
