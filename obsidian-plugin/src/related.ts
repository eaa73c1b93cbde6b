import type { Client } from './client';
import { bodyOf, markedWords } from './texts';
import type { Hit, SearchResult, VaultStatus } from './types';
import { inside } from './socket';

const mostQueries = 5;
const mostWords = 40; // of one query
const fewestWords = 8; // of one query, if there are more: a query of two words is met by anything that has one of them
const lowest = 0.5; // relevance from which a result is shown: as probable as not

/** asWords returns text without anything that a search reads as an operator, at most 40 words. */
export function asWords(text: string): string {
  const words = text.normalize('NFC').match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}_'’.]*(?:-[\p{L}\p{N}][\p{L}\p{M}\p{N}_'’.]*)*/gu) ?? [];
  const cut = words.slice(0, mostWords).map((word) => word.replace(/[.'’]+$/, '').slice(0, 60));
  return cut.length ? cut.join(' ') + ' ' : '';
}

/** Passage is what the user looks at: a note, and the place of the cursor in it, null without one. */
export interface Passage {
  title: string;
  text: string;
  offset: number | null;
}

/** queries returns what to search for: the title, and the sentences of the paragraph at the cursor or of the beginning. */
export function queries(passage: Passage, wholeNote: boolean): string[] {
  const paragraph = wholeNote || passage.offset === null ? '' : paragraphAt(passage.text, passage.offset);
  const text = paragraph || beginning(passage.text);
  const found = paragraph ? sentences(paragraph) : [passage.title, ...sentences(text)];
  return joinShort(found.map(asWords).filter(Boolean)).slice(0, mostQueries);
}

/** joinShort joins texts of words with those that follow until each has eight words. A short rest goes with the last. */
function joinShort(texts: string[]): string[] {
  const joined: string[] = [];
  let open = false;
  for (const text of texts) {
    if (open) joined[joined.length - 1] += text;
    else joined.push(text);
    open = wordCount(joined[joined.length - 1] ?? '') < fewestWords;
  }
  const rest = open && joined.length > 1 ? joined.pop() : undefined;
  if (rest) joined[joined.length - 1] += rest;
  return [...new Set(joined)];
}

function wordCount(text: string): number {
  return text.trim().split(' ').length;
}

/** paragraphAt returns the lines around an offset that no blank line separates, without properties. */
export function paragraphAt(text: string, offset: number): string {
  const start = text.length - bodyOf(text).length;
  if (offset < start) return '';
  const before = text.slice(start, offset).split(/\n[ \t]*\n/).pop() ?? '';
  const after = text.slice(offset).split(/\n[ \t]*\n/)[0] ?? '';
  return withoutMarkup(before + after);
}

function beginning(text: string): string {
  return withoutMarkup(bodyOf(text).slice(0, 4_000));
}

function withoutMarkup(text: string): string {
  return text
    .replace(/```[\s\S]*?(```|$)/g, '\n')
    .replace(/%%[\s\S]*?%%|<!--[\s\S]*?-->/g, ' ')
    .replace(/!?\[\[[^\]|\n]*\|([^\]\n]*)\]\]/g, '$1')
    .replace(/!?\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .trim();
}

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?。！？])\s+|\n+/u).map((part) => part.trim()).filter(Boolean);
}

/** Around is what the plugin knows about the active note. */
export interface Around {
  path: string;
  memoryID: string;
  text: string; // in lower case
  links: Record<string, Record<string, number>>; // of every note, to every note
  hideLinked: boolean;
  place(vault: string, path: string): string | null; // of a note of emberd's in this Obsidian vault
}

/** Related is a result with the reasons why it is shown. */
export interface Related {
  hit: Hit;
  path: string | null; // of its note in this vault
  reasons: string[];
}

/** search asks for each query and returns each memory and note once, as merge does. */
export async function search(client: Client, asked: string[], limit: number, signal?: AbortSignal): Promise<Hit[]> {
  const query = { limit, trial: true };
  const answers = asked.map((q) => client.call<SearchResult>('/v1/search', { query: { ...query, q }, signal }));
  return merge(await Promise.all(answers));
}

/** merge joins answers, the hit that is relevant to most of them first; of a hit in several, the most relevant stays. */
export function merge(answers: SearchResult[]): Hit[] {
  const best = new Map<string, Hit>();
  const total = new Map<string, number>();
  for (const hit of answers.flatMap((answer) => (answer.nearest ? [] : answer.hits))) {
    const key = keyOf(hit);
    const known = best.get(key);
    if (!known || known.relevance < hit.relevance) best.set(key, hit);
    total.set(key, (total.get(key) ?? 0) + hit.relevance);
  }
  const sum = (hit: Hit) => total.get(keyOf(hit)) ?? 0;
  return [...best.values()].sort((a, b) => sum(b) - sum(a) || b.rank - a.rank);
}

function keyOf(hit: Hit): string {
  return hit.note ? hit.note.memory_id || `${hit.note.vault}\n${hit.note.path}` : hit.id ?? '';
}

/** select leaves out the note itself, linked notes if asked for, and what is not relevant enough. */
export function select(hits: Hit[], around: Around, most: number): Related[] {
  const found: Related[] = [];
  for (const hit of hits) {
    const path = pathOf(hit, around);
    const distance = path === null ? 0 : linkDistance(around.links, around.path, path);
    if (hit.relevance < lowest || isItself(hit, path, around) || (around.hideLinked && distance === 1)) continue;
    found.push({ hit, path, reasons: reasonsFor(hit, distance, around.text) });
    if (found.length === most) break;
  }
  return found;
}

function pathOf(hit: Hit, around: Around): string | null {
  if (hit.note) return around.place(hit.note.vault, hit.note.path);
  return hit.vault_path ? around.place('', hit.vault_path) : null;
}

function isItself(hit: Hit, path: string | null, around: Around): boolean {
  const id = hit.note ? hit.note.memory_id : hit.id;
  return path === around.path || (!!id && id === around.memoryID);
}

/** linkDistance returns 1 if one note links to the other, 2 if both have a neighbor in common, else 0. */
export function linkDistance(links: Record<string, Record<string, number>>, from: string, to: string): number {
  const out = links[from] ?? {};
  const back = links[to] ?? {};
  if (to in out || from in back) return 1;
  for (const path in out) if (path in back || to in (links[path] ?? {})) return 2;
  for (const path in back) if (from in (links[path] ?? {})) return 2;
  return 0;
}

function reasonsFor(hit: Hit, distance: number, text: string): string[] {
  const reasons: string[] = [];
  const words = markedWords(hit.snippet);
  if (words.length) reasons.push('shares ' + words.join(', '));
  const named = (hit.entities ?? []).filter((name) => text.includes(name.toLowerCase()));
  if (named.length) reasons.push('names ' + named.slice(0, 2).join(', '));
  if (hit.why) reasons.push(hit.why);
  if (distance === 1) reasons.push('linked');
  if (distance === 2) reasons.push('two links away');
  return reasons.length ? reasons : ['same meaning'];
}

/** locate returns the path in the Obsidian vault at base of a note in one of emberd's vaults, null if it is outside. */
export function locate(vaults: VaultStatus[], base: string, vault: string, path: string): string | null {
  const root = vault ? vaults.find((v) => v.name === vault) : vaults[0];
  return root ? inside(`${root.path}/${path}`, base) : null;
}

/** covers reports whether emberd watches the folder at base or a part of it. */
export function covers(vaults: VaultStatus[], base: string): boolean {
  return vaults.some((v) => v.path === base || inside(v.path, base) !== null || inside(base, v.path) !== null);
}
