import { fileURLToPath } from 'node:url';

/** The place of a function, as V8's profiles name it. */
interface CallFrame {
  readonly functionName: string;
  /** Empty for what V8 and Node bring in machine code. */
  readonly url: string;
  /** Counted from 0. */
  readonly lineNumber: number;
}

/** A function at one place of the tree of calls. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

/** A processor profile as V8 writes it (`.cpuprofile`). Times are microseconds. */
export interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

/** Microseconds of something, and its part of the time in which the process was busy. */
export interface Share {
  readonly name: string;
  readonly self: number;
}

/** A function with the time of all that it calls. */
export interface FunctionShare extends Share {
  readonly total: number;
}

/** The time of one process by who spent it. Times are microseconds. */
export interface Summary {
  readonly busy: number;
  readonly packages: readonly Share[];
  readonly functions: readonly FunctionShare[];
}

/** Nodes that stand for no work of the process. */
const resting = new Set(['(idle)', '(root)']);
/** Nodes that stand for work of the machine and not of whoever called. */
const machinery = new Set(['(garbage collector)', '(program)']);

/**
 * The package that code belongs to. Of our own code the folder below `src` is named too: `engine/http`. `root` is
 * the folder of the checkout, with a slash at the end.
 */
export function packageOf(url: string, root: string): string {
  if (url.startsWith('node:')) return `node:${url.slice(5).replace('internal/', '').split('/')[0]}`;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  if (dependency) return dependency;
  const own = path.startsWith(root) ? path.slice(root.length) : path;
  const [, name, room] =
    /^(?:packages|apps|infra)\/([^/]+)(?:\/src)?(?:\/([^/]+)\/)?/.exec(own) ?? [];
  if (!name) return own || 'unknown';
  return room ? `${name}/${room}` : name;
}

const nameOf = ({ functionName, url, lineNumber }: CallFrame, owner: string): string => {
  const name = functionName || '(anonymous)';
  if (resting.has(name) || machinery.has(name)) return name;
  if (url === '') return `${name} [machine code] in ${owner}`;
  return `${name} in ${owner}, ${url.split('/').at(-1)}:${lineNumber + 1}`;
};

function add(sums: Map<string, number>, name: string, time: number): void {
  sums.set(name, (sums.get(name) ?? 0) + time);
}

const descending = (sums: ReadonlyMap<string, number>): Share[] =>
  [...sums].map(([name, self]) => ({ name, self })).sort((left, right) => right.self - left.self);

/** Microseconds that were spent in each node itself, by its id. */
function selfTimes({ samples = [], timeDeltas = [] }: Profile): Map<number, number> {
  const times = new Map<number, number>();
  for (const [index, id] of samples.entries()) {
    // The time from this look to the next was spent here.
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[index + 1] ?? 0));
  }
  return times;
}

/**
 * Adds up a profile by package and by function. What machine code takes counts for the package that called it. A
 * function that calls itself counts once in its total.
 */
export function summarise(profile: Profile, root: string): Summary {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const times = selfTimes(profile);
  const packages = new Map<string, number>();
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  let busy = 0;

  /** Returns the time of a node and of all below it. */
  function visit(node: ProfileNode, caller: string, above: ReadonlySet<string>): number {
    const { callFrame } = node;
    const isMachinery = machinery.has(callFrame.functionName);
    const owner = callFrame.url === '' ? caller : packageOf(callFrame.url, root);
    const name = nameOf(callFrame, owner);
    const isResting = resting.has(callFrame.functionName);
    const own = isResting ? 0 : (times.get(node.id) ?? 0);
    busy += own;
    add(packages, isMachinery ? callFrame.functionName : owner, own);
    add(self, name, own);
    const path = new Set([...above, name]);
    let sum = own;
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child) sum += visit(child, owner, path);
    }
    if (!above.has(name)) add(total, name, sum);
    return sum;
  }

  const [root_] = profile.nodes;
  if (root_) visit(root_, 'node', new Set());
  return {
    busy,
    packages: descending(packages).filter((share) => share.self > 0),
    functions: descending(self).map((share) => ({ ...share, total: total.get(share.name) ?? 0 })),
  };
}

const shownPackages = 40;
const shownFunctions = 60;

/** A summary as text, for a person. `entries` is the number of entries that the time was spent on. */
export function describeSummary(title: string, summary: Summary, entries: number): string {
  const { busy, packages, functions } = summary;
  const figures = (time: number): string => {
    const share = `${((100 * time) / Math.max(1, busy)).toFixed(1)} %`;
    return `${share.padStart(7)} ${(time / Math.max(1, entries)).toFixed(1).padStart(8)}`;
  };
  return [
    `# ${title}`,
    '',
    `Busy for ${(busy / 1_000).toFixed(0)} ms, with ${entries} entries.`,
    'Shares are of the busy time; times are µs per entry. Machine code counts for the package that called it.',
    '',
    '  share     self  package, or room of ours',
    ...packages.slice(0, shownPackages).map(({ name, self }) => `${figures(self)}  ${name}`),
    '',
    '  share     self     total  function',
    ...functions.slice(0, shownFunctions).map(({ name, self, total }) => {
      const whole = (total / Math.max(1, entries)).toFixed(1).padStart(9);
      return `${figures(self)} ${whole}  ${name}`;
    }),
    '',
  ].join('\n');
}
