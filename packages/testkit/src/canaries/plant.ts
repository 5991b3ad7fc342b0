// Loaded into a child process before the tests: hands out one file of ours with a bug planted in it.
import { registerHooks } from 'node:module';
import { configureGlobal } from 'fast-check';

const planted: { readonly url: string; readonly text: string; readonly bug: string } = JSON.parse(
  process.env.COUNTERFOIL_PLANTED ?? 'null',
);

// That a test fails is all that is asked: the smallest example of a planted bug is worth no time.
configureGlobal({ endOnFailure: true });

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url.split('?')[0] !== planted.url || loaded.source == null) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString('utf8');
    return { ...loaded, source: source.replace(planted.text, () => planted.bug) };
  },
});
