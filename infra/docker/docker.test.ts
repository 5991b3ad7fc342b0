// There is no Docker where the tests run, so this checks what can be read off the files.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('docker files');
const root = join(import.meta.dirname, '../..');
const dockerfile = readFileSync(join(root, 'infra/Dockerfile'), 'utf8');
const compose = readFileSync(join(root, 'infra/docker-compose.yml'), 'utf8');
const example = readFileSync(join(root, '.env.example'), 'utf8');

test('the image installs from the manifests of all packages', () => {
  const lock: { packages: Record<string, { link?: boolean; resolved?: string }> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  const folders = Object.values(lock.packages).flatMap(({ link, resolved }) =>
    link && resolved !== undefined ? [resolved] : [],
  );
  assert.ok(folders.length > 0);
  for (const folder of folders) {
    assert.ok(dockerfile.includes(`COPY ${folder}/package.json ${folder}/\n`), folder);
  }
});

test('every image has an exact version', () => {
  const images = [...compose.matchAll(/^ +image: (\S+)$/gm)].map(([, image]) => image ?? '');
  assert.ok(images.length > 3);
  for (const image of images) assert.match(image, /:(?:\d+\.\d+\.\d+|\d+\.\d+-|local$)/);
});

test('every port is published on 127.0.0.1 only', () => {
  const ports = [...compose.matchAll(/^ +ports: \[(.*)\]$/gm)].map(([, port]) => port ?? '');
  assert.is(ports.length, [...compose.matchAll(/^ +ports:/gm)].length);
  for (const port of ports) assert.match(port, /^"127\.0\.0\.1:[^,]*"$/);
});

test('every variable that the containers are given is explained in .env.example', () => {
  const names = [
    ...[...compose.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name ?? ''),
    ...[...compose.matchAll(/^ {2}([A-Z_]+):$/gm)].map(([, name]) => name ?? ''),
  ];
  for (const name of names) assert.match(example, new RegExp(`^#?${name}=`, 'm'));
});

test.run();
