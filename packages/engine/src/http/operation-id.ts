import type { PlacedRoute } from './routing.ts';

/** Names of records for words of paths that differ from them; none for a word that says nothing. */
export type PathWords = Readonly<Record<string, string>>;

type NamedRoute = Pick<PlacedRoute, 'method' | 'path' | 'route'>;

const capitalised = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** `top-up` or `top_up` is `TopUp`. */
export const pascalCase = (words: string): string => words.split(/[-_]/).map(capitalised).join('');

const isPlural = (word: string): boolean => /[^s]s$/.test(word);
const singular = (word: string): string => word.replace(/xes$/, 'x').replace(/([^s])s$/, '$1');
const isPlaceholder = (segment: string | undefined): boolean => segment?.startsWith('{') ?? false;

/** The nouns of a path in order, and the ` By…` of what names a record other than its id. */
function wordsOf(path: string, pathWords: PathWords) {
  const segments = path.slice(1).split('/');
  const nouns: string[] = [];
  let by = '';
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    const word = pathWords[segment] ?? segment;
    if (isPlaceholder(segment) || word === '') continue;
    if (isPlaceholder(next) && !isPlural(word)) by = `By${pascalCase(next?.slice(1, -1) ?? '')}`;
    else nouns.push(next === undefined ? word : singular(word));
  }
  return { nouns, by, endsInRecord: isPlaceholder(segments.at(-1)) };
}

/** The kind of record that a path is about: `WalletHold` for `/wallets/{id}/holds`. */
export function recordName(path = '', pathWords: PathWords = {}): string {
  return wordsOf(path, pathWords)
    .nouns.map((noun) => pascalCase(singular(noun)))
    .join('');
}

/** A path of many records, none of which it names. */
const isList = ({ path }: NamedRoute): boolean => !path.includes('{') && isPlural(path);

/** The verb of a route whose path names a record or a collection, and no action on it. */
function plainVerb(named: NamedRoute): string {
  switch (named.method) {
    case 'GET':
      return isList(named) ? 'list' : 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
  }
}

/**
 * The name of an operation in generated clients: the route's own, or a verb and the records of its path.
 * `POST /wallets/{id}/debit` is `debitWallet`, `POST /wallets/search` is `queryWallet`, and
 * `GET /prices/lookup/{lookup_key}` is `getPriceByLookupKey`.
 */
export function operationId(named: NamedRoute, pathWords: PathWords = {}): string {
  if (named.route.operationId !== undefined) return named.route.operationId;
  const { nouns, by, endsInRecord } = wordsOf(named.path, pathWords);
  const last = nouns.at(-1) ?? '';
  const owners = nouns.slice(0, -1);
  const name = (verb: string, words: readonly string[]): string => {
    const [first = '', ...rest] = verb.split('-');
    return first + [...rest, ...words].map(pascalCase).join('') + by;
  };
  if (endsInRecord) return name(plainVerb(named), [...owners, singular(last)]);
  if (named.method !== 'POST') return name(plainVerb(named), nouns);
  if (last === 'search') return name('query', owners);
  if (last === 'bulk') {
    const records = owners.map((word, at) => (at === owners.length - 1 ? `${word}s` : word));
    return name('create', [...records, 'bulk']);
  }
  return isPlural(last) ? name('create', [...owners, singular(last)]) : name(last, owners);
}
