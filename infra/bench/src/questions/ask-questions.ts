import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { Recorder } from '../load/recorder.ts';
import type { QuestionLoad, QuestionPlan } from './plan.ts';

/** Connections of an open loop: more questions than that wait for one another. */
const openConnections = 64;

/** Asks questions until its time is over. An answer is timed from the instant at which it was to be asked for. */
export async function askQuestions(plan: QuestionPlan): Promise<QuestionLoad> {
  const startsAt = performance.now();
  const measuredAt = startsAt + plan.warmUpSeconds * 1_000;
  const endsAt = measuredAt + plan.seconds * 1_000;
  const asker = new Asker(plan, new Recorder(measuredAt, endsAt));
  const { pace } = plan;
  if (pace.kind === 'closed') {
    await Promise.all(Array.from({ length: pace.clients }, () => asker.askUntil(endsAt)));
  } else {
    await asker.askAtRate(startsAt, endsAt, pace.perSecond);
  }
  return asker.end();
}

class Asker {
  readonly #plan: QuestionPlan;
  readonly #recorder: Recorder;
  readonly #pool: Pool;
  readonly #answers: Record<string, number> = {};
  #wrong = 0;
  #asked = 0;

  constructor(plan: QuestionPlan, recorder: Recorder) {
    this.#plan = plan;
    this.#recorder = recorder;
    const connections = plan.pace.kind === 'closed' ? plan.pace.clients : openConnections;
    this.#pool = new Pool(plan.baseUrl, { connections, pipelining: 1 });
  }

  async askUntil(endsAt: number): Promise<void> {
    while (performance.now() < endsAt) await this.#ask(performance.now());
  }

  async askAtRate(startsAt: number, endsAt: number, perSecond: number): Promise<void> {
    const underWay: Promise<void>[] = [];
    for (let at = startsAt; at < endsAt; at += 1_000 / perSecond) {
      const ahead = at - performance.now();
      if (ahead > 0) await pause(ahead);
      underWay.push(this.#ask(at));
    }
    await Promise.all(underWay);
  }

  async end(): Promise<QuestionLoad> {
    await this.#pool.close();
    return {
      samples: this.#recorder.samples(),
      answers: this.#answers,
      wrong: this.#wrong,
      asked: this.#asked,
    };
  }

  async #ask(at: number): Promise<void> {
    const { name, path, member, questions, apiKey } = this.#plan;
    const question = questions[this.#asked % questions.length];
    this.#asked += 1;
    if (!question) return;
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const answer = await this.#pool.request({
      method: question.body === null ? 'GET' : 'POST',
      path: question.path ?? path,
      headers,
      body: question.body,
    });
    const text = await answer.body.text();
    this.#recorder.note(name, at, performance.now(), 0);
    const status = String(answer.statusCode);
    const value = status === '200' ? memberOf(JSON.parse(text), member) : null;
    const kind = question.expected === null ? `${status} ${value}` : status;
    this.#answers[kind] = (this.#answers[kind] ?? 0) + 1;
    const isRight = question.expected === null || value === question.expected;
    if (status !== '200' || !isRight) this.#wrong += 1;
  }
}

const memberOf = (answer: unknown, way: QuestionPlan['member']): unknown =>
  way.reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name],
    answer,
  );
