/** Tells whether a path is that of a test, or of a helper that only tests use. */
export function isTest(path: string): boolean {
  return /\.test\.ts$|(?:^|\/)test-[^/]*\.ts$|\/testing\//.test(path);
}

/** Tells whether a path is that of our own code. */
export function isCode(path: string): boolean {
  return /\.[cm]?ts$|\.mjs$/.test(path);
}

/** The slice of the business modules that a path lies in, or undefined. */
export function sliceOf(path: string): string | undefined {
  return /^packages\/modules\/src\/([^/]+)\//.exec(path)?.[1];
}
