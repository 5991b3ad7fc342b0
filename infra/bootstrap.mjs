// Makes a fresh checkout ready to run: `npm start`, `npm test` and `npm run check` call this first.
// It is plain JavaScript without dependencies, because it runs before node_modules exists, and it
// checks the version of Node before loading anything else, so that an old Node gets a sentence
// instead of a syntax error. It says nothing when there is nothing to do.

const MINIMUM_MAJOR = 20;
const MINIMUM_MINOR = 19;

const [major, minor] = process.versions.node.split('.').map(Number);
const isSupported = major > MINIMUM_MAJOR || (major === MINIMUM_MAJOR && minor >= MINIMUM_MINOR);

if (!isSupported) {
  console.error(
    `counterfoil: needs Node ${MINIMUM_MAJOR}.${MINIMUM_MINOR} or newer, but this is Node ` +
      `${process.versions.node} (${process.execPath}). Install a newer one from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  const { prepare } = await import('./bootstrap/prepare.mjs');
  process.exitCode = await prepare(new URL('..', import.meta.url), process.env);
}
