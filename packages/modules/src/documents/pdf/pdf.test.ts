import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { invoiceDocument } from '../invoice-document.ts';
import { customer, invoiceOf, line, pagesOf, setting } from '../test-document.ts';
import { linesOf } from './lines.ts';
import { pdfOf } from './render.ts';
import { drawable, runsOf } from './runs.ts';

const test = suite('PDF of documents');

const rendered = (
  changes: Parameters<typeof invoiceOf>[0] = {},
  ...of: Parameters<typeof setting>
) => pdfOf(invoiceDocument(invoiceOf(changes), setting(...of)));

test('every text of an invoice can be read back', async () => {
  const [page, ...more] = pagesOf(await rendered());
  assert.is(more.length, 0);
  for (const text of [
    'Invoice',
    'Counter & Foil Ltd',
    'Ada Lovelace',
    'SW1Y 4JH London',
    'Tax number: GB 123',
    'INV-202602-00002',
    'Jan 1, 2026 – Jan 31, 2026',
    'API calls',
    '100 of it included, free of charge',
    '1,200',
    'Ten percent',
    '-$12.20',
    'VAT 10% on $109.80',
    '$115.78',
    'Page 1 of 1',
  ]) {
    assert.ok(page?.includes(text), `${text} is not among ${page?.join(' | ')}`);
  }
});

test('the same invoice gives the same bytes', async () => {
  const first = await rendered();
  const again = await rendered();
  assert.is(Buffer.compare(first, again), 0);
  const other = await rendered({ amount_remaining: '115.77' });
  assert.is.not(Buffer.compare(first, other), 0);
});

test('a draft says so on every page and has no code', async () => {
  const lines = Array.from({ length: 60 }, () => line());
  const draft = { invoice_status: 'DRAFT', invoice_number: null, line_items: lines } as const;
  const pages = pagesOf(await rendered(draft));
  assert.ok(pages.length > 1);
  for (const page of pages) assert.is(page[0], 'DRAFT');
  assert.not.ok(pages.flat().includes('Verification code'));
});

test('a thousand lines go over pages, each once, under the headings of their columns', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `Line ${index}`);
  const pages = pagesOf(
    await rendered({ line_items: names.map((display_name) => line({ display_name })) }),
  );
  const drawn = pages.flat().filter((text) => text.startsWith('Line '));
  assert.equal(drawn, names);
  const withLines = pages.filter((page) => page.some((text) => text.startsWith('Line ')));
  assert.ok(withLines.length > 20);
  for (const page of withLines) assert.ok(page.includes('Description') && page.includes('Amount'));
  for (const [index, page] of pages.entries()) {
    assert.ok(page.includes(`Page ${index + 1} of ${pages.length}`), `page ${index + 1}`);
  }
});

test('names of many scripts are drawn, each in a font that has them', async () => {
  const name = '上海测试有限公司 株式会社カタカナ 한국 회사 Łódź Ωλ Жук';
  const [page] = pagesOf(await rendered({ customer: customer({ name }) }));
  for (const part of [
    '上海测试有限公司',
    '株式会社カタカナ',
    '한국',
    '회사',
    'Łódź',
    'Ωλ',
    'Жук',
  ]) {
    assert.ok(page?.join('').includes(part), part);
  }
});

test('signs of currencies are drawn', async () => {
  for (const currency of ['eur', 'gbp', 'jpy', 'inr', 'krw', 'try', 'ils', 'pln', 'ngn']) {
    const texts = pagesOf(await rendered({ currency }))
      .flat()
      .join('');
    assert.not.match(texts, /\ufffd|\?/, currency);
  }
});

const visual = (text: string) => runsOf(drawable(text)).map((run) => run.text);

test('words from right to left stand in reverse, and their figures do not', () => {
  assert.equal(visual('a שלום עולם b'), ['a ', 'עולם', ' ', 'שלום', ' b']);
  assert.equal(visual('שלום 12.5% (טוב)').join(''), ['(', 'טוב', ') 12.5% ', 'שלום'].join(''));
  assert.equal(visual('a (טוב) b'), ['a (', 'טוב', ') b']);
});

test('what cannot be seen or would turn a line around is left out, and what no font has is marked', () => {
  assert.is(drawable('a\u202eb\u0000c\u200fd\ne\tf'), 'abcd e f');
  assert.is(drawable('a😀b'), 'a\ufffdb');
  assert.is(drawable('e\u0301'), 'é');
});

const measure = (text: string) => [...text].length;

test('lines end at spaces, within long words, and after any sign of scripts without spaces', () => {
  assert.equal(linesOf('one two three', 7, measure, 9), ['one two', 'three']);
  assert.equal(linesOf('abcdefghij', 4, measure, 9), ['abcd', 'efgh', 'ij']);
  assert.equal(linesOf('测试有限公司', 4, measure, 9), ['测试有限', '公司']);
  assert.equal(linesOf('', 4, measure, 9), ['']);
  assert.equal(linesOf('a b c d e f', 1, measure, 3), ['a', 'b', 'c…']);
});

test.run();
