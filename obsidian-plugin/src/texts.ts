import type { Hit, Memory, Snippet } from './types';

// Controls, format characters such as bidirectional marks, fillers and other separators: what a reader cannot see.
const unseen = /\p{Cc}|\p{Cf}|[\u{115f}\u{1160}\u{2028}\u{2029}\u{3164}\u{ffa0}]/gu;

/** visible returns text with characters that a reader cannot see, tabs and line breaks aside, written as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(unseen, (c) => (c === '\n' || c === '\t' ? c : `⟨U+${codeOf(c)}⟩`));
}

function codeOf(c: string): string {
  return (c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** oneLine returns text without line breaks, cut after most characters. */
export function oneLine(text: string, most = 300): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const points = Array.from(flat.slice(0, most * 2));
  return points.length <= most ? flat.slice(0, most * 2) : points.slice(0, most).join('') + '…';
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** pieces splits a snippet at its marks, which are ranges in bytes of UTF-8. Marks that do not fit are left out. */
export function pieces(snippet: Snippet): Piece[] {
  const bytes = new TextEncoder().encode(snippet.text);
  const decode = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  const found: Piece[] = [];
  let at = 0;
  for (const [from, to] of snippet.marks ?? []) {
    if (from < at || to <= from || to > bytes.length) continue;
    if (from > at) found.push({ text: decode(at, from), marked: false });
    found.push({ text: decode(from, to), marked: true });
    at = to;
  }
  if (at < bytes.length) found.push({ text: decode(at, bytes.length), marked: false });
  return found;
}

/** markedWords returns the different words that a snippet marks, at most four. */
export function markedWords(snippet: Snippet): string[] {
  const words = pieces(snippet).filter((p) => p.marked).map((p) => p.text.toLowerCase());
  return [...new Set(words)].slice(0, 4);
}

const day = 86_400_000; // milliseconds

/** span returns a time in days, months or years, such as "3 days". */
export function span(milliseconds: number): string {
  const days = Math.floor(Math.abs(milliseconds) / day);
  if (days < 1) return 'less than a day';
  if (days < 60) return count(days, 'day');
  if (days < 730) return count(Math.floor(days / 30.44), 'month');
  return count(Math.floor(days / 365.25), 'year');
}

/** age returns how long ago a moment was. */
export function age(at: string, now = Date.now()): string {
  const passed = now - Date.parse(at);
  if (Number.isNaN(passed)) return '';
  return passed < day ? 'today' : `${span(passed)} ago`;
}

/** count returns a number with its noun. */
export function count(n: number, one: string, many = one + 's'): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** shortID returns the last eight characters of an ID, by which emberd's commands know it, too. */
export function shortID(id: string): string {
  return id.slice(-8);
}

/** titleOf returns the heading of a result. */
export function titleOf(hit: Hit): string {
  return hit.note ? hit.note.title || hit.note.path : oneLine(hit.content ?? hit.snippet.text, 80);
}

/**
 * inert returns text in which Obsidian and common plugins run, load and hide nothing: commands of Templater, raw HTML,
 * images and embeds, comments, inline code of plugins, and blocks of code in any language but text.
 */
export function inert(text: string): string {
  const escape = (found: string, before: string) => (before.length % 2 ? found : '\\' + found);
  return text
    .replace(/<%/g, '<\\%')
    .replace(/(?<!\\)(\\*)<(?=[A-Za-z/!?])/g, escape)
    .replace(/(?<!\\)(\\*)!(?=\[)/g, escape)
    .replace(/%(?=%)/g, '%\\')
    .replace(/(`[ \t]*)(?=\$?=|dice|INPUT\[|VIEW\[|BUTTON\[|button-)/gi, '$1\\')
    .replace(/^([ \t>*+\-\d.)]*(?:`{3,}|~{3,}))[ \t]*(?=[^\s`~])/gm, '$1text ');
}

/** quoteOf returns a text as a Markdown quote with its source. Neither does anything in the note. */
export function quoteOf(text: string, source: string): string {
  const lines = inert(text.trim()).split('\n').map((line) => `> ${line}`);
  return lines.join('\n') + (source ? `\n> — ${inert(oneLine(source))}\n` : '\n');
}

/** sourceOf returns where a memory comes from. */
export function sourceOf(memory: Pick<Memory, 'id' | 'source'>): string {
  return memory.source || `emberd, memory ${shortID(memory.id)}`;
}

/** isUnconfirmed reports whether the user has not accepted yet what a tool or the web said. */
export function isUnconfirmed(memory: Partial<Memory>): boolean {
  return memory.trust === 'data';
}

/** differs reports whether a note no longer contains the text that the store has for its memory. */
export function differs(note: string, content: string): boolean {
  return !plain(bodyOf(note)).includes(plain(content));
}

/** bodyOf returns a note without its properties. */
export function bodyOf(note: string): string {
  return note.replace(/^---\r?\n[\s\S]*?\r?\n---(\r?\n|$)/, '');
}

// A note escapes characters that Markdown would read as a mark.
function plain(text: string): string {
  return text.replace(/\\(?=[!-/:-@[-`{-~])/g, '').replace(/\s+/g, ' ').trim();
}
