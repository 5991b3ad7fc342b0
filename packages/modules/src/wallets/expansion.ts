import { expandParameter, expansion, inTable } from '@counterfoil/engine/define';
import { customerRecords } from '../customers/index.ts';
import { usersById } from '../tenancy/index.ts';
import { walletTable } from './projection.ts';
import type { ExpandedTransaction } from './schema.ts';

/** The records that entries of the ledger show inside when `expand` names them. */
export const entryExpansion = expansion<ExpandedTransaction>({
  wallet: { as: 'wallet', id: ({ wallet_id }) => wallet_id, find: inTable(walletTable) },
  customer: {
    as: 'customer',
    id: ({ customer_id }) => customer_id,
    find: inTable(customerRecords.table),
  },
  created_by_user: {
    as: 'created_by_user',
    id: ({ created_by }) => created_by,
    find: usersById,
  },
});

const ofBalances = ['credits_available_breakdown'];

/** `expand` of balances. */
export const expandBalance = expandParameter(ofBalances, ofBalances);
