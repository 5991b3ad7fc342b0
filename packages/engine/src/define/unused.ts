import { z } from 'zod';

/**
 * A member that clients of the public contract send and that has no effect here (D6). It is taken in any
 * form, left out before the request is parsed, and named in the answer's `Counterfoil-Ignored`.
 */
export const unused = z
  .unknown()
  .meta({
    id: 'Unused',
    description: 'Accepted from clients of the public contract; it has no effect',
  })
  .optional();
