/**
 * The text of an array of PostgreSQL whose values need no quotes: numbers, instants and hexadecimal digits. The
 * driver would look at every character of each for something to escape.
 */
export const arrayText = (values: readonly (string | number)[]): string => `{${values.join(',')}}`;
