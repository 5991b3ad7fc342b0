import type { Rule, Source, Violation } from './source.ts';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

type Versions = Readonly<Record<string, string>>;
type Manifest = Readonly<Partial<Record<(typeof KINDS)[number], Versions>>>;

/**
 * The lock file agrees with the manifests; otherwise `npm ci` refuses to install anything in a fresh
 * checkout, which nobody with an installed one notices.
 *
 * @param lockText the text of package-lock.json
 */
export const lockFileIsCurrent =
  (lockText: string): Rule =>
  (sources) => {
    const lock: { packages: Readonly<Record<string, Manifest>> } = JSON.parse(lockText);
    return sources
      .filter(({ path }) => path === 'package.json' || path.endsWith('/package.json'))
      .flatMap((source) => {
        const folder = source.path.replace(/\/?package\.json$/, '');
        return differences(source, JSON.parse(source.text), lock.packages[folder] ?? {});
      });
  };

/** Every version is exact: the tested versions are the installed ones. */
export const versionsArePinned: Rule = (sources) =>
  sources
    .filter(({ path }) => path === 'package.json' || path.endsWith('/package.json'))
    .flatMap((source) => {
      const manifest: Manifest = JSON.parse(source.text);
      return KINDS.flatMap((kind) => Object.entries(manifest[kind] ?? {}))
        .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => at(source, name, `${name} ${version} is not an exact version`));
    });

function differences(source: Source, manifest: Manifest, locked: Manifest): Violation[] {
  return KINDS.flatMap((kind) => {
    const wanted = manifest[kind] ?? {};
    const known = locked[kind] ?? {};
    return [...new Set([...Object.keys(wanted), ...Object.keys(known)])]
      .filter((name) => wanted[name] !== known[name])
      .map((name) => {
        const says = `package-lock.json says ${name} ${known[name] ?? 'is not needed'}`;
        return at(source, name, `${says}; run npm install --package-lock-only`);
      });
  });
}

function at(source: Source, name: string, message: string): Violation {
  const index = source.text.split('\n').findIndex((line) => line.includes(`"${name}"`));
  return { path: source.path, line: index + 1 || 1, message };
}
