import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scanText } from './scan.ts';
import { lineAt, sourceOf } from './source.ts';

const test = suite('scanning code');

/** The code in a text, with runs of spaces shown as one. */
const code = (text: string) => scanText(text).code.replace(/ +/g, ' ').trim();

test('keeps length and lines, whatever it leaves out', () => {
  const text = `a // b\n/* c\nd */ 'e' \`f \${g}\n\` /h/ i`;
  for (const part of Object.values(scanText(text)) as string[]) {
    assert.is(part.length, text.length);
    assert.is(part.split('\n').length, text.split('\n').length);
  }
});

test('leaves comments and strings out of the code', () => {
  assert.is(code(`call(1); // process.exit`), 'call(1);');
  assert.is(code(`/** Date.now */ call('Math.random', "a\\"b")`), 'call( , )');
  assert.is(code(`const url = 'http://x'; next()`), 'const url = ; next()');
});

test('keeps the expressions inside templates', () => {
  const text = 'x = `a @{call({ b: `c @{d} }` })} e` + f'.replaceAll('@', '$');
  assert.is(code(text), 'x = call({ b: d }) + f');
});

test('tells a regular expression from a division', () => {
  assert.is(code(`a = b / c; d = '/'`), 'a = b / c; d =');
  assert.is(code(`/'/.test(a) && b('x')`), '.test(a) && b( )');
  assert.is(code(`return /[/']/.test(a)`), 'return .test(a)');
  assert.is(code(`(a + b) / 2 / c.length`), '(a + b) / 2 / c.length');
});

test('gives the comments alone', () => {
  const { comments } = scanText(`const word = 'XXX'; // a note\n/* another */ call()`);
  assert.is(comments.replace(/\s+/g, ' ').trim(), '// a note /* another */');
});

test('finds imports of every form, with lines and whether they bring types only', () => {
  const { imports } = sourceOf(
    'a.ts',
    [
      `import './effect.ts';`,
      `import type { A } from './types.ts';`,
      `import b, {`,
      `  c,`,
      `} from 'several';`,
      `export * from './all.ts';`,
      `export type { D } from './more-types.ts';`,
      `const e = await import('./late.ts');`,
      `// import './in-a-comment.ts';`,
      `const text = "import './in-a-string.ts'";`,
      `export const f = 'not from anywhere';`,
    ].join('\n'),
  );
  assert.equal(imports, [
    { target: './effect.ts', line: 1, isTypeOnly: false },
    { target: './types.ts', line: 2, isTypeOnly: true },
    { target: 'several', line: 3, isTypeOnly: false },
    { target: './all.ts', line: 6, isTypeOnly: false },
    { target: './more-types.ts', line: 7, isTypeOnly: true },
    { target: './late.ts', line: 8, isTypeOnly: false },
  ]);
});

test('counts lines from one', () => {
  assert.is(lineAt('a\nb', 0), 1);
  assert.is(lineAt('a\nb', 2), 2);
});

test.run();
