import { Problem } from '@counterfoil/kernel';

/** The values of the placeholders of a path, by name. */
export type PathParameters = Readonly<Record<string, string>>;

/** The finding at a path, with the values that its placeholders have in the path of a request. */
export interface Found<Standing> {
  readonly standing: Standing;
  readonly parameters: PathParameters;
}

/** The end of one path, with the names of its placeholders in their order. */
interface Place<Standing> {
  readonly standing: Standing;
  readonly names: readonly string[];
}

/** The paths that have all segments up to here in common. */
interface Branch<Standing> {
  place: Place<Standing> | null;
  /** The branch of each segment that stands for itself. */
  readonly plain: Map<string, Branch<Standing>>;
  /** The branch of a segment that is a placeholder. */
  other: Branch<Standing> | null;
}

const newBranch = <Standing>(): Branch<Standing> => ({
  place: null,
  plain: new Map(),
  other: null,
});

const placeholder = /^\{(\w+)\}$/;

/**
 * Finds what stands at the path of a request, given what stands at paths such as `/wallets/{id}`. It goes along the
 * segments of the path and not along the list of paths, so a look-up costs the same however many there are. A
 * segment that stands for itself wins over a placeholder. A slash at the end changes nothing; a placeholder takes no
 * empty segment. Null where nothing stands; a 400 `Problem` for a placeholder whose percent-encoding is malformed.
 */
export function indexPaths<Standing>(
  paths: Iterable<readonly [path: string, standing: Standing]>,
): (path: string) => Found<Standing> | null {
  const root = newBranch<Standing>();
  for (const [path, standing] of paths) {
    const names: string[] = [];
    let branch = root;
    for (const segment of segmentsOf(path)) {
      const [, name] = placeholder.exec(segment) ?? [];
      if (name === undefined) branch = plainBranch(branch, segment);
      else {
        branch.other ??= newBranch();
        branch = branch.other;
        names.push(name);
      }
    }
    branch.place = { standing, names };
  }
  return (path) => {
    const values: string[] = [];
    const place = search(root, segmentsOf(path), 0, values);
    return place && { standing: place.standing, parameters: parametersOf(place.names, values) };
  };
}

function plainBranch<Standing>(branch: Branch<Standing>, segment: string): Branch<Standing> {
  const known = branch.plain.get(segment);
  if (known) return known;
  const made = newBranch<Standing>();
  branch.plain.set(segment, made);
  return made;
}

function segmentsOf(path: string): string[] {
  const segments = path.split('/');
  segments.shift();
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  return segments;
}

/** Goes on from the segment at an index, and leaves the values of the placeholders that it went by. */
function search<Standing>(
  branch: Branch<Standing>,
  segments: readonly string[],
  index: number,
  values: string[],
): Place<Standing> | null {
  const segment = segments[index];
  if (segment === undefined) return branch.place;
  const plain = branch.plain.get(segment);
  const found = plain ? search(plain, segments, index + 1, values) : null;
  if (found || branch.other === null || segment === '') return found;
  values.push(segment);
  const other = search(branch.other, segments, index + 1, values);
  if (other === null) values.pop();
  return other;
}

function parametersOf(names: readonly string[], values: readonly string[]): PathParameters {
  const parameters: Record<string, string> = {};
  for (const [index, name] of names.entries()) parameters[name] = decoded(values[index] ?? '');
  return parameters;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Problem('validation_error', 'The path cannot be decoded. Check its encoding.');
  }
}
