import type { EntitlementCheck } from '@counterfoil/modules';
import type { Command } from 'commander';
import { ask, type PlaceOptions, withPlace } from '../api-options.ts';

interface CheckOptions extends PlaceOptions {
  readonly quantity?: string;
  readonly json: boolean;
}

/** Adds `usage check`, which exits with code 1 where the use is not allowed. */
export function addCheckCommand(usage: Command, print: (line: string) => void): void {
  withPlace(usage.command('check'))
    .description('tell whether a customer may use a feature now, and change nothing')
    .argument('<external_customer_id>')
    .argument('<feature_lookup_key>')
    .option('--quantity <number>', 'the use that is wanted, 1 by default')
    .option('--json', 'print the answer as JSON', false)
    .action(
      async (customer: string, feature: string, { quantity, json, ...place }: CheckOptions) => {
        const answer = await ask<EntitlementCheck>(place, 'POST', '/entitlements/check', {
          external_customer_id: customer,
          feature_lookup_key: feature,
          ...(quantity === undefined ? {} : { quantity }),
        });
        print(json ? JSON.stringify(answer) : checkLine(answer));
        if (!answer.allowed) process.exitCode = 1;
      },
    );
}

/** An answer in one line, for people. */
export function checkLine({ allowed, reason, limit, used, resets_at }: EntitlementCheck): string {
  const figures =
    limit === null ? (used === null ? '' : `, ${used} used`) : `, ${used} of ${limit} used`;
  const reset = resets_at === null ? '' : `, starts over at ${resets_at}`;
  return `${allowed ? 'allowed' : 'not allowed'}: ${reason}${figures}${reset}`;
}
