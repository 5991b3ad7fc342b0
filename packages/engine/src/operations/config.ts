import { z } from 'zod';
import { describeIssue, fieldProblemsOf } from '../http/issues.ts';

export * from './variables.ts';

/** The environment does not fit the configuration. The message lists each wrong variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly variables: readonly string[];
  constructor(variables: readonly string[], message: string) {
    super(message);
    this.variables = variables;
  }
}

interface ConfigOptions {
  /** Variables that start with this and that the schema does not know are refused as typing errors. */
  readonly ownPrefix?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a configuration from environment variables. An empty variable counts as absent. Throws
 * a `ConfigError` that names every wrong variable; values are never shown, they may be secret.
 */
export function parseConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment,
  { ownPrefix }: ConfigOptions = {},
): z.output<z.ZodObject<Shape>> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const unknown = Object.keys(given).filter(
    (name) => ownPrefix !== undefined && name.startsWith(ownPrefix) && !(name in schema.shape),
  );
  const problems = unknown.map((name) => ({ name, message: 'is no variable of this program' }));
  const parsed = z.safeParse(schema, given, { error: describeIssue });
  if (parsed.success && problems.length === 0) return parsed.data;
  for (const { pointer, message } of fieldProblemsOf(parsed.error?.issues ?? [])) {
    problems.push({ name: pointer.slice(1) || 'environment', message });
  }
  const lines = problems.map(({ name, message }) => `  ${name} ${message}`);
  throw new ConfigError(
    problems.map(({ name }) => name),
    `The configuration is wrong. Set these environment variables right:\n${lines.join('\n')}`,
  );
}

/**
 * Reads the configuration at the start of a program. When it is wrong, prints the one message to
 * the standard error and exits 2, before anything has been started.
 */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  environment: Environment = process.env,
  options: ConfigOptions = {},
): z.output<z.ZodObject<Shape>> {
  try {
    return parseConfig(schema, environment, options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
