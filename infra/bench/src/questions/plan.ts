import type { Sample } from '../load/plan.ts';

/** A question, and the value that its answer must have; null where any will do, and each is counted. */
export interface Question {
  /** Null: it is asked by its address alone. */
  readonly body: string | null;
  /** Its own address, where it is not that of all. */
  readonly path?: string;
  readonly expected: string | null;
}

/** The order for one load of questions about usage. */
export interface QuestionPlan {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly name: string;
  readonly path: string;
  /** The way to the member of the answers that is looked at. */
  readonly member: readonly (string | number)[];
  /** They are asked in turn. */
  readonly questions: readonly Question[];
  /** Clients that each ask again when they are answered, or questions a second whatever answers take. */
  readonly pace:
    | { readonly kind: 'closed'; readonly clients: number }
    | { readonly kind: 'open'; readonly perSecond: number };
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** The answers that were given. */
export interface QuestionLoad {
  readonly samples: readonly Sample[];
  readonly answers: Readonly<Record<string, number>>;
  /** Answers with another value than the right one. */
  readonly wrong: number;
  readonly asked: number;
}
