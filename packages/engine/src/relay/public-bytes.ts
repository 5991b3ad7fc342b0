import { sql } from 'kysely';
import { runForever } from '../consume/run-forever.ts';
import { schemaName } from '../database/database.ts';
import type { EngineTables } from '../database/schema.ts';
import { given, openKysely, transactionTime } from '../database/statements.ts';
import { parsePublicSubject } from '../define/subject.ts';
import type { Position } from '../log/types.ts';
import type { Log } from '../operations/log.ts';
import type { OutgoingMessage } from './message.ts';

/** Counts what each tenant has on the public stream, for the quota that the api keeps (D45). */
export interface PublicBytesCount {
  /** Counts messages that are in the stream. */
  note(messages: readonly Pick<OutgoingMessage, 'subject' | 'body' | 'position'>[]): void;
  close(): Promise<void>;
}

interface Use {
  readonly tenant: string;
  readonly bytes: number;
  /** Position of the last event that is counted. */
  readonly position: Position;
}

const writeMilliseconds = 1_000;

/**
 * Keeps the bytes of bodies that each tenant publishes in an hour, which begins with the first message after the
 * hour before. They are written every second, so a relay that is killed forgets those of a second. A stream
 * that is filled again from the log counts nothing twice, but for the part that one second holds of both.
 */
export function countPublicBytes(options: {
  readonly database: string;
  readonly log: Pick<Log, 'warn'>;
}): PublicBytesCount {
  const pool = openKysely<EngineTables>(options.database, 1);
  const tables = pool.withSchema(schemaName);
  const stopping = new AbortController();
  const uses = new Map<string, Use>();

  const write = async (): Promise<number> => {
    const written = [...uses.values()];
    if (written.length === 0) return writeMilliseconds;
    const hourAgo = sql<string>`${transactionTime} - interval '1 hour'`;
    const rows = given('used', written, {
      tenant_id: ['text', ({ tenant }) => tenant],
      bytes: ['bigint', ({ bytes }) => bytes],
      position: ['bigint', ({ position }) => position],
    });
    await tables
      .insertInto('public_bytes')
      .columns(['tenant_id', 'bytes', 'position'])
      .expression(tables.selectFrom(rows).select(['tenant_id', 'bytes', 'position']))
      .onConflict((conflict) =>
        conflict
          .column('tenant_id')
          .doUpdateSet((row) => ({
            bytes: row
              .case()
              .when('public_bytes.began_at', '>', hourAgo)
              .then(sql<string>`public_bytes.bytes + excluded.bytes`)
              .else(row.ref('excluded.bytes'))
              .end(),
            began_at: row
              .case()
              .when('public_bytes.began_at', '>', hourAgo)
              .then(row.ref('public_bytes.began_at'))
              .else(transactionTime)
              .end(),
            position: row.ref('excluded.position'),
          }))
          .whereRef('excluded.position', '>', 'public_bytes.position'),
      )
      .execute();
    // What was counted meanwhile stays for the next time.
    for (const { tenant, bytes } of written) {
      const now = uses.get(tenant);
      if (!now || now.bytes === bytes) uses.delete(tenant);
      else uses.set(tenant, { ...now, bytes: now.bytes - bytes });
    }
    return writeMilliseconds;
  };

  const { log } = options;
  const running = runForever(write, { name: 'public bytes', log, signal: stopping.signal });
  return {
    note(messages) {
      for (const { subject, body, position } of messages) {
        const tenant = parsePublicSubject(subject)?.tenantId;
        if (tenant === undefined) continue;
        uses.set(tenant, {
          tenant,
          bytes: (uses.get(tenant)?.bytes ?? 0) + body.length,
          position,
        });
      }
    },
    async close() {
      stopping.abort();
      await running;
      await write().catch((error) => log.warn({ err: error }, 'public bytes are not counted'));
      await pool.destroy();
    },
  };
}
