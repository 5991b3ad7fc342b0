import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScannedText, scanText } from './scan.ts';

/** One import or re-export of a file. */
export interface Import {
  /** The text in the quotes. */
  readonly target: string;
  readonly line: number;
  /** True when it imports types only and so leaves nothing at run time. */
  readonly isTypeOnly: boolean;
}

/** A text file of the checkout. */
export interface Source {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The number of lines; the end of the last line begins no further one. */
  readonly lineCount: number;
  /** Code files only; undefined for documents and configuration. */
  readonly scanned: ScannedText | undefined;
  readonly imports: readonly Import[];
}

/** A breach of a rule. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type Rule = (sources: readonly Source[]) => Violation[];

const FOLDERS = ['packages', 'apps', 'infra', 'docs', '.ci'];
const TEXT_NAMES =
  /\.(?:[cm]?[jt]s|md|json|ya?ml|sh|sql|conf|html|css)$|(?:^|\/)(?:run|Dockerfile)$/;
const CODE_NAMES = /\.[cm]?[jt]s$/;
const ROOT_NAMES = /^(?:[A-Z]+\.md|[a-z]+\.json|\.env\.example|\.dockerignore|\.gitignore)$/;
/** Made by npm. */
const GENERATED = ['package-lock.json'];

/** Reads all text files of a checkout that are written by hand. */
export function readSources(root: string): Source[] {
  const inFolders = FOLDERS.flatMap((folder) => pathsUnder(root, folder));
  const inRoot = namesIn(root).filter((name) => ROOT_NAMES.test(name));
  return [...inRoot, ...inFolders]
    .filter((path) => !GENERATED.includes(path) && !path.startsWith('docs/reference/'))
    .sort()
    .map((path) => sourceOf(path, readFileSync(join(root, path), 'utf8')));
}

/** Makes a source of a text, as `readSources` does for files. */
export function sourceOf(path: string, text: string): Source {
  const scanned = CODE_NAMES.test(path) ? scanText(text) : undefined;
  return {
    path,
    text,
    lineCount: text.replace(/\n$/, '').split('\n').length,
    scanned,
    imports: scanned === undefined ? [] : importsOf(scanned),
  };
}

/** The number of the line, from 1, in which a position of a text lies. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/** Every match of a pattern (with flag g) in a text, with its line. */
export function matchesOf(text: string, pattern: RegExp): { line: number; match: string }[] {
  return [...text.matchAll(pattern)].map((found) => ({
    line: lineAt(text, found.index),
    match: found[0],
  }));
}

const STATEMENT = /\b(import|export)\b(\s+type\b)?([^'"`;()]*?\bfrom\s*)?\s*['"]([^'"\n]+)['"]/g;
const CALL = /\bimport(?:\.meta\.resolve)?\s*\(\s*['"]([^'"\n]+)['"]/g;

function importsOf({ code, codeAndStrings }: ScannedText): Import[] {
  const statements = [...codeAndStrings.matchAll(STATEMENT)]
    .filter((found) => startsInCode(code, found.index))
    .filter(([, keyword, , from]) => keyword === 'import' || from !== undefined)
    .map((found) => ({
      target: found[4] ?? '',
      line: lineAt(codeAndStrings, found.index),
      isTypeOnly: found[2] !== undefined,
    }));
  const calls = [...codeAndStrings.matchAll(CALL)]
    .filter((found) => startsInCode(code, found.index))
    .map((found) => ({
      target: found[1] ?? '',
      line: lineAt(codeAndStrings, found.index),
      isTypeOnly: false,
    }));
  return [...statements, ...calls].sort((left, right) => left.line - right.line);
}

function startsInCode(code: string, position: number): boolean {
  return code[position] !== ' ';
}

/** The paths of all text files under a folder; hidden ones are somebody's scratch files. */
function pathsUnder(root: string, folder: string): string[] {
  return namesIn(join(root, folder), true).flatMap((name) => {
    if (name.startsWith('.')) return [];
    const path = `${folder}/${name}`;
    if (!name.endsWith('/')) return TEXT_NAMES.test(path) ? [path] : [];
    return name === 'node_modules/' ? [] : pathsUnder(root, path.slice(0, -1));
  });
}

/** The names in a folder; those of folders end in a slash where folders are wanted. */
function namesIn(folder: string, withFolders = false): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      if (entry.isFile()) return [entry.name];
      return withFolders && entry.isDirectory() ? [`${entry.name}/`] : [];
    });
  } catch {
    // Not every checkout has every folder.
    return [];
  }
}
