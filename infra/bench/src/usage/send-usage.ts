import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { Recorder } from '../load/recorder.ts';
import { bodyOf } from './events.ts';
import type { UsageLoad, UsagePlan } from './plan.ts';

/** Longest wait for an answer; the API itself gives up before. */
const answerMilliseconds = 40_000;
const repeatMilliseconds = 50;

/** The events of a request as its answer counts them. */
interface Told {
  readonly accepted: number;
  readonly repeated: number;
  readonly position: bigint;
}

/** Sends usage until its time is over. Each request is repeated until it has a final answer. */
export async function sendUsage(plan: UsagePlan): Promise<UsageLoad> {
  const startsAt = performance.now();
  const measuredAt = startsAt + plan.warmUpSeconds * 1_000;
  const endsAt = measuredAt + plan.seconds * 1_000;
  const recorder = new Recorder(measuredAt, endsAt);
  const senders = new Senders(plan, recorder);
  await Promise.all(
    Array.from({ length: plan.clients }, () => senders.sendUntil(startsAt, endsAt)),
  );
  return senders.end();
}

class Senders {
  readonly #plan: UsagePlan;
  readonly #recorder: Recorder;
  readonly #pool: Pool;
  readonly #answers: Record<string, number> = {};
  #requests = 0;
  #accepted = 0;
  #repeated = 0;
  #retried = 0;
  #refused = 0;
  #lastPosition = 0n;

  constructor(plan: UsagePlan, recorder: Recorder) {
    this.#plan = plan;
    this.#recorder = recorder;
    this.#pool = new Pool(plan.baseUrl, {
      connections: plan.clients,
      pipelining: 1,
      headersTimeout: answerMilliseconds,
      bodyTimeout: answerMilliseconds,
    });
  }

  async sendUntil(startsAt: number, endsAt: number): Promise<void> {
    const { ids, events, eventsPerSecond, repeatedEvery } = this.#plan;
    while (performance.now() < endsAt) {
      const request = this.#requests;
      this.#requests += 1;
      const dueAt =
        eventsPerSecond === null ? 0 : startsAt + (request * events * 1_000) / eventsPerSecond;
      const ahead = dueAt - performance.now();
      if (ahead > 0) await pause(ahead);
      const body = bodyOf(ids, request, events);
      await this.#send(body, true);
      if (repeatedEvery > 0 && request % repeatedEvery === 0) await this.#send(body, false);
    }
  }

  async end(): Promise<UsageLoad> {
    await this.#pool.close();
    const { user, system } = process.cpuUsage();
    return {
      samples: this.#recorder.samples(),
      answers: this.#answers,
      requests: this.#requests,
      accepted: this.#accepted,
      repeated: this.#repeated,
      retried: this.#retried,
      refused: this.#refused,
      lastPosition: String(this.#lastPosition),
      processorSeconds: (user + system) / 1_000_000,
    };
  }

  async #send(body: string, isNew: boolean): Promise<void> {
    const { events } = this.#plan;
    const sentAt = performance.now();
    for (;;) {
      const told = await this.#sendOnce(body);
      if (told === 'refused') {
        this.#refused += 1;
        return;
      }
      if (told === null) {
        this.#retried += 1;
        await pause(repeatMilliseconds);
        continue;
      }
      this.#accepted += told.accepted;
      this.#repeated += told.repeated;
      if (told.position > this.#lastPosition) this.#lastPosition = told.position;
      const kind = events === 1 ? 'single events' : `bulks of ${events}`;
      const name = isNew ? kind : `${kind}, sent again`;
      this.#recorder.note(name, sentAt, performance.now(), isNew ? events : 0);
      return;
    }
  }

  async #sendOnce(body: string): Promise<Told | 'refused' | null> {
    const { apiKey, events } = this.#plan;
    try {
      const answer = await this.#pool.request({
        method: 'POST',
        path: events === 1 ? '/v1/events' : '/v1/events/bulk',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body,
      });
      const text = await answer.body.text();
      this.#count(String(answer.statusCode));
      if (answer.statusCode === 202) {
        const { accepted = 1, repeated = 0 } = JSON.parse(text);
        const position = answer.headers['counterfoil-position'];
        return { accepted, repeated, position: BigInt(String(position ?? 0)) };
      }
      return answer.statusCode < 500 && answer.statusCode !== 429 ? 'refused' : null;
    } catch (error) {
      this.#count(error instanceof Error ? error.name : 'failed');
      return null;
    }
  }

  #count(kind: string): void {
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1;
  }
}
