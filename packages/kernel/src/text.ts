import { z } from 'zod';

/** Tells whether a text has at most this many Unicode code points, which is how people count. */
const hasAtMost = (maximum: number) => (text: string) =>
  text.length <= maximum || (text.length <= 2 * maximum && [...text].length <= maximum);

/** Text of at most `maximum` characters (code points). */
export const textSchema = (maximum: number) =>
  z
    .string()
    .refine(hasAtMost(maximum), `must have at most ${maximum} characters`)
    .meta({ maxLength: maximum });

/** The same, and neither empty nor blank. */
export const requiredTextSchema = (maximum: number) =>
  textSchema(maximum)
    .refine((text) => text.trim() !== '', 'must not be empty')
    .meta({ minLength: 1, maxLength: maximum });

const emailMaximum = 254;

const addressSchema = textSchema(emailMaximum)
  .refine(
    (text) => z.regexes.rfc5322Email.test(text),
    'must be an e-mail address such as "ada@example.com"',
  )
  .meta({ format: 'email', maxLength: emailMaximum });

/** An e-mail address; the empty string passes, because it is how an address is cleared. */
export const emailSchema = z.union([addressSchema, z.literal('')]);

/**
 * An optional text of a record that a caller may clear: `""` and null both become null
 * (D18). A check of the text has to let `""` pass.
 */
export const clearable = <Text extends z.ZodType<string, string>>(text: Text) =>
  text.nullable().transform((given) => given || null);
