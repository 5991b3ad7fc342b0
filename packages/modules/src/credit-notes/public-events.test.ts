import { published } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { paidWorld } from '../test-paid-world.ts';
import { creditNote } from './credit-note.ts';
import { creditNotePublicEvents } from './public-events.ts';

const test = suite('credit note publications');

/** The types of all messages about a note with its state in them, each looked at for its declared form. */
async function told({ request }: Awaited<ReturnType<typeof paidWorld>>, id: string) {
  const messages = await published(request(), creditNotePublicEvents, creditNote, id);
  return messages.map(({ type, body }) => {
    const declared = creditNotePublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
    const { credit_note_status } = body.credit_note as { readonly credit_note_status: string };
    return `${type} ${credit_note_status}`;
  });
}

test('a note is told as it is created, is final and is void', async () => {
  const world = await paidWorld();
  const id = await world.invoice({ lines: [{ amount: '88' }] });
  const note = await world.credit(id, { line_1: '20' });
  await world.call('POST /creditnotes/{id}/void', { params: { id: note.id } });
  assert.equal(await told(world, note.id), [
    'credit_note.created DRAFT',
    'credit_note.updated FINALIZED',
    'credit_note.updated VOIDED',
  ]);
});

test.run();
