import { MarkdownView, Menu, Notice, TFile } from 'obsidian';
import type { Editor } from 'obsidian';
import { EmberdError } from './client';
import type { Query } from './client';
import type EmberdPlugin from './main';
import { ConfirmModal } from './confirmmodal';
import { MemoryModal } from './memorymodal';
import { count, isUnconfirmed, quoteOf, sourceOf, visible } from './texts';
import type { Change, Hit } from './types';

/** memoryOf returns the ID of the memory of a result, "" for a note without one. */
export function memoryOf(hit: Hit): string {
  return (hit.note ? hit.note.memory_id : hit.id) ?? '';
}

/** Actions are what the user can do with results and memories. */
export class Actions {
  private readonly done: string[] = []; // changes of this session, for undo

  constructor(private readonly plugin: EmberdPlugin) {}

  /** open shows the note of a result, else its memory. */
  async open(hit: Hit): Promise<void> {
    const file = this.fileOf(hit);
    if (file) return this.openFile(file, hit.note?.line);
    if (hit.note) return this.openOutside(hit.note.path);
    if (hit.id) new MemoryModal(this.plugin, hit.id).open();
  }

  /** insertLink writes a link to the note of a result at the cursor, or its text as a quote if it has no note. */
  insertLink(hit: Hit): void {
    this.insert(this.linkOf(hit) ?? quoteOf(this.textOf(hit), this.sourceOf(hit)));
  }

  /** insertQuote writes the whole text of a memory, or the part of a note that matched, at the cursor. */
  insertQuote(hit: Hit): void {
    this.insert(quoteOf(this.textOf(hit), this.sourceOf(hit)));
  }

  /** linkOf returns a link to the note of a result, null if there is none in this vault. */
  linkOf(hit: Hit): string | null {
    const file = this.fileOf(hit);
    if (!file) return null;
    const from = this.plugin.app.workspace.getActiveFile()?.path ?? '';
    return this.plugin.app.fileManager.generateMarkdownLink(file, from);
  }

  /** dragText returns what dropping a result writes. */
  dragText(hit: Hit): string {
    return this.linkOf(hit) ?? quoteOf(this.textOf(hit), this.sourceOf(hit));
  }

  menu(hit: Hit, event: MouseEvent): void {
    const menu = new Menu();
    const add = (title: string, icon: string, act: () => unknown) =>
      menu.addItem((item) => item.setTitle(title).setIcon(icon).onClick(() => void act()));
    add('Open', 'file-text', () => this.open(hit));
    add('Insert link', 'link', () => this.insertLink(hit));
    add('Insert as quote', 'quote', () => this.insertQuote(hit));
    const id = memoryOf(hit);
    if (id) this.memoryItems(id, hit, add);
    menu.showAtMouseEvent(event);
  }

  private memoryItems(id: string, hit: Hit, add: (title: string, icon: string, act: () => unknown) => void): void {
    add('Show memory', 'info', () => new MemoryModal(this.plugin, id).open());
    if (isUnconfirmed(hit)) add('Confirm', 'check', () => this.memory(id, 'confirm', 'confirmed the memory'));
    if (hit.core !== undefined || hit.tier === 'memory') {
      add(hit.core ? 'Remove core mark' : 'Mark as core', 'pin', () => this.setCore(id, !hit.core));
    }
    add('Delete', 'trash-2', () => this.forget(id));
    add('Undo the last change', 'undo-2', () => this.undo());
  }

  /** memory applies an operation to one memory and reports it. */
  memory(id: string, operation: string, past: string): Promise<boolean> {
    return this.change(past, 'POST', `/v1/memories/${encodeURIComponent(id)}/${operation}`, {});
  }

  setCore(id: string, core: boolean): Promise<boolean> {
    return this.change(core ? 'marked the memory as core' : 'removed the core mark', 'PATCH', `/v1/memories/${encodeURIComponent(id)}`, { core });
  }

  forget(id: string): Promise<boolean> {
    return this.change('moved the memory to the trash', 'DELETE', `/v1/memories/${encodeURIComponent(id)}`);
  }

  async rekindle(id: string): Promise<boolean> {
    const answer = await this.ask<{ results: (Change & { hint?: string })[] }>('POST', '/v1/rekindle', { q: id });
    if (!answer) return false;
    return this.report('restored the text', answer.results[0] ?? {});
  }

  async archive(id: string): Promise<boolean> {
    const path = `/v1/memories/${encodeURIComponent(id)}/archive`;
    const answer = await this.ask<Change & { skipped?: { reason: string }[] }>('POST', path, {});
    if (!answer) return false;
    return this.report(answer.skipped?.[0] ? `not archived: ${answer.skipped[0].reason}` : 'archived the memory', answer);
  }

  async promote(id: string): Promise<boolean> {
    const path = `/v1/memories/${encodeURIComponent(id)}/promote`;
    const answer = await this.ask<Change & { outcome: string; path: string; reason?: string }>('POST', path, { force: true });
    if (!answer) return false;
    const waits = answer.outcome === 'pending' || answer.outcome === 'unmet';
    return this.report(waits ? `no note yet: ${answer.reason ?? answer.outcome}` : `created the note ${answer.path}`, answer);
  }

  /** remember saves a text unless it is known. */
  async remember(content: string, path: string, line: number): Promise<boolean> {
    const body = { content, origin: 'user', file: path, line };
    const answer = await this.ask<Change & { new: boolean; conflicts?: unknown[] }>('POST', '/v1/add', body);
    if (!answer) return false;
    const against = answer.conflicts?.length ? '; the memory contradicts another memory; see the inbox' : '';
    return this.report((answer.new ? 'saved the memory' : 'reinforced the existing memory') + against, answer);
  }

  decide(review: string, decision: string): Promise<boolean> {
    return this.change('applied the decision', 'POST', `/v1/review/${encodeURIComponent(review)}/close`, { decision });
  }

  /** undo reverts the last change made here, or after a question the last one of all. */
  async undo(): Promise<void> {
    const tx = this.done.pop();
    if (tx) return this.revert({ tx });
    const plan = await this.ask<{ entry: { tx: string; verb: string; ids: number } }>('POST', '/v1/undo', { dry_run: true });
    if (!plan) return;
    const what = `Undo "${plan.entry.verb}" of ${count(plan.entry.ids, 'memory', 'memories')}?`;
    new ConfirmModal(this.plugin.app, what, 'Undo', () => this.revert({ tx: plan.entry.tx })).open();
  }

  /** ask returns the answer to a request; if it is refused, it shows why and returns null. */
  async ask<T>(method: string, path: string, body?: unknown, query?: Query): Promise<T | null> {
    try {
      return await this.plugin.connection.client.call<T>(path, { method, body, query });
    } catch (err) {
      new Notice(visible(err instanceof EmberdError ? `Emberd: ${err.message}` : String(err)));
      return null;
    }
  }

  private async revert(body: { tx: string }): Promise<void> {
    if (await this.ask('POST', '/v1/undo', body)) new Notice('Emberd: undid the change');
  }

  private async change(past: string, method: string, path: string, body?: unknown): Promise<boolean> {
    const answer = await this.ask<Change>(method, path, body);
    return answer !== null && this.report(past, answer);
  }

  private report(past: string, change: Change): boolean {
    if (change.tx) this.done.push(change.tx);
    const notice = createFragment();
    notice.createSpan({ text: visible(`Emberd: ${past}`) });
    if (change.tx) this.undoButton(notice, change.tx);
    new Notice(notice, 8_000);
    return true;
  }

  private undoButton(notice: DocumentFragment, tx: string): void {
    const button = notice.createEl('button', { text: 'Undo', cls: 'emberd-undo' });
    button.addEventListener('click', () => {
      const at = this.done.indexOf(tx);
      if (at >= 0) void this.revert({ tx: this.done.splice(at, 1)[0] ?? tx });
    });
  }

  /** editor returns that of the note worked on last, also while a pane has the focus. */
  editor(): Editor | null {
    const { workspace } = this.plugin.app;
    if (workspace.activeEditor?.editor) return workspace.activeEditor.editor;
    const view = workspace.getMostRecentLeaf()?.view;
    return view instanceof MarkdownView ? view.editor : null;
  }

  private insert(text: string): void {
    const editor = this.editor();
    if (!editor) {
      new Notice('Emberd: to insert the text, open a note');
      return;
    }
    editor.replaceSelection(text);
  }

  private fileOf(hit: Hit): TFile | null {
    const { connection, app } = this.plugin;
    const path = hit.note ? connection.locate(hit.note.vault, hit.note.path) : connection.locate('', hit.vault_path ?? '');
    const file = path === null ? null : app.vault.getAbstractFileByPath(path);
    return file instanceof TFile ? file : null;
  }

  private async openFile(file: TFile, line = 1): Promise<void> {
    const leaf = this.plugin.app.workspace.getLeaf(false);
    await leaf.openFile(file, { eState: { line: line - 1 } });
  }

  private async openOutside(path: string): Promise<void> {
    const answer = await this.ask<{ uri: string }>('GET', '/v1/open', undefined, { ref: path });
    if (answer?.uri.startsWith('obsidian://')) window.open(answer.uri);
  }

  private textOf(hit: Hit): string {
    return visible(hit.note ? hit.snippet.text : hit.content ?? hit.snippet.text);
  }

  private sourceOf(hit: Hit): string {
    return visible(hit.note ? hit.note.path : sourceOf({ id: hit.id ?? '', source: hit.source }));
  }
}
