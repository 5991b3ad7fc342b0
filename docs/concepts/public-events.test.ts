import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('what causes each type of public event');

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The types that section 6.1 of the interface lists, in its order. */
function specifiedTypes(): string[] {
  const [, section = ''] = textOf('../specification/interface.md').split(/^### 6\.1 .*$/m);
  const [list = ''] = section.split(/^### /m);
  return [...list.matchAll(/`([a-z_]+(?:\.[a-z_]+)+)`/g)].map(([, type = '']) => type);
}

/** The rows of the table of causes. */
function rows() {
  const [, section = ''] = textOf('public-events.md').split(/^## What causes each type$/m);
  const [table = ''] = section.split(/^## /m);
  return [...table.matchAll(/^\| `([a-z_.]+)` \| (.+) \| (.+) \|$/gm)].map(
    ([, type = '', cause = '', seenBy = '']) => ({ type, cause, seenBy }),
  );
}

test('the table has every type of the interface, in its order', () => {
  const specified = specifiedTypes();
  assert.is(specified.length, 42);
  assert.equal(
    rows().map(({ type }) => type),
    specified,
  );
});

test('each of them has a cause, is published, and is seen by a test that names it', () => {
  const published = new Set(Object.keys(JSON.parse(textOf('../reference/event-schemas.json'))));
  for (const { type, cause, seenBy } of rows()) {
    assert.ok(published.has(type), `${type} is not published`);
    assert.not.match(cause, /^(nothing|—|\s*$)/, `${type} has no cause`);
    const [, path = ''] = /\]\(([^)]+)\)/.exec(seenBy) ?? [];
    // By its whole name, or by what comes after the resource.
    const [, ...tail] = type.split('.');
    const named = new RegExp(`'(${type}|${tail.join('.')})[' ]`.replaceAll('.', '\\.'));
    assert.match(textOf(path), named, `${path} names ${type}`);
  }
});

test.run();
