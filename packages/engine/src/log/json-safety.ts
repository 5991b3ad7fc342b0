/** Nesting beyond this is a mistake, most likely a cycle, and is refused before the stack ends. */
const depthMaximum = 100;

/**
 * The JSON text of a value that JSON carries without loss: plain objects, arrays, well-formed
 * strings, finite numbers, booleans and null. Members that are `undefined` are left out, as in
 * the canonical form that is hashed.
 *
 * Throws a TypeError that names the place of anything else. It is stricter than
 * `JSON.stringify`, which silently changes a Date, a Map or an instance of a class, and which throws on
 * a bigint inside the event store's client, where nothing can catch it.
 */
export function safeJson(value: unknown, name: string): string {
  const fault = faultOf(value, 0);
  if (fault) throw new TypeError(`${name}${fault.place}: JSON cannot carry ${fault.what}`);
  return JSON.stringify(value);
}

interface Fault {
  readonly place: string;
  readonly what: string;
}

const fault = (what: string): Fault => ({ place: '', what });

/** The fault of a value; null when there is none, for which no path has to be put together. */
function faultOf(value: unknown, depth: number): Fault | null {
  switch (typeof value) {
    case 'boolean':
      return null;
    case 'string':
      return value.isWellFormed() ? null : fault('a lone surrogate');
    case 'number':
      return Number.isFinite(value) ? null : fault(String(value));
    case 'object':
      return value === null ? null : faultOfObject(value, depth + 1);
    default:
      return fault(typeof value);
  }
}

function faultOfObject(value: object, depth: number): Fault | null {
  if (depth > depthMaximum) return fault(`more than ${depthMaximum} levels`);
  if (Array.isArray(value)) return faultOfArray(value, depth);
  if (!isPlainObject(value)) return fault(`an instance of ${value.constructor?.name}`);
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return fault('a name with a lone surrogate');
    const found = value[key] === undefined ? null : faultOf(value[key], depth);
    if (found) return { ...found, place: `.${key}${found.place}` };
  }
  return null;
}

function faultOfArray(value: readonly unknown[], depth: number): Fault | null {
  // Not `forEach`: it skips holes, and a hole is an undefined element.
  for (let index = 0; index < value.length; index += 1) {
    const found = faultOf(value[index], depth);
    if (found) return { ...found, place: `[${index}]${found.place}` };
  }
  return null;
}

/** Tells whether a value is an object literal or an object made by JSON.parse. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
