import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canonicalJson } from './canonical-json.ts';

const test = suite('canonical JSON');

test('the names of an object come in the order of their code units, however many there are', () => {
  for (const count of [1, 2, 3, 17, 40, 41, 100]) {
    // The step has no factor in common with the counts, so every name comes once, and seldom after the one before it.
    const names = Array.from({ length: count }, (_, index) => `name ${(index * 89) % count}`);
    const members = [...names, '\u20ac', '\ud83d\ude00', '\ufb33', 'A', 'a', '', 'ä'];
    const value = Object.fromEntries(members.map((name) => [name, name.length]));
    const text = members
      .sort()
      .map((name) => `${JSON.stringify(name)}:${name.length}`)
      .join(',');
    assert.is(canonicalJson(value), `{${text}}`, `${count}`);
  }
});

test('nothing is left out but what is undefined, at every depth', () => {
  const value = { b: [{ z: null, y: undefined, x: [] }, 'ü"'], a: -0, c: true };
  assert.is(canonicalJson(value), '{"a":0,"b":[{"x":[],"z":null},"ü\\""],"c":true}');
});

test('what JSON cannot carry is refused', () => {
  for (const value of [1n, Number.NaN, () => 1, new Date(0), { a: '\ud800' }, [undefined]]) {
    assert.throws(() => canonicalJson(value), /JSON cannot carry/);
  }
});

test.run();
