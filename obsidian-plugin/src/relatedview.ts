import { TFile } from 'obsidian';
import { badgeText, memoryIDOf, noteMemory } from './badge';
import { renderCard } from './card';
import { MemoryModal } from './memorymodal';
import { Pane } from './pane';
import { queries, search, select } from './related';
import type { Around, Passage, Related } from './related';
import { visible } from './texts';

export const relatedType = 'emberd-related';
const most = 10; // results
const afterTyping = 300; // milliseconds
const longestNote = 200_000; // characters in which names of entities are looked for

/** RelatedView lists memories and notes for the paragraph at the cursor. */
export class RelatedView extends Pane {
  private cancelSearch: AbortController | null = null;
  private shown = '';

  override getViewType(): string {
    return relatedType;
  }

  override getDisplayText(): string {
    return 'Related memories';
  }

  override getIcon(): string {
    return 'brain-circuit';
  }

  override async onOpen(): Promise<void> {
    const { workspace } = this.app;
    this.registerEvent(workspace.on('file-open', () => this.later(0, false)));
    this.registerEvent(workspace.on('editor-change', () => this.later(afterTyping, false)));
    this.registerDomEvent(this.contentEl.ownerDocument, 'selectionchange', () => this.moved());
    await super.onOpen();
  }

  override async onClose(): Promise<void> {
    this.cancelSearch?.abort();
    await super.onClose();
  }

  private moved(): void {
    if (this.plugin.actions.editor()?.hasFocus()) this.later(afterTyping, false);
  }

  override async refresh(force: boolean): Promise<void> {
    if (this.offline()) return void (this.shown = '');
    const file = this.app.workspace.getActiveFile();
    if (!(file instanceof TFile) || file.extension !== 'md') return this.nothing('To see related memories, open a note.');
    const passage = await this.passage(file);
    const asked = queries(passage, this.plugin.settings.wholeNote);
    const key = [file.path, ...asked].join('\n');
    if (key === this.shown && !force) return;
    this.shown = key;
    if (asked.length === 0) return this.nothing('This note has no text yet.');
    await this.find(file, passage, asked);
  }

  private async passage(file: TFile): Promise<Passage> {
    const editor = this.plugin.actions.editor();
    if (!editor) return { title: file.basename, text: await this.app.vault.cachedRead(file), offset: null };
    return { title: file.basename, text: editor.getValue(), offset: editor.posToOffset(editor.getCursor()) };
  }

  private async find(file: TFile, passage: Passage, asked: string[]): Promise<void> {
    this.cancelSearch?.abort();
    const cancel = new AbortController();
    this.cancelSearch = cancel;
    try {
      const hits = await search(this.plugin.connection.client, asked, most * 2, cancel.signal);
      if (!cancel.signal.aborted) await this.show(file, select(hits, this.around(file, passage), most), cancel.signal);
    } catch (err) {
      if (!cancel.signal.aborted) this.nothing(visible((err as Error).message));
    }
  }

  private around(file: TFile, passage: Passage): Around {
    return {
      path: file.path,
      memoryID: memoryIDOf(this.plugin, file),
      text: passage.text.slice(0, longestNote).toLowerCase(),
      links: this.app.metadataCache.resolvedLinks,
      hideLinked: this.plugin.settings.hideLinked,
      place: (vault, path) => this.plugin.connection.locate(vault, path),
    };
  }

  private async show(file: TFile, found: Related[], canceled: AbortSignal): Promise<void> {
    this.contentEl.empty();
    const badge = this.contentEl.createDiv();
    if (found.length === 0) this.message('No memory or other note is related closely enough.');
    const list = this.contentEl.createDiv({ cls: 'emberd-list', attr: { role: 'list' } });
    for (const related of found) renderCard(list, related, this.plugin.actions);
    const memory = await noteMemory(this.plugin, file);
    if (!memory || canceled.aborted) return;
    const button = badge.createEl('button', { cls: 'emberd-badge', text: visible(badgeText(memory)) });
    button.toggleClass('emberd-different', memory.different);
    button.addEventListener('click', () => new MemoryModal(this.plugin, memory.why.memory.id).open());
  }

  private nothing(text: string): void {
    this.contentEl.empty();
    this.message(text);
  }
}
