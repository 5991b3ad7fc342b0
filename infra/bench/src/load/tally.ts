import { outcomes } from './plan.ts';
import type { Recorder } from './recorder.ts';
import type { KeyRegister, LoadRequest } from './requests.ts';
import type { Answer } from './sender.ts';

/** Counts the outcomes of the requests of a load, all parts together. */
export class Tally {
  readonly answers: Record<string, number> = {};
  wronglyMarked = 0;
  lastPosition = 0n;
  entries = 0;
  readonly #recorder: Recorder;
  readonly #register: KeyRegister;

  constructor(recorder: Recorder, register: KeyRegister) {
    this.#recorder = recorder;
    this.#register = register;
  }

  /** Counts an answer that did not end its request: it is sent again. */
  retried({ code }: Extract<Answer, { kind: 'unknown' }>): void {
    this.#count(`${code}, repeated`);
  }

  /**
   * Counts the last answer to a request.
   *
   * @param attempts the number of times it was sent: only the first answer of a key that was sent once must
   *   not say that it is a repetition
   */
  finished(request: LoadRequest, answer: Answer, intendedAt: number, attempts: number): void {
    const { number, isRepeat } = request;
    switch (answer.kind) {
      case 'success': {
        const isMarked = answer.isReplayed === isRepeat || attempts > 1 || number === null;
        if (!isMarked) this.wronglyMarked += 1;
        if (answer.position !== null && answer.position > this.lastPosition) {
          this.lastPosition = answer.position;
        }
        if (number !== null) this.#register.set(number, outcomes.acknowledged);
        this.entries += request.entries;
        this.#count('success');
        this.#recorder.note(request.name, intendedAt, performance.now(), request.entries);
        break;
      }
      case 'refused':
        if (number !== null && !isRepeat) this.#register.set(number, outcomes.refused);
        this.#count(answer.code);
        this.#recorder.note('refusals', intendedAt, performance.now(), 0);
        break;
      case 'unknown':
        this.#count(answer.code);
        break;
      default:
        answer satisfies never;
    }
  }

  /** Records the time from its answer until a write was seen in the read model. */
  seen(answeredAt: number): void {
    this.#recorder.note('answer to visible', answeredAt, performance.now(), 0);
  }

  /** Counts a request that was not sent because too many were waiting already. */
  notSent(): void {
    this.#count('not sent, too many waiting');
  }

  #count(name: string): void {
    this.answers[name] = (this.answers[name] ?? 0) + 1;
  }
}
