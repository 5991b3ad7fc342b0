import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog, type LogLevel } from './log.ts';

const test = suite('log');

const linesOf = (level: LogLevel, write: (log: ReturnType<typeof createLog>) => void) => {
  const lines: string[] = [];
  write(createLog({ level, name: 'test', destination: { write: (line) => lines.push(line) } }));
  return lines;
};

test('writes JSON lines with the name of the process, from its level on', () => {
  const lines = linesOf('info', (log) => {
    log.debug('unseen');
    log.info({ count: 1 }, 'seen');
  });
  assert.is(lines.length, 1);
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  assert.is(line.name, 'test');
  assert.is(line.msg, 'seen');
  assert.is(line.count, 1);
  assert.match(String(line.time), /^\d{4}-\d\d-\d\dT/);
});

test('never writes secret members, at the top or below', () => {
  const secret = 'sk_very_secret';
  const lines = linesOf('info', (log) => {
    log.info({ api_key: secret, 'x-api-key': secret, password: secret, kept: 'kept' });
    log.info({ headers: { 'x-api-key': secret, authorization: secret } });
    log.info({ request: { headers: { 'x-api-key': secret, cookie: secret } } });
    log.info({ endpoint: { secret, signing_secret: secret } });
    log.child({ component: 'a' }).info({ secret });
  });
  assert.is(lines.length, 5);
  for (const line of lines) {
    assert.not.match(line, new RegExp(secret));
    assert.match(line, /\[redacted\]/);
  }
  assert.match(lines[0] ?? '', /"kept":"kept"/);
});

test('writes errors with their stack', () => {
  const [line = ''] = linesOf('error', (log) => log.error({ err: new TypeError('broken') }));
  assert.match(line, /"type":"TypeError"/);
  assert.match(line, /log\.test\.ts/);
});

test.run();
