import { SuggestModal } from 'obsidian';
import { renderResult } from './card';
import type EmberdPlugin from './main';
import type { Hit, SearchResult } from './types';

/** Choose decides what choosing a result does; without it Enter opens, Ctrl+Enter links and Shift+Enter quotes. */
export interface Choose {
  placeholder: string;
  scope?: 'memories' | 'archive';
  act: (hit: Hit) => void;
}

/** SearchModal searches memories and notes while the user types. */
export class SearchModal extends SuggestModal<Hit> {
  private cancel: AbortController | null = null;

  constructor(
    private readonly plugin: EmberdPlugin,
    private readonly start = '',
    private readonly choose: Choose | null = null,
  ) {
    super(plugin.app);
    this.limit = 30;
    this.setPlaceholder(choose?.placeholder ?? 'Search memories and notes');
    if (choose) return;
    this.setInstructions([
      { command: '↵', purpose: 'open' },
      { command: 'ctrl ↵', purpose: 'insert link' },
      { command: 'shift ↵', purpose: 'insert as quote' },
    ]);
    for (const modifier of ['Mod', 'Shift'] as const) {
      this.scope.register([modifier], 'Enter', (event) => {
        this.selectActiveSuggestion(event);
        return false;
      });
    }
  }

  override onOpen(): void {
    void super.onOpen();
    if (!this.start) return;
    this.inputEl.value = this.start;
    this.inputEl.dispatchEvent(new Event('input'));
  }

  override onClose(): void {
    this.cancel?.abort();
    super.onClose();
  }

  override async getSuggestions(query: string): Promise<Hit[]> {
    this.cancel?.abort();
    const cancel = new AbortController();
    this.cancel = cancel;
    if (!query.trim()) return [];
    try {
      const asked = { q: query, limit: this.limit, scope: this.choose?.scope };
      const answer = await this.plugin.connection.client.call<SearchResult>('/v1/search', { query: asked, signal: cancel.signal });
      this.emptyStateText = 'No results.';
      return answer.hits;
    } catch (err) {
      if (!cancel.signal.aborted) this.emptyStateText = (err as Error).message;
      return [];
    }
  }

  override renderSuggestion(hit: Hit, el: HTMLElement): void {
    el.addClass('emberd-suggestion');
    renderResult(el, hit, hit.why ? [hit.why] : []);
  }

  override onChooseSuggestion(hit: Hit, event: MouseEvent | KeyboardEvent): void {
    const { actions } = this.plugin;
    if (this.choose) this.choose.act(hit);
    else if (event.ctrlKey || event.metaKey) actions.insertLink(hit);
    else if (event.shiftKey) actions.insertQuote(hit);
    else void actions.open(hit);
  }
}
