import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  arrowsRunOneWay,
  everyPackageHasArrows,
  oneFileKnowsTheEventStoreClient,
} from './arrows.ts';
import { citationsLeadSomewhere, linksLeadSomewhere, namedFilesExist } from './citations.ts';
import {
  everySuiteRuns,
  filesAreShort,
  namesAreUniform,
  noPathOfAMachine,
  nothingIsLeftUnfinished,
  nothingIsUnchecked,
} from './hygiene.ts';
import { lockFileIsCurrent, versionsArePinned } from './manifests.ts';
import { checkPurity, decidingCodeIsPure } from './purity.ts';
import {
  everySliceIsComplete,
  slicesAreImportedThroughTheirIndex,
  slicesFormNoCircle,
} from './slices.ts';
import { type Rule, sourceOf } from './source.ts';
import { checkTime } from './system-time.ts';
import { docstringsDefine, nobodyIsHe, retiredWordsAreGone } from './words.ts';

const test = suite('tidy rules');

/** The places, `path:line`, at which a rule finds a violation in files given by path and text. */
function places(rule: Rule, files: Record<string, string>): string[] {
  const sources = Object.entries(files).map(([path, text]) => sourceOf(path, text));
  return rule(sources).map(({ path, line }) => `${path}:${line}`);
}

const ALL: readonly Rule[] = [
  ...[arrowsRunOneWay, everyPackageHasArrows, oneFileKnowsTheEventStoreClient],
  ...[everySuiteRuns, filesAreShort, namesAreUniform, noPathOfAMachine],
  ...[nothingIsLeftUnfinished, nothingIsUnchecked, decidingCodeIsPure],
  ...[
    versionsArePinned,
    everySliceIsComplete,
    slicesAreImportedThroughTheirIndex,
    slicesFormNoCircle,
  ],
  ...[citationsLeadSomewhere, linksLeadSomewhere(() => false)],
  ...[retiredWordsAreGone, docstringsDefine, nobodyIsHe],
];

test('find nothing in an empty tree', () => {
  for (const rule of ALL) assert.equal(rule([]), []);
});

test('arrows: each package imports only what lies before it', () => {
  const files = {
    'packages/kernel/src/a.ts': `import '@counterfoil/engine';`,
    'packages/engine/src/a.ts': `import '@counterfoil/kernel';\nimport '@counterfoil/modules';`,
    'packages/modules/src/a.ts': `import '@counterfoil/engine/define';\nimport '@counterfoil/engine';`,
    'packages/embedded-eventstore/src/a.ts': `import '@counterfoil/kernel';`,
    'packages/client/src/a.ts': `import type { A } from '@counterfoil/modules';\nimport '@counterfoil/modules';`,
    'apps/api/src/a.ts': `import '@counterfoil/modules';\nimport '@counterfoil/local';`,
    'apps/cli/src/a.ts': `import '@counterfoil/local';\nimport.meta.resolve('@counterfoil/api/main');`,
    'packages/testkit/src/a.ts': `import '@counterfoil/api';\nimport '../../engine/src/b.ts';`,
  };
  assert.equal(places(arrowsRunOneWay, files), [
    'packages/kernel/src/a.ts:1',
    'packages/engine/src/a.ts:2',
    'packages/modules/src/a.ts:2',
    'packages/embedded-eventstore/src/a.ts:1',
    'packages/client/src/a.ts:2',
    'apps/api/src/a.ts:2',
  ]);
});

test('arrows: no package reaches into the files of another', () => {
  const files = {
    'packages/engine/src/deep/a.ts': `import '../b.ts';\nimport '../../../kernel/src/b.ts';`,
    'infra/local/src/a.ts': `import '../../bootstrap/b.mjs';`,
  };
  assert.equal(places(arrowsRunOneWay, files), ['packages/engine/src/deep/a.ts:2']);
});

test('arrows: a test may use the test kit, the code beside it may not', () => {
  const text = `import '@counterfoil/testkit';`;
  const files = { 'packages/engine/src/a.test.ts': text, 'packages/engine/src/a.ts': text };
  assert.equal(places(arrowsRunOneWay, files), ['packages/engine/src/a.ts:1']);
});

test('arrows: a new package needs its line', () => {
  const files = { 'packages/new/src/a.ts': '', 'packages/kernel/src/a.ts': '' };
  assert.equal(places(everyPackageHasArrows, files), ['packages/new/src/a.ts:1']);
});

test('event store client: one file of engine, the embedded server, and tests', () => {
  const text = `import type { A } from '@eventstore/db-client';`;
  const allowed = {
    'packages/engine/src/log/client.ts': text,
    'packages/engine/src/log/client.test.ts': text,
    'packages/embedded-eventstore/src/a.ts': text,
  };
  assert.equal(places(oneFileKnowsTheEventStoreClient, allowed), []);
  const second = { ...allowed, 'packages/engine/src/b.ts': text };
  assert.is(places(oneFileKnowsTheEventStoreClient, second).length, 2);
  assert.equal(places(oneFileKnowsTheEventStoreClient, { 'apps/api/src/a.ts': text }), [
    'apps/api/src/a.ts:1',
  ]);
});

test('slices: no circle, not of types either', () => {
  const files = {
    'packages/modules/src/wallets/a.ts': `import '../customers/index.ts';\nimport '../taxes/index.ts';`,
    'packages/modules/src/customers/a.ts': `import type { A } from '../offers/index.ts';`,
    'packages/modules/src/offers/a.ts': `import '../wallets/index.ts';\nimport '../meters/index.ts';`,
    'packages/modules/src/meters/a.test.ts': `import '../offers/index.ts';`,
    'packages/modules/src/index.ts': `import './wallets/index.ts';`,
  };
  assert.equal(places(slicesFormNoCircle, files), [
    'packages/modules/src/wallets/a.ts:1',
    'packages/modules/src/customers/a.ts:1',
    'packages/modules/src/offers/a.ts:1',
  ]);
});

test('slices: others see the index only', () => {
  const files = {
    'packages/modules/src/wallets/a.ts': `import '../customers/schema.ts';\nimport './b.ts';`,
    'packages/modules/src/index.ts': `import './wallets/index.ts';\nimport './wallets/b.ts';\nimport type { B } from './wallets/b.ts';`,
  };
  assert.equal(places(slicesAreImportedThroughTheirIndex, files), [
    'packages/modules/src/wallets/a.ts:1',
    'packages/modules/src/index.ts:2',
  ]);
});

test('slices: each has a README, an index and a test', () => {
  const folder = 'packages/modules/src';
  const complete = {
    [`${folder}/wallets/README.md`]: '',
    [`${folder}/wallets/index.ts`]: '',
    [`${folder}/wallets/a.test.ts`]: '',
  };
  assert.equal(places(everySliceIsComplete, complete), []);
  assert.is(places(everySliceIsComplete, { [`${folder}/new/a.ts`]: '' }).length, 3);
});

test('purity: the kernel and the deciding files of a slice do not touch the world', () => {
  const impure = 'const a = Date.now();\nconst b = Number(text);';
  const files = {
    'packages/kernel/src/a.ts': impure,
    'packages/modules/src/wallets/wallet.ts': impure,
    'packages/modules/src/wallets/routes.ts': impure,
    'packages/modules/src/wallets/lot-queries.ts': impure,
    'packages/modules/src/wallets/wallet.test.ts': impure,
    'packages/engine/src/a.ts': impure,
  };
  assert.equal(places(decidingCodeIsPure, files), [
    'packages/kernel/src/a.ts:1',
    'packages/kernel/src/a.ts:2',
    'packages/modules/src/wallets/wallet.ts:1',
    'packages/modules/src/wallets/wallet.ts:2',
  ]);
});

test('purity: words in comments, strings and longer names are no violation', () => {
  const text = `// Date.now()\nconst a = 'process.env';\nwireNumber(b); this.process.c; isNumber(d);`;
  assert.equal(places(decidingCodeIsPure, { 'packages/kernel/src/a.ts': text }), []);
});

test('purity: an exception covers one word in one file, and only while it is needed', () => {
  const path = 'packages/kernel/src/a.ts';
  const exceptions = [{ path, what: 'Date.now', reason: 'a test' }] as const;
  const check = (text: string) => checkPurity([sourceOf(path, text)], exceptions);
  assert.equal(check('Date.now();'), []);
  assert.is(check('Date.now(); Math.random();').length, 1);
  assert.match(check('pure();')[0]?.message ?? '', 'does not need its exception');
});

test('time: only files with a reason read the clock, and nobody replaces Date', () => {
  const reading = 'const a = Date.now();\nconst b = new Date();\nconst c = new Date(text);';
  const readers = {
    'packages/engine/src/known.ts': 'a test',
    'packages/engine/src/old.ts': 'a test',
  };
  const files = {
    'packages/engine/src/known.ts': reading,
    'packages/engine/src/old.ts': 'const a = 1;',
    'packages/modules/src/wallets/routes.ts': reading,
    'packages/modules/src/wallets/a.test.ts': `${reading}\nDate.now = () => 0;`,
    'apps/cli/src/a.ts': `${reading}\nglobalThis.Date = Other;`,
  };
  const check: Rule = (sources) => checkTime(sources, readers);
  assert.equal(places(check, files), [
    'packages/engine/src/old.ts:1',
    'packages/modules/src/wallets/routes.ts:1',
    'packages/modules/src/wallets/routes.ts:2',
    'packages/modules/src/wallets/a.test.ts:4',
    'apps/cli/src/a.ts:4',
  ]);
});

test('files: short', () => {
  const lines = (count: number) => 'a\n'.repeat(count);
  const files = {
    'packages/kernel/src/a.ts': lines(500),
    'packages/kernel/src/b.ts': lines(501),
    'packages/kernel/src/b.test.ts': lines(500),
    'packages/kernel/src/c.test.ts': lines(501),
    'docs/long.md': lines(900),
  };
  assert.equal(places(filesAreShort, files), [
    'packages/kernel/src/b.ts:501',
    'packages/kernel/src/c.test.ts:501',
  ]);
});

test('files: named in kebab case', () => {
  const names = ['a.ts', 'a-b.it.test.ts', 'nats-server.d.mts', 'aB.ts', 'a_b.ts', 'README.md'];
  const files = Object.fromEntries(names.map((name) => [`apps/${name}`, '']));
  assert.equal(places(namesAreUniform, files), ['apps/aB.ts:1', 'apps/a_b.ts:1']);
});

test('nothing unfinished: in comments and documents, not in strings', () => {
  const files = {
    'apps/a.ts': `const currency = 'XXX';\n// TODO later`,
    'docs/a.md': 'fine\nFIXME here',
  };
  assert.equal(places(nothingIsLeftUnfinished, files), ['apps/a.ts:2', 'docs/a.md:2']);
});

test('no path of a machine', () => {
  const files = {
    'apps/a.ts': `const a = '/home/somebody/data';\nconst b = '/v1/work/items';`,
    'docs/a.md': 'see /Users/somebody and ./work/ here',
  };
  assert.equal(places(noPathOfAMachine, files), ['apps/a.ts:1', 'docs/a.md:1']);
});

test('nothing unchecked: neither by cast nor by comment', () => {
  const text = [
    `const a = b as any;`,
    `const c = <any>d;`,
    `// @ts-ignore`,
    `// any word in a comment`,
    `const many = company;`,
  ].join('\n');
  const found = places(nothingIsUnchecked, { 'apps/a.ts': text }).sort();
  assert.equal(found, ['apps/a.ts:1', 'apps/a.ts:2', 'apps/a.ts:3']);
});

test('manifests: the lock file says the same', () => {
  const lock = JSON.stringify({
    packages: {
      '': { devDependencies: { a: '1.0.0' } },
      'apps/api': { dependencies: { b: '1.0.0', gone: '1.0.0' } },
    },
  });
  const files = {
    'package.json': '{ "devDependencies": {\n"a": "1.0.0" } }',
    'apps/api/package.json': '{ "dependencies": {\n"b": "2.0.0",\n"c": "1.0.0" } }',
  };
  const found = places(lockFileIsCurrent(lock), files).sort();
  assert.equal(
    found,
    [1, 2, 3].map((line) => `apps/api/package.json:${line}`),
  );
  assert.equal(places(lockFileIsCurrent(lock), { 'package.json': files['package.json'] }), []);
});

test('manifests: versions are exact', () => {
  const text = '{ "dependencies": {\n"a": "1.0.0-beta.2",\n"b": "^1.0.0",\n"c": "*" } }';
  const files = { 'apps/api/package.json': text };
  assert.equal(places(versionsArePinned, files), [
    'apps/api/package.json:3',
    'apps/api/package.json:4',
  ]);
});

test('every suite runs, and no test keeps others from running', () => {
  const files = {
    'a.test.ts': `const one = suite('a');\nconst two = suite<Context>('b');\none.run();`,
    'b.test.ts': `const test = suite('a');\ntest.only('b', c);\ntest.run();`,
    'c.ts': `const test = suite('a');`,
  };
  assert.equal(places(everySuiteRuns, files), ['a.test.ts:2', 'b.test.ts:2']);
});

const pages = {
  'docs/specification/interface.md': '## 4. Endpoints\n\n### 4.1 Clone a plan\n',
  'docs/specification/decisions.md': '### <a id="d7"></a>D7: Decimals\n',
  'docs/decisions/0013-one-stream.md': '# 13. One stream\n',
};

test('citations: a page, a number and a section that exist are found', () => {
  const files = {
    ...pages,
    'packages/kernel/src/a.ts':
      '/** One (D7; specification §4 and §4.1; ADR 13; RFC 6962 §2.1). */\n',
    'docs/a.md': 'As D7 says, and specification §4.1.\n',
  };
  assert.equal(places(citationsLeadSomewhere, files), []);
});

test('citations: what leads nowhere is refused, in comments and documents, not in code', () => {
  const files = {
    ...pages,
    'a.md': 'As D8 says.\n',
    'packages/kernel/src/a.ts': '// One.\n// D8\nconst D9 = "D9";\n',
    'packages/kernel/src/b.ts': '/** Two (specification §4.1, §4.2). */\n',
    'packages/kernel/src/c.ts': '\n/** Three (ADR 14). */\n',
  };
  assert.equal(places(citationsLeadSomewhere, files), [
    'a.md:1',
    'packages/kernel/src/a.ts:2',
    'packages/kernel/src/b.ts:1',
    'packages/kernel/src/c.ts:2',
  ]);
});

test('citations: a number without its page is refused, also across two lines', () => {
  const lost = [
    '/** One (decision 7). */',
    '/** Two: decisions 7 and 8. */',
    '/**\n * Three (decision\n * 7).\n */',
    '/** Four (specification, Plan). */',
    '/** Five (decision record 13). */',
  ];
  for (const text of lost) {
    const files = { ...pages, 'packages/kernel/src/a.ts': `${text}\n` };
    assert.is(places(citationsLeadSomewhere, files).length, 1, text);
  }
});

test('citations: a file that a comment or a document names exists', () => {
  const files = {
    'docs/a.md': '`a.ts` `engine/log/a.ts`\n`b.ts` of `log/b.ts`, and b.ts; `*.test.ts`\n',
    'packages/engine/src/log/a.ts':
      "// See a.ts and a.md.\nconst b = 'b.ts';\n/** See c/a.ts. */\n",
  };
  assert.equal(places(namedFilesExist, files), [
    'docs/a.md:2',
    'docs/a.md:2',
    'packages/engine/src/log/a.ts:3',
  ]);
});

test('links: files and places in documents exist', () => {
  const files = {
    'docs/a.md':
      '[b](b.md) [place](b.md#a-place) [own](#d7) [out](https://a.example/x)\n<a id="d7"></a>\n',
    'docs/b.md': '## A `place`\n[gone](c.md)\n[nowhere](a.md#nowhere)\n```\n[in code](c.md)\n```\n',
  };
  const exists = (path: string) => Object.hasOwn(files, path);
  assert.equal(places(linksLeadSomewhere(exists), files), ['docs/b.md:2', 'docs/b.md:3']);
});

test('links: a text that is a path is a part of the path', () => {
  const link = (text: string) => `[\`${text}\`](../packages/engine/src/log/a.ts)\n`;
  const files = {
    'docs/a.md': ['log/a.ts', 'engine/a.ts', 'a.ts', 'relay/a.ts'].map(link).join(''),
  };
  assert.equal(
    places(
      linksLeadSomewhere(() => true),
      files,
    ),
    ['docs/a.md:4'],
  );
});

test('words: what the glossary has retired is refused in names and comments', () => {
  const files = {
    'docs/glossary.md':
      '| Word | Meaning | Not |\n|---|---|---|\n| stream writer | Decides. | `OldWriter`, `old hand` |\n',
    'docs/a.md': 'The OldWriter of old.\n',
    'packages/kernel/src/a.ts': 'const makeOldWriter = 1;\n/**\n * An old\n * hand.\n */\n',
    'packages/kernel/src/b.ts': 'const text = "OldWriter";\n// Stream writer.\n',
  };
  assert.equal(places(retiredWordsAreGone, files), [
    'packages/kernel/src/a.ts:1',
    'packages/kernel/src/a.ts:3',
  ]);
});

test('words: docstrings define, and do not describe', () => {
  const files = {
    'packages/kernel/src/a.ts': '/** What it is. */\n/**\n * Whether it is.\n */\n// What it is.\n',
    'packages/kernel/src/b.ts': '/** Tells whether it is. */\n/** Whatever it is. */\n',
  };
  assert.equal(places(docstringsDefine, files), [
    'packages/kernel/src/a.ts:1',
    'packages/kernel/src/a.ts:2',
  ]);
});

test('words: nobody is he, in comments and documents', () => {
  const files = {
    'docs/a.md': 'As he said.\nShe, the hero, there.\n',
    'packages/kernel/src/a.ts': "const his = 'he'; // Tell him.\n",
  };
  assert.equal(places(nobodyIsHe, files), ['docs/a.md:1', 'packages/kernel/src/a.ts:1']);
});

test.run();
