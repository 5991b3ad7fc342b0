import { clearable, textSchema } from '@counterfoil/kernel';
import { iso31661 } from 'iso-3166';
import { z } from 'zod';

const countries: ReadonlySet<string> = new Set(iso31661.map(({ alpha2 }) => alpha2));

/** The form is checked first, because case mapping would make a country of the letter "ß". */
const isCountry = (code: string): boolean =>
  /^[A-Za-z]{2}$/.test(code) && countries.has(code.toUpperCase());

const countrySchema = z
  .string()
  .refine(
    (code) => code === '' || isCountry(code),
    'must be an ISO 3166-1 alpha-2 country code such as "DE"',
  )
  .transform((code) => code.toUpperCase())
  .meta({ example: 'DE' });

/** Address fields of a request; `""` and null clear (specification §4.9 and §8). */
export const addressInput = {
  address_line1: clearable(textSchema(255)).optional(),
  address_line2: clearable(textSchema(255)).optional(),
  address_city: clearable(textSchema(100)).optional(),
  address_state: clearable(textSchema(100)).optional(),
  address_postal_code: clearable(textSchema(20)).optional(),
  address_country: clearable(countrySchema).optional(),
} as const;

const kept = z.string().nullable();

/** Address fields inside an event. */
export const addressData = {
  address_line1: kept,
  address_line2: kept,
  address_city: kept,
  address_state: kept,
  address_postal_code: kept,
  address_country: kept,
} as const;

const shown = z.string().optional();

/** Address fields of a resource; unknown ones are left out. */
export const addressOutput = {
  address_line1: shown,
  address_line2: shown,
  address_city: shown,
  address_state: shown,
  address_postal_code: shown,
  address_country: shown,
} as const;

/** An address inside a state. */
export type Address = { readonly [Field in keyof typeof addressData]: string | null };

/** The address of a record that has none yet. */
export const noAddress: Address = {
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: null,
};
