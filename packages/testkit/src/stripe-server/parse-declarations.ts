import type { DeclarationFile, Members, Shape } from './shapes.ts';

const token =
  /\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|([A-Za-z_$][\w$]*)|(-?\d+(?:\.\d+)?)|(=>|\.\.\.|[\s\S])/g;

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (const [, quoted, word, number, sign] of text.matchAll(token)) {
    const found = quoted ?? word ?? number ?? sign;
    if (found !== undefined) tokens.push(found);
  }
  return tokens;
}

const basic: ReadonlyMap<string, Shape> = new Map([
  ['string', { kind: 'text' }],
  ['number', { kind: 'number' }],
  ['boolean', { kind: 'boolean' }],
  ['null', { kind: 'null' }],
  ['true', { kind: 'literal', value: true }],
  ['false', { kind: 'literal', value: false }],
  ['void', { kind: 'never' }],
  ['undefined', { kind: 'never' }],
  ['never', { kind: 'never' }],
  ['any', { kind: 'anything' }],
  ['unknown', { kind: 'anything' }],
  ['Date', { kind: 'anything' }],
]);

/** Reads the interfaces, types and namespaces of one file of declarations, as generators write them. */
export function parseDeclarations(text: string): DeclarationFile {
  const parser = new Parser(tokensOf(text));
  parser.file();
  return parser;
}

class Parser implements DeclarationFile {
  readonly declared = new Map<string, Shape>();
  readonly imported = new Map<string, { from: string; name: string }>();
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  file(): void {
    this.#statements('');
  }

  get #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #take(): string {
    this.#at += 1;
    return this.#tokens[this.#at - 1] ?? '';
  }

  #has(text: string): boolean {
    if (this.#next !== text) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#has(text)) {
      const around = this.#tokens.slice(Math.max(0, this.#at - 5), this.#at + 5).join(' ');
      throw new Error(`expected ${text} at: ${around}`);
    }
  }

  #statements(scope: string): void {
    while (this.#next !== '' && this.#next !== '}') {
      const word = this.#take();
      if (word === 'import') this.#import();
      else if (word === 'namespace') this.#namespace(scope);
      else if (word === 'interface') this.#interface(scope);
      else if (word === 'type' && this.#tokens[this.#at] !== '{') this.#alias(scope);
      else if (word !== 'export' && word !== 'declare') this.#skipStatement();
    }
  }

  #import(): void {
    this.#has('type');
    const names: [string, string][] = [];
    while (this.#next !== 'from' && this.#next !== ';') {
      const name = this.#take();
      if (!/^[\w$]+$/.test(name)) continue;
      names.push([name, this.#has('as') ? this.#take() : name]);
    }
    if (!this.#has('from')) {
      this.#has(';');
      return;
    }
    const from = unquoted(this.#take());
    for (const [name, own] of names) this.imported.set(own, { from, name });
    this.#has(';');
  }

  #namespace(scope: string): void {
    const name = within(scope, this.#take());
    this.#expect('{');
    this.#statements(name);
    this.#expect('}');
  }

  #interface(scope: string): void {
    const name = within(scope, this.#take());
    if (this.#next === '<') this.#skipGroup('<', '>');
    const parents: string[] = [];
    if (this.#has('extends')) {
      while (this.#next !== '{') {
        const parent = this.#take();
        if (parent === '<') {
          this.#at -= 1;
          this.#skipGroup('<', '>');
        } else if (parent !== ',') parents.push(parent);
      }
    }
    this.declared.set(name, { kind: 'members', members: this.#members(parents) });
  }

  #alias(scope: string): void {
    const name = within(scope, this.#take());
    if (this.#next === '<') this.#skipGroup('<', '>');
    this.#expect('=');
    this.declared.set(name, this.#union());
    this.#expect(';');
  }

  #members(parents: readonly string[]): Members {
    const named = new Map<string, { shape: Shape; isOptional: boolean }>();
    let others: Shape | null = null;
    this.#expect('{');
    while (!this.#has('}')) {
      this.#has('readonly');
      if (this.#has('[')) {
        while (!this.#has(']')) this.#take();
        this.#expect(':');
        others = this.#union();
      } else {
        const name = unquoted(this.#take());
        const isOptional = this.#has('?');
        this.#expect(':');
        named.set(name, { shape: this.#union(), isOptional });
      }
      if (!this.#has(';')) this.#has(',');
    }
    return { named, others, extends: parents };
  }

  #union(): Shape {
    this.#has('|');
    const of = [this.#part()];
    while (this.#has('|')) of.push(this.#part());
    return of.length === 1 ? (of[0] ?? { kind: 'never' }) : { kind: 'union', of };
  }

  #part(): Shape {
    let shape = this.#primary();
    while (this.#next === '[' && this.#tokens[this.#at + 1] === ']') {
      this.#at += 2;
      shape = { kind: 'list', of: shape };
    }
    // Of an intersection the first part says what can be checked.
    while (this.#has('&')) this.#primary();
    return shape;
  }

  #primary(): Shape {
    if (this.#next === '{') return { kind: 'members', members: this.#members([]) };
    const word = this.#take();
    if (word === '(') {
      const inner = this.#union();
      this.#expect(')');
      return inner;
    }
    if (/^['"]/.test(word)) return { kind: 'literal', value: unquoted(word) };
    if (/^-?\d/.test(word)) return { kind: 'literal', value: Number(word) };
    const known = basic.get(word);
    if (known) return known;
    let name = word;
    while (this.#has('.')) name += `.${this.#take()}`;
    const of: Shape[] = [];
    if (this.#has('<')) {
      while (!this.#has('>')) {
        of.push(this.#union());
        this.#has(',');
      }
    }
    return name === 'Array'
      ? { kind: 'list', of: of[0] ?? { kind: 'anything' } }
      : { kind: 'named', name, of };
  }

  #skipGroup(open: string, close: string): void {
    let depth = 0;
    do {
      const word = this.#take();
      depth += word === open ? 1 : word === close ? -1 : 0;
    } while (depth > 0 && this.#next !== '');
  }

  /** Skips what is neither an interface nor a type: a class, a constant, an export of names. */
  #skipStatement(): void {
    while (this.#next !== '' && this.#next !== ';' && this.#next !== '{') this.#take();
    if (this.#next === '{') this.#skipGroup('{', '}');
    this.#has(';');
  }
}

const within = (scope: string, name: string): string => (scope === '' ? name : `${scope}.${name}`);

const unquoted = (text: string): string => text.replace(/^['"]|['"]$/g, '');
