import type { CreditNoteId } from '@counterfoil/kernel';

const randomCharacters = 9;

/** A number of at most 12 characters, which follows from the id of the note. */
export const numberOf = (id: CreditNoteId): string => `CN-${id.slice(-randomCharacters)}`;
