import { posix } from 'node:path';
import { isTest } from './names.ts';
import type { Import, Rule, Source, Violation } from './source.ts';

/** A package of the workspace and the packages that it may import. */
interface Package {
  readonly name: string;
  readonly folder: string;
  readonly mayImport: readonly string[];
  /** The packages of which it may import the types. */
  readonly mayImportTypesOf?: readonly string[];
}

const EVERYTHING = ['*'];
const APPLICATION = [
  '@counterfoil/kernel',
  '@counterfoil/engine',
  '@counterfoil/webhooks',
  '@counterfoil/modules',
];

/** Arrows run one way. A new package adds its line here and its reason to the architecture page. */
const PACKAGES: readonly Package[] = [
  { name: '@counterfoil/kernel', folder: 'packages/kernel', mayImport: [] },
  { name: '@counterfoil/engine', folder: 'packages/engine', mayImport: ['@counterfoil/kernel'] },
  {
    name: '@counterfoil/webhooks',
    folder: 'packages/webhooks',
    mayImport: ['@counterfoil/kernel', '@counterfoil/engine', '@counterfoil/engine/define'],
  },
  {
    name: '@counterfoil/modules',
    folder: 'packages/modules',
    mayImport: ['@counterfoil/kernel', '@counterfoil/engine/define', '@counterfoil/webhooks'],
  },
  {
    name: '@counterfoil/embedded-eventstore',
    folder: 'packages/embedded-eventstore',
    mayImport: [],
  },
  {
    name: '@counterfoil/client',
    folder: 'packages/client',
    mayImport: [],
    mayImportTypesOf: EVERYTHING,
  },
  { name: '@counterfoil/testkit', folder: 'packages/testkit', mayImport: EVERYTHING },
  {
    name: '@counterfoil/local',
    folder: 'infra/local',
    mayImport: ['@counterfoil/embedded-eventstore'],
  },
  { name: '@counterfoil/api', folder: 'apps/api', mayImport: APPLICATION },
  { name: '@counterfoil/projector', folder: 'apps/projector', mayImport: APPLICATION },
  { name: '@counterfoil/exporter', folder: 'apps/exporter', mayImport: APPLICATION },
  {
    name: '@counterfoil/webhook-worker',
    folder: 'apps/webhooks',
    mayImport: [...APPLICATION, '@counterfoil/webhooks/worker'],
  },
  {
    name: '@counterfoil/cli',
    folder: 'apps/cli',
    // It starts the applications as processes, for which it needs their entry points, and documents their
    // variables and metrics. It takes and checks checkpoints as the projector does.
    mayImport: [
      ...APPLICATION,
      '@counterfoil/local',
      '@counterfoil/*/main',
      '@counterfoil/*/config',
      '@counterfoil/*/info',
      '@counterfoil/projector/checkpoints',
    ],
  },
  {
    name: '@counterfoil/bench',
    folder: 'infra/bench',
    // It starts a whole installation as the command line does, and looks into its log.
    mayImport: [...APPLICATION, '@counterfoil/local', '@counterfoil/cli/*'],
  },
];

/**
 * Relative imports that may leave a package: into code that also runs before anything is installed, and
 * out of the test kit, which looks inside.
 */
const SHARED_FOLDERS: Readonly<Record<string, string>> = {
  'infra/local': 'infra/bootstrap',
  'packages/testkit': 'packages',
};

/** Only these may know EventStoreDB's client; of engine only one file. */
const EVENT_STORE_CLIENT = '@eventstore/db-client';
const EVENT_STORE_CLIENT_FILES_MAX = 1;

/** A package imports only the packages that its arrows allow, and others' files only by their name. */
export const arrowsRunOneWay: Rule = (sources) =>
  sources.flatMap((source) => {
    const home = PACKAGES.find(({ folder }) => source.path.startsWith(`${folder}/`));
    if (home === undefined) return [];
    return source.imports
      .filter((each) => !isAllowed(source, home, each))
      .map((each) => ({
        path: source.path,
        line: each.line,
        message: `${home.name} may not import ${each.target}`,
      }));
  });

/** Every folder of the workspace that has code has its line in the table. */
export const everyPackageHasArrows: Rule = (sources) => {
  const folders = new Map<string, Source>();
  for (const source of sources) {
    const folder = /^(?:packages|apps|infra)\/[^/]+(?=\/src\/)/.exec(source.path)?.[0];
    if (folder !== undefined && !folders.has(folder)) folders.set(folder, source);
  }
  return [...folders]
    .filter(([folder]) => !PACKAGES.some((each) => each.folder === folder))
    .map(([folder, source]) => ({
      path: source.path,
      line: 1,
      message: `${folder} has no line in the table of arrows (testkit/src/tidy/arrows.ts)`,
    }));
};

/** EventStoreDB's client has traps; one wrapper deals with them and nothing bypasses it. */
export const oneFileKnowsTheEventStoreClient: Rule = (sources) => {
  const importers = sources.flatMap((source) => {
    if (isTest(source.path) || source.path.startsWith('packages/embedded-eventstore/')) return [];
    const first = source.imports.find(({ target }) => isOrIsBelow(target, EVENT_STORE_CLIENT));
    return first === undefined ? [] : [{ source, line: first.line }];
  });
  const inEngine = importers.filter(({ source }) => source.path.startsWith('packages/engine/'));
  const elsewhere = importers.filter((each) => !inEngine.includes(each));
  const tooMany = inEngine.length > EVENT_STORE_CLIENT_FILES_MAX ? inEngine : [];
  return [...elsewhere, ...tooMany].map(({ source, line }): Violation => {
    const message = `only one file of engine may import ${EVENT_STORE_CLIENT}`;
    return { path: source.path, line, message };
  });
};

function isAllowed(source: Source, home: Package, { target, isTypeOnly }: Import): boolean {
  if (target.startsWith('.')) return isRelativeAllowed(source, home, target);
  if (!target.startsWith('@counterfoil/') || isOrIsBelow(target, home.name)) return true;
  // The arrows bind code that ships. Tests may use anything that helps; nothing imports a test.
  if (isTest(source.path)) return true;
  const types = isTypeOnly ? (home.mayImportTypesOf ?? []) : [];
  return [...home.mayImport, ...types].some((pattern) => matches(target, pattern));
}

function isRelativeAllowed(source: Source, home: Package, target: string): boolean {
  const path = posix.join(posix.dirname(source.path), target);
  const shared = SHARED_FOLDERS[home.folder];
  const folders = shared === undefined ? [home.folder] : [home.folder, shared];
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

function matches(target: string, pattern: string): boolean {
  if (pattern === '*' || target === pattern) return true;
  const [start, end] = pattern.split('*');
  return end !== undefined && target.startsWith(start ?? '') && target.endsWith(end);
}

function isOrIsBelow(target: string, name: string): boolean {
  return target === name || target.startsWith(`${name}/`);
}
