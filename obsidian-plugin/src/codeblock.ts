import { MarkdownRenderChild } from 'obsidian';
import { renderCard } from './card';
import type EmberdPlugin from './main';
import { visible } from './texts';
import type { SearchResult } from './types';

/** Block is what a code block asks for. */
export interface Block {
  q: string;
  limit: number;
  scope?: string;
}

/** parseBlock reads a code block: lines "limit: N" and "scope: memories", all other lines are the query. */
export function parseBlock(source: string): Block {
  const block: Block = { q: '', limit: 10 };
  const words: string[] = [];
  for (const line of source.split('\n')) {
    const [, key, value = ''] = /^\s*(limit|scope):\s*(\S+)\s*$/.exec(line) ?? [];
    if (key === 'limit') block.limit = Math.min(50, Math.max(1, Math.trunc(Number(value)) || 10));
    else if (key === 'scope') block.scope = value;
    else words.push(line.trim());
  }
  block.q = words.join(' ').trim();
  return block;
}

/** QueryBlock renders the results of a code block and renews them when memories change. */
export class QueryBlock extends MarkdownRenderChild {
  private turn = 0;

  constructor(
    el: HTMLElement,
    private readonly plugin: EmberdPlugin,
    private readonly source: string,
  ) {
    super(el);
  }

  override onload(): void {
    this.containerEl.addClass('emberd-block');
    this.register(this.plugin.connection.listen(() => void this.render()));
    void this.render();
  }

  async render(): Promise<void> {
    const turn = ++this.turn;
    const block = parseBlock(this.source);
    if (!block.q) return this.message('To list memories, write a query into this block.');
    if (!this.plugin.connection.connected) return this.message(this.plugin.problem());
    try {
      const query = { ...block, trial: true };
      const { hits, nearest } = await this.plugin.connection.client.call<SearchResult>('/v1/search', { query });
      if (turn === this.turn) this.show(nearest ? [] : hits);
    } catch (err) {
      if (turn === this.turn) this.message((err as Error).message);
    }
  }

  private show(hits: SearchResult['hits']): void {
    if (hits.length === 0) return this.message('No results.');
    this.containerEl.empty();
    const list = this.containerEl.createDiv({ cls: 'emberd-list', attr: { role: 'list' } });
    for (const hit of hits) renderCard(list, { hit, path: null, reasons: [] }, this.plugin.actions);
  }

  private message(text: string): void {
    this.containerEl.empty();
    this.containerEl.createDiv({ cls: 'emberd-message', text: visible(text) });
  }
}
