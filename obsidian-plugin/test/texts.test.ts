import { expect, test } from 'vitest';
import { asWords, linkDistance, locate, merge, paragraphAt, queries, select } from '../src/related';
import { age, bodyOf, differs, inert, markedWords, oneLine, pieces, quoteOf, visible } from '../src/texts';
import type { Around } from '../src/related';
import type { Hit } from '../src/types';

test('what a reader cannot see is written out', () => {
  expect(visible('a\u202eb\u200bc\u{e0041}\n\td\u0007')).toBe('a⟨U+202E⟩b⟨U+200B⟩c⟨U+E0041⟩\n\td⟨U+0007⟩');
  expect(visible('Zoë 日本語 👍')).toBe('Zoë 日本語 👍');
});

test('marks are byte ranges', () => {
  const snippet = { text: 'Zoë trinkt Tee', marks: [[5, 11], [12, 15], [90, 99], [2, 3]] as [number, number][] };
  expect(pieces(snippet).map((p) => (p.marked ? `[${p.text}]` : p.text)).join('')).toBe('Zoë [trinkt] [Tee]');
  expect(markedWords(snippet)).toEqual(['trinkt', 'tee']);
});

test('a search of a text has no operators', () => {
  expect(asWords('#tag "quoted" -not tag:x [status:done] path:a/ (v1.2) well-known it’s')).toBe(
    'tag quoted not tag x status done path a v1.2 well-known it’s ',
  );
  expect(asWords('--- *** []')).toBe('');
  expect(asWords('word '.repeat(99)).split(' ')).toHaveLength(41);
});

const note = '---\ntags: [x]\n---\n# Plan\n\nThe broker is [[Rabbit|RabbitMQ]]. It listens\non port 5672.\n\nOther text here.\n';

test('the paragraph at the cursor', () => {
  expect(paragraphAt(note, note.indexOf('broker'))).toBe('The broker is RabbitMQ. It listens\non port 5672.');
  expect(paragraphAt(note, 5)).toBe('');
  expect(bodyOf(note).startsWith('# Plan')).toBe(true);
});

test('queries are sentences of the paragraph, or title and beginning', () => {
  const passage = { title: 'Plan for May', text: note, offset: note.indexOf('broker') };
  expect(queries(passage, false)).toEqual(['The broker is RabbitMQ It listens on port 5672 ']);
  expect(queries(passage, true)).toEqual(['Plan for May Plan The broker is RabbitMQ ', 'It listens on port 5672 Other text here ']);
  expect(queries({ ...passage, offset: null }, false)).toHaveLength(2);
  expect(queries({ title: '', text: '', offset: 0 }, false)).toEqual([]);
});

const memory = (id: string, relevance: number, more: Partial<Hit> = {}): Hit => ({
  tier: 'memory', id, content: id, relevance, rank: 1, snippet: { text: id }, ...more,
});
const noteHit = (path: string, relevance: number, memoryID?: string): Hit => ({
  tier: 'note', relevance, rank: 1, snippet: { text: path },
  note: { vault: 'v', path, title: path, line: 1, modified: '', memory_id: memoryID },
});

test('a hit of several answers counts once, and an answer where nothing fits not at all', () => {
  const hits = merge([
    { hits: [memory('a', 0.4), noteHit('A.md', 0.8, 'a')], total: 2 },
    { hits: [memory('b', 0.5), noteHit('A.md', 0.3, 'a')], total: 1 },
    { hits: [memory('c', 0.9)], total: 1, nearest: true },
  ]);
  expect(hits.map((hit) => hit.note?.path ?? hit.id)).toEqual(['A.md', 'b']);
});

const around: Around = {
  path: 'Plan.md', memoryID: 'own', text: 'ada lovelace wrote', hideLinked: true,
  links: { 'Plan.md': { 'Linked.md': 1 }, 'Linked.md': { 'Far.md': 1 } }, place: (_, path) => path,
};

test('the note itself, what it links to and what is not relevant are left out', () => {
  const hits = [noteHit('Plan.md', 1), memory('own', 1), noteHit('Linked.md', 1), noteHit('Far.md', 0.6),
    memory('x', 0.5, { entities: ['Ada Lovelace'] }), memory('low', 0.4)];
  const found = select(hits, around, 10);
  expect(found.map((r) => [r.hit.note?.path ?? r.hit.id, r.reasons])).toEqual([
    ['Far.md', ['two links away']], ['x', ['names Ada Lovelace']]]);
  expect(select(hits, { ...around, hideLinked: false }, 1)[0]?.reasons).toEqual(['linked']);
});

test('links and folders', () => {
  expect(linkDistance({ a: { c: 1 }, b: { c: 1 } }, 'a', 'b')).toBe(2);
  expect(linkDistance({ a: {} }, 'a', 'b')).toBe(0);
  expect(locate([{ name: 'v', path: '/v/sub' }], '/v', 'v', 'A.md')).toBe('sub/A.md');
  expect(locate([{ name: 'v', path: '/v' }], '/v/sub', 'v', 'A.md')).toBeNull();
});

test('texts of results', () => {
  expect(oneLine('a  b\nc', 3)).toBe('a b…');
  expect(quoteOf('a\nb', 'Plan.md')).toBe('> a\n> b\n> — Plan.md\n');
  expect(age(new Date(Date.now() - 3 * 86_400_000).toISOString())).toBe('3 days ago');
  expect(differs('---\nmemory-id: "x"\n---\nAda \\<b>tea\\</b>', 'Ada <b>tea</b>')).toBe(false);
  expect(differs('---\nmemory-id: "x"\n---\nother', 'Ada <b>tea</b>')).toBe(true);
});

test('a quote runs, loads and hides nothing', () => {
  for (const [text, safe] of [
    ['```dataviewjs\nx\n```', '```text dataviewjs\nx\n```'],
    ['- ~~~ dataview\nx', '- ~~~text dataview\nx'],
    ['```\nx\n```', '```\nx\n```'],
    ['![](http://evil/x.png) ![[Secret]]', '\\![](http://evil/x.png) \\![[Secret]]'],
    ['\\![](http://evil/x.png)', '\\![](http://evil/x.png)'],
    ['\\\\![](http://evil/x.png)', '\\\\\\![](http://evil/x.png)'],
    ['<% tp.file.delete() %>', '<\\% tp.file.delete() %>'],
    ['<iframe src=x></iframe> 1 < 2', '\\<iframe src=x>\\</iframe> 1 < 2'],
    ['%%gone%%', '%\\%gone%\\%'],
    ['`= this.file`, `$=dv.pages()`, `x = 1`', '`\\= this.file`, `\\$=dv.pages()`, `x = 1`'],
    ['[[Plan]] and *stress*', '[[Plan]] and *stress*'],
  ] as const) {
    expect(inert(text)).toBe(safe);
    expect(inert(safe)).toBe(safe.replace('```text dataviewjs', '```text text dataviewjs').replace('~~~text', '~~~text text'));
    expect(quoteOf('a', text)).toContain(inert(oneLine(text)));
  }
  expect(quoteOf('![](http://evil/x.png)', '')).toBe('> \\![](http://evil/x.png)\n');
  inert('\\'.repeat(50_000) + '\n'.repeat(50_000) + ' '.repeat(50_000)); // in time that grows with the text
});
