/** @type {{ url: string, text: string, bug: string }} */
let planted;

export function initialize(data) {
  planted = data;
}

/** Gives the source of every module as it is, but for the one that the bug is planted in. */
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (url.split('?')[0] !== planted.url || loaded.source === undefined) return loaded;
  const source = Buffer.from(loaded.source).toString('utf8');
  return { ...loaded, source: source.replace(planted.text, () => planted.bug) };
}
