import { posix } from 'node:path';
import { lineAt, type Rule, type Source, type Violation } from './source.ts';

const INTERFACE = 'docs/specification/interface.md';
const DECISIONS = 'docs/specification/decisions.md';
const RECORDS = /^docs\/decisions\/(\d{4})-[^/]*\.md$/;

/** The rules of this folder contain the forms that they forbid. */
const RULES_FOLDER = 'packages/testkit/src/tidy/';

const SECTION = /^#{2,3} (\d+(?:\.\d+)?)\.? /gm;
const DECISION = /^### <a id="d(\d+)"><\/a>D\1: /gm;

/** Sections of other documents, which keep their own numbers, and of the specification. */
const CITED_SECTIONS =
  /(RFC \d+ |specification )?§(\d+(?:\.\d+)*)((?:(?:,| and|,? to)\s+§[\d.]+)*)/g;
const CITED_DECISIONS = /\bD(\d{1,3})\b/g;
const CITED_RECORDS = /\bADR (\d+)\b/g;

/** Forms that lead a reader to a page of another number, or to none. */
const LOST = [
  /\b[Dd]ecisions?(?: records?)?\s+\d+\b/g,
  /\(specification(?:\)|, [A-Z])/g,
  /\breference, [a-z]+ §/g,
  /\b(?:surface|endpoints|engine|architecture) §/g,
];

/**
 * Every citation leads to a page of the checkout: `D26` to a decision about the interface, `specification
 * §2.3` to a section of it, `ADR 13` to a decision record.
 */
export const citationsLeadSomewhere: Rule = (sources) => {
  const known = {
    sections: namesIn(sources, INTERFACE, SECTION),
    decisions: namesIn(sources, DECISIONS, DECISION),
    records: new Set(sources.flatMap(({ path }) => Number(RECORDS.exec(path)?.[1] ?? []))),
  };
  return sources
    .filter(({ path }) => !path.startsWith(RULES_FOLDER))
    .flatMap((source) => {
      const text = proseOf(source);
      if (text === undefined) return [];
      return [
        ...lostIn(source, text),
        ...sectionsIn(text)
          .filter(({ name }) => !known.sections.has(name))
          .map(({ name, at }) => missing(source, text, at, `${INTERFACE} has no section ${name}`)),
        ...[...text.matchAll(CITED_DECISIONS)]
          .filter(([, name]) => !known.decisions.has(name ?? ''))
          .map((found) => missing(source, text, found.index, `${DECISIONS} has no ${found[0]}`)),
        ...[...text.matchAll(CITED_RECORDS)]
          .filter(([, number]) => !known.records.has(Number(number)))
          .map((found) => missing(source, text, found.index, `there is no ${found[0]}`)),
      ];
    });
};

/** A link, with its text where that is the path of a file in code font. */
const LINK = /(?:\[`([^`\]]+\.\w+)`)?\]\(([^)\s]+)\)/g;
const FENCED = /^```[\s\S]*?^```/gm;

/**
 * Every link of a document leads to a file of the checkout, and where it names a place in a document, to
 * that place. A link whose text is a path shows the path that it leads to, or a part of it.
 *
 * @param exists whether the checkout has a file or folder of this path
 */
export const linksLeadSomewhere =
  (exists: (path: string) => boolean): Rule =>
  (sources) => {
    const documents = new Map(sources.map((source) => [source.path, source]));
    return sources
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap((source) => {
        const text = source.text.replaceAll(FENCED, (block) => block.replaceAll(/[^\n]/g, ' '));
        return [...text.matchAll(LINK)].flatMap((found) => {
          const [, label, link = ''] = found;
          if (/^[a-z]+:/.test(link)) return [];
          const [target = '', place] = link.split('#');
          const path = target ? posix.join(posix.dirname(source.path), target) : source.path;
          if (!exists(path)) return [missing(source, text, found.index, `${link} does not exist`)];
          if (label !== undefined && !isPartOf(label, path)) {
            return [missing(source, text, found.index, `${label} is not ${path}`)];
          }
          const document = documents.get(path);
          if (place === undefined || document === undefined || placesOf(document).has(place))
            return [];
          return [missing(source, text, found.index, `${path} has no place #${place}`)];
        });
      });
  };

/** A file that prose names: in a document in code font, in a comment in any way. */
const NAMED_FILE = /(?<![\w/.*-])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|mjs|md|sh)\b(?![\w/-])/g;
const CODE_FONT = /`[^`\n]*`/g;

/**
 * Every file that a comment or a document names is in the checkout, under that name or as a part of a longer
 * path: `log/types.ts` is `packages/engine/src/log/types.ts`.
 */
export const namedFilesExist: Rule = (sources) => {
  const paths = Map.groupBy(sources, ({ path }) => posix.basename(path));
  const exists = (name: string): boolean =>
    (paths.get(posix.basename(name)) ?? []).some(({ path }) => isPartOf(name, path));
  return sources
    .filter(({ path }) => !path.startsWith(RULES_FOLDER) && !path.endsWith('CHANGELOG.md'))
    .flatMap((source) => {
      const text = proseOf(source);
      if (text === undefined) return [];
      const places = source.path.endsWith('.md') ? [...text.matchAll(CODE_FONT)] : [[text]];
      return places.flatMap((place) =>
        [...(place[0] ?? '').matchAll(NAMED_FILE)]
          .filter(([name]) => !exists(name))
          .map((found) => {
            const at = ('index' in place ? Number(place.index) : 0) + found.index;
            return missing(source, text, at, `there is no ${found[0]}`);
          }),
      );
    });
};

/** Tells whether the segments of a short path occur in a whole one, in order. */
function isPartOf(short: string, path: string): boolean {
  const segments = path.split('/');
  let next = 0;
  return short.split('/').every((wanted) => {
    next = segments.indexOf(wanted, next) + 1;
    return next > 0;
  });
}

/** The anchors of a document: written ones, and those that a heading gets when it is shown. */
function placesOf({ text }: Source): ReadonlySet<string> {
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id ?? '');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading ?? '')
      .replaceAll(/<[^>]*>/g, '')
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...written, ...headings]);
}

/** The text of a document, or the comments of a code file, in which a citation may stand. */
function proseOf(source: Source): string | undefined {
  if (source.path.endsWith('.md')) return source.text;
  return source.scanned?.comments.replaceAll(/^([^\S\n]*)\*/gm, '$1 ');
}

function namesIn(sources: readonly Source[], path: string, pattern: RegExp): ReadonlySet<string> {
  const page = sources.find((source) => source.path === path)?.text ?? '';
  return new Set([...page.matchAll(pattern)].map(([, name]) => name ?? ''));
}

function sectionsIn(text: string): { name: string; at: number }[] {
  return [...text.matchAll(CITED_SECTIONS)].flatMap((found) => {
    if (found[1]?.startsWith('RFC')) return [];
    const others = [...(found[3] ?? '').matchAll(/§(\d+(?:\.\d+)*)/g)].map(([, name]) => name);
    return [found[2], ...others].map((name) => ({ name: name ?? '', at: found.index }));
  });
}

const lostIn = (source: Source, text: string): Violation[] =>
  LOST.flatMap((pattern) =>
    [...text.matchAll(pattern)].map((found) =>
      missing(
        source,
        text,
        found.index,
        `${found[0]} says no page: cite D26, specification §2.3, ADR 13`,
      ),
    ),
  );

const missing = (source: Source, text: string, at: number, message: string): Violation => ({
  path: source.path,
  line: lineAt(text, at),
  message,
});
