import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { documentWriter } from './documents.ts';

const test = suite('documents of the API that a process of its own writes');

const committed = (name: string): unknown =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../docs/reference', name), 'utf8'));

test('they are those of the reference', async () => {
  const write = documentWriter();
  const names = ['openapi.json', 'asyncapi.json'];
  const written = await Promise.all(names.map((name) => write(`/${name}`)));
  for (const [index, name] of names.entries()) {
    // `assert.is` would print the whole of both.
    assert.ok(written[index] === JSON.stringify(committed(name)), name);
  }
});

test.run();
