import { randomFrom } from './chance.ts';
import { runPart } from './client.ts';
import type { LoadResult, Plan } from './plan.ts';
import { Recorder } from './recorder.ts';
import { KeyRegister, readRequests, writeRequests } from './requests.ts';
import { Sender } from './sender.ts';
import { Tally } from './tally.ts';

/** Connections of the reads that look for the writes. */
const onlookerConnections = 32;

/** Runs a load from beginning to end. */
export async function generate(plan: Plan): Promise<LoadResult> {
  const random = randomFrom(plan.seed);
  const register = new KeyRegister();
  const startsAt = performance.now();
  const measuredAt = startsAt + plan.warmUpSeconds * 1_000;
  const endsAt = measuredAt + plan.seconds * 1_000;
  const recorder = new Recorder(measuredAt, endsAt);
  const tally = new Tally(recorder, register);
  const senders: Sender[] = [];
  const sender = (connections: number): Sender => {
    const { baseUrls, apiKey } = plan;
    const made = new Sender({ baseUrls, apiKey, connections, random });
    senders.push(made);
    return made;
  };
  const parts = plan.parts.map((part) => ({
    part,
    next:
      part.work.kind === 'writes'
        ? writeRequests(part.work, plan.keys, register, random)
        : readRequests(part.work, random),
    sender: sender(part.clients),
    onlooker: sender(onlookerConnections),
    tally,
    startsAt,
    endsAt,
  }));
  await Promise.all(parts.map(runPart));
  await Promise.all(senders.map((each) => each.close()));
  const { user, system } = process.cpuUsage();
  return {
    samples: recorder.samples(),
    answers: tally.answers,
    outcomes: register.all(),
    wronglyMarked: tally.wronglyMarked,
    lastPosition: String(tally.lastPosition),
    entries: tally.entries,
    processorSeconds: (user + system) / 1_000_000,
  };
}
