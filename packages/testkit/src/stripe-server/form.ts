type Tree = { [name: string]: Tree | string };

/** Reads a form with nested names, such as `line_items[0][price_data][currency]=usd`. */
export function readForm(text: string): Readonly<Record<string, unknown>> {
  const root: Tree = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split('[').map((part) => part.replace(/\]$/, ''));
    let place = root;
    for (const part of path.slice(0, -1)) {
      const inner = place[part];
      const next: Tree = typeof inner === 'object' ? inner : Object.create(null);
      place[part] = next;
      place = next;
    }
    const last = path.at(-1) ?? '';
    // Without a number the values of a list stand in their order.
    place[last === '' ? String(Object.keys(place).length) : last] = value;
  }
  return listed(root) as Readonly<Record<string, unknown>>;
}

/** Objects whose names are numbers are lists. */
function listed(tree: Tree | string): unknown {
  if (typeof tree === 'string') return tree;
  const names = Object.keys(tree);
  const isList = names.length > 0 && names.every((name) => /^\d+$/.test(name));
  if (isList) return names.map((name) => listed(tree[name] ?? ''));
  return Object.fromEntries(names.map((name) => [name, listed(tree[name] ?? '')]));
}
