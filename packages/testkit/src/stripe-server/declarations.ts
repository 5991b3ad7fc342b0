import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDeclarations } from './parse-declarations.ts';
import type { DeclarationFile, Shape } from './shapes.ts';

/** A shape with the file and the scope in which its names are meant. */
export interface Placed {
  readonly shape: Shape;
  readonly file: string;
  readonly scope: string;
}

/** The folder of the client's modules, with their declarations. */
const folder = dirname(fileURLToPath(import.meta.resolve('stripe')));
const files = new Map<string, DeclarationFile>();

function fileAt(path: string): DeclarationFile {
  const known = files.get(path);
  if (known) return known;
  const parsed = parseDeclarations(readFileSync(join(folder, path), 'utf8'));
  files.set(path, parsed);
  return parsed;
}

/** Looks a name up as TypeScript does: in the innermost scope first, and then in what the file imports. */
function resolved(name: string, file: string, scope: string): Placed | null {
  const { declared, imported } = fileAt(file);
  for (let around = scope; ; around = around.slice(0, Math.max(0, around.lastIndexOf('.')))) {
    const full = around === '' ? name : `${around}.${name}`;
    const shape = declared.get(full);
    if (shape) return { shape, file, scope: full };
    if (around === '') break;
  }
  const [first = '', ...rest] = name.split('.');
  const found = imported.get(first);
  if (!found) return null;
  const from = join(dirname(file), found.from).replace(/\.js$/, '.d.ts');
  return resolved([found.name, ...rest].join('.'), from, '');
}

/** The shape that a name stands for. Throws where nothing declares it. */
export function shapeOf(name: string, { file, scope }: Pick<Placed, 'file' | 'scope'>): Placed {
  const found = resolved(name, file, scope);
  if (!found) throw new Error(`${file} knows no ${name} in ${scope || 'its own scope'}`);
  return found;
}

/** A declaration of the client's package, by its file among the resources and its name. */
export const published = (file: string, name: string): Placed =>
  shapeOf(name, { file: `resources/${file}.d.ts`, scope: '' });
