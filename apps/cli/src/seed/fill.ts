import { type ApiPlace, bodyOf, callApi, refusalCode } from '../http-api.ts';
import { resellerCatalogue, resellerCustomers } from './catalogue.ts';

/** The key of the import: an environment is filled once, whatever becomes of its catalogue. */
const importKey = 'counterfoil-seed-catalogue';

/**
 * Fills the catalogue of an environment. A repetition changes nothing, also when the catalogue has been
 * changed since or this version has another one. Throws `OperatorError`.
 */
export async function fillCatalogue(place: ApiPlace, signal?: AbortSignal): Promise<void> {
  const answer = await callApi(place, 'POST', '/catalog/import', {
    body: { document: resellerCatalogue },
    idempotencyKey: importKey,
    ...(signal ? { signal } : {}),
  });
  if (refusalCode(answer) === 'idempotency_conflict') return;
  bodyOf(answer);
}

/**
 * Creates the customers with a wallet each. A repetition changes nothing; a customer that existed before
 * stays as it is and gets no wallet. Throws `OperatorError`.
 */
export async function fillCustomers(place: ApiPlace): Promise<void> {
  for (const { external_id, name, currency, credits } of resellerCustomers) {
    const created = await callApi(place, 'POST', '/customers', {
      body: { external_id, name },
      idempotencyKey: `counterfoil-seed-customer-${external_id}`,
    });
    if (refusalCode(created) === 'already_exists') continue;
    const { id } = bodyOf(created) as { readonly id: string };
    const wallet = await callApi(place, 'POST', '/wallets', {
      body: {
        customer_id: id,
        currency,
        initial_credits_to_load: credits,
        conversion_rate: '0.01',
      },
      idempotencyKey: `counterfoil-seed-wallet-${external_id}`,
    });
    bodyOf(wallet);
  }
}
