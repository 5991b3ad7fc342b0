import { lineAt, type Rule } from './source.ts';

const GLOSSARY = 'docs/glossary.md';

/** The rules of this folder contain the words that they forbid. */
const RULES_FOLDER = 'packages/testkit/src/tidy/';

/** A row of the glossary: the word, its meaning, and the words that it has replaced. */
const ROW = /^\| (?!Word \||-)([^|]+) \| [^|]+ \| ([^|]*)\|$/gm;

/**
 * Each thing has one word: those that the glossary has retired occur in no identifier and no comment. A
 * retired name such as `OldName` counts inside longer ones too, a phrase in any case and over line breaks.
 */
export const retiredWordsAreGone: Rule = (sources) => {
  const glossary = sources.find(({ path }) => path === GLOSSARY)?.text ?? '';
  const retired = [...glossary.matchAll(ROW)].flatMap(([, word, row]) =>
    [...(row ?? '').matchAll(/`([^`]+)`/g)].map(([, old]) => ({
      pattern: patternOf(old ?? ''),
      message: `${old} is retired: say ${word?.trim()}`,
    })),
  );
  return sources
    .filter(({ path }) => !path.startsWith(RULES_FOLDER))
    .flatMap(({ path, scanned }) => {
      if (scanned === undefined) return [];
      const texts = [scanned.code, scanned.comments.replaceAll(/^(\s*)\*/gm, '$1 ')];
      return texts.flatMap((text) =>
        retired.flatMap(({ pattern, message }) =>
          [...text.matchAll(pattern)].map(({ index }) => ({
            path,
            line: lineAt(text, index),
            message,
          })),
        ),
      );
    });
};

function patternOf(old: string): RegExp {
  if (/[A-Z]/.test(old)) return new RegExp(old, 'g');
  return new RegExp(`\\b${old.replaceAll(' ', '\\s+')}s?\\b`, 'gi');
}

const VAGUE = /\/\*\*\s*(?:\*\s*)?(?:What|Whether|How|Who|Whom|Whose|Which|Where|When|Why)\b/g;

/**
 * A docstring defines: "The outcome of a request", not "What has become of a request". For a function that
 * answers yes or no it begins with "Tells whether", for a flag with "True when".
 */
export const docstringsDefine: Rule = (sources) =>
  sources
    .filter(({ path }) => !path.startsWith(RULES_FOLDER))
    .flatMap(({ path, scanned }) =>
      [...(scanned?.comments ?? '').matchAll(VAGUE)].map(({ index, 0: found }) => ({
        path,
        line: lineAt(scanned?.comments ?? '', index),
        message: `a docstring that begins with ${found.match(/\w+/)?.[0]} describes; let it define`,
      })),
    );

/** Programs and callers are "it" and "they". */
export const nobodyIsHe: Rule = (sources) =>
  sources
    .filter(({ path }) => !path.startsWith(RULES_FOLDER))
    .flatMap(({ path, scanned, text }) => {
      const prose = path.endsWith('.md') ? text : (scanned?.comments ?? '');
      return [...prose.matchAll(/\b(?:he|him|his|himself)\b/gi)].map(({ index, 0: found }) => ({
        path,
        line: lineAt(prose, index),
        message: `"${found}": programs are "it", callers "they"`,
      }));
    });
