import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ConfigError, parseConfig } from './config.ts';

const test = suite('configuration');

const schema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  DATABASE_URL: z.string().startsWith('postgres://'),
  LEVEL: z.enum(['info', 'debug']).optional(),
  OURS_SIZE: z.coerce.number().optional(),
});

const errorOf = (environment: Record<string, string>, ownPrefix?: string): ConfigError => {
  try {
    parseConfig(schema, environment, ownPrefix === undefined ? {} : { ownPrefix });
  } catch (error) {
    assert.instance(error, ConfigError);
    return error as ConfigError;
  }
  throw new Error('was expected to be refused');
};

test('reads what is there, and defaults for what is absent or empty', () => {
  const environment = { DATABASE_URL: 'postgres://a', PORT: '', LEVEL: 'debug', OTHER: 'x' };
  assert.equal(parseConfig(schema, environment), {
    DATABASE_URL: 'postgres://a',
    PORT: 8080,
    LEVEL: 'debug',
  });
});

test('names every wrong variable in one message', () => {
  const error = errorOf({ PORT: '70000', LEVEL: 'loud' });
  assert.equal(error.variables, ['PORT', 'DATABASE_URL', 'LEVEL']);
  assert.match(error.message, /PORT must be at most 65535/);
  assert.match(error.message, /DATABASE_URL is required/);
  assert.match(error.message, /LEVEL must be "info" or "debug"/);
});

test('never shows a value', () => {
  const error = errorOf({ DATABASE_URL: 'mysql://user:hunter2@host' });
  assert.not.match(error.message, /hunter2/);
});

test('refuses unknown variables with the prefix of the program', () => {
  const environment = { DATABASE_URL: 'postgres://a', OURS_SIZ: '1', THEIRS: 'x' };
  assert.equal(errorOf(environment, 'OURS_').variables, ['OURS_SIZ']);
  assert.equal(parseConfig(schema, environment).PORT, 8080);
});

test.run();
