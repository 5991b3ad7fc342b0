// Makes a fresh checkout ready to run and prints the path of the Node that runs its programs; see
// run.sh. It is plain JavaScript without dependencies, because it runs before node_modules exists, and
// it checks the version of Node before loading anything else, so that an old Node gets a sentence
// instead of a syntax error. It says nothing else when there is nothing to do.

const MINIMUM_MAJOR = 20;

if (Number.parseInt(process.versions.node, 10) < MINIMUM_MAJOR) {
  console.error(
    `counterfoil: needs Node ${MINIMUM_MAJOR} or newer to start, but this is Node ` +
      `${process.versions.node} (${process.execPath}). Install Node 24 from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  const { prepare } = await import('./bootstrap/prepare.mjs');
  process.exitCode = await prepare(new URL('..', import.meta.url), process.env);
}
