/**
 * Keeps a copy of all wallets in a file, from the first one on and for ever:
 *
 *     API_KEY=sk_… node docs/examples/downstream.ts http://127.0.0.1:4000/v1 wallets.json
 *
 * First it lists the wallets and remembers the position of the first answer, then it follows the feed
 * of events from there. It may be killed at any time: place and copy are in one file, which is
 * replaced as a whole. An event that comes a second time changes nothing, because it carries
 * the whole wallet.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

interface Wallet {
  readonly id: string;
  readonly credit_balance: string;
  readonly wallet_status: string;
}

interface Copy {
  /** Everything up to this position of the log is in the wallets below. */
  position: string;
  readonly wallets: Record<string, Wallet>;
}

interface Page {
  readonly items: readonly {
    readonly event_type: string;
    readonly data: { readonly wallet?: Wallet };
  }[];
  readonly next_position: string;
  readonly has_more: boolean;
}

const [baseUrl = 'http://127.0.0.1:4000/v1', file = 'wallets.json'] = process.argv.slice(2);
const headers = { 'x-api-key': process.env.API_KEY ?? '', 'content-type': 'application/json' };
const pageSize = 200;
const idleMilliseconds = 200;
const retryMilliseconds = 1_000;

/** An answer of the API, asked again for as long as it cannot be had. A search has a body. */
async function ask<Body>(
  path: string,
  search?: object,
): Promise<{ body: Body; position: string | null }> {
  const request = search
    ? { method: 'POST', headers, body: JSON.stringify(search) }
    : { method: 'GET', headers };
  for (;;) {
    try {
      const answer = await fetch(`${baseUrl}${path}`, request);
      if (answer.ok) {
        const position = answer.headers.get('counterfoil-position');
        return { body: (await answer.json()) as Body, position };
      }
      const text = await answer.text();
      // What is wrong with the request itself does not get better by asking again.
      if (answer.status < 500 && answer.status !== 429) {
        console.error(`${path}: ${answer.status} ${text}`);
        process.exit(1);
      }
    } catch (error) {
      console.error(`${path}: ${error}`);
    }
    await pause(retryMilliseconds);
  }
}

/** All wallets there are, and a position from which on nothing is missed. */
async function listed(): Promise<Copy> {
  const copy: Copy = { position: '0', wallets: {} };
  for (let offset = 0; ; offset += pageSize) {
    const { body, position } = await ask<{ items: Wallet[] }>('/wallets/search', {
      limit: pageSize,
      offset,
    });
    // The first position: what happens while the other pages are read comes with the feed.
    if (offset === 0) copy.position = position ?? '0';
    for (const wallet of body.items) copy.wallets[wallet.id] = wallet;
    if (body.items.length < pageSize) return copy;
  }
}

function save(copy: Copy): void {
  writeFileSync(`${file}.new`, JSON.stringify(copy));
  renameSync(`${file}.new`, file);
}

const copy: Copy = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : await listed();
save(copy);
for (;;) {
  const { body } = await ask<Page>(`/feed?after_position=${copy.position}&limit=${pageSize}`);
  for (const { data } of body.items) if (data.wallet) copy.wallets[data.wallet.id] = data.wallet;
  if (body.next_position !== copy.position) {
    copy.position = body.next_position;
    save(copy);
  }
  if (!body.has_more) await pause(idleMilliseconds);
}
