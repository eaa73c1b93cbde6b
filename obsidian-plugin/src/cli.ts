import type { CliData } from 'obsidian';
import type { Client } from './client';
import { oneLine, shortID, visible } from './texts';
import type { Hit, SearchResult } from './types';

/** answerCli returns the results of a search as lines for Obsidian's own command line. */
export async function answerCli(client: Client, params: CliData): Promise<string> {
  const q = (params.query ?? '').trim();
  if (!q) return 'missing query; use: obsidian emberd query="…"';
  const query = { q, limit: Number(params.limit) || 10, scope: params.scope };
  try {
    const { hits, nearest } = await client.call<SearchResult>('/v1/search', { query });
    const lines = hits.map(lineOf);
    if (nearest) lines.unshift('no good match; the nearest results are:');
    return visible(lines.join('\n') || 'no results');
  } catch (err) {
    return `emberd: ${(err as Error).message}`;
  }
}

function lineOf(hit: Hit): string {
  const where = hit.note ? `${hit.note.path}:${hit.note.line}` : shortID(hit.id ?? '');
  return `${where}\t${oneLine(hit.snippet.text, 200)}`;
}
