import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { htmlOf } from './html.ts';
import { invoiceDocument } from './invoice-document.ts';
import { customer, invoiceOf, line, setting } from './test-document.ts';

const test = suite('HTML of documents');

const golden = (name: string) =>
  readFileSync(new URL(`./golden/${name}.html`, import.meta.url), 'utf8');

test('the invoice of the worked month, in three languages', () => {
  for (const tag of ['en', 'de', 'fr'] as const) {
    const shown = htmlOf(invoiceDocument(invoiceOf(), setting(tag)));
    assert.fixture(shown, golden(`invoice-${tag}`));
  }
});

const hostile = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&amp;</style>";

test('nothing that people have typed becomes markup', () => {
  const shown = htmlOf(
    invoiceDocument(
      invoiceOf({
        customer: customer({
          name: hostile,
          external_id: hostile,
          email: hostile,
          address_line1: hostile,
          address_city: hostile,
          metadata: { tax_id: hostile },
        }),
        description: hostile,
        invoice_number: hostile,
        line_items: [line({ display_name: hostile })],
        taxes: [
          {
            tax_rate: { name: hostile },
            taxable_amount: '1',
            tax_amount: '10.98',
            included_amount: '0',
          },
        ] as never,
      }),
      setting('en', 'UTC', { name: hostile, metadata: { document_footer: hostile } }),
    ),
  );
  const names = [...shown.matchAll(/<\/?([a-z!][\w]*)/gi)].map(([, name]) => name?.toLowerCase());
  const allowed =
    'html head meta title style body main h1 h2 header section p strong bdi address br dl div dt dd ' +
    'table caption thead tbody tr th td span code !doctype';
  assert.equal(
    [...new Set(names)].filter((name) => !allowed.split(' ').includes(name ?? '')),
    [],
  );
  assert.is(shown.match(/<style>/g)?.length, 1);
  assert.is(shown.match(/<\/style>/g)?.length, 1);
  assert.not.match(shown, /<[^>]*\son\w+=|<[^>]*\s(?:src|href)=/);
  assert.ok(shown.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
});

test('a draft and a void invoice say so', () => {
  for (const [invoice_status, word] of [
    ['DRAFT', 'DRAFT'],
    ['VOIDED', 'VOID'],
    ['SKIPPED', 'NOT BILLED'],
  ] as const) {
    const shown = htmlOf(invoiceDocument(invoiceOf({ invoice_status }), setting()));
    assert.ok(shown.includes(`<p class="watermark">${word}</p>`));
    assert.not.ok(shown.includes('Verification code'));
  }
});

test.run();
