import { Modal, Setting } from 'obsidian';
import type EmberdPlugin from './main';
import { nextOf, stateOf } from './badge';
import { age, count, oneLine, shortID, span, visible } from './texts';
import type { Version, Why } from './types';

/** MemoryModal shows one memory: its text, why it has its score, what comes next, and its versions. */
export class MemoryModal extends Modal {
  constructor(
    private readonly plugin: EmberdPlugin,
    private readonly id: string,
  ) {
    super(plugin.app);
  }

  override onOpen(): void {
    this.setTitle(`Memory ${shortID(this.id)}`);
    this.contentEl.addClass('emberd-memory');
    this.contentEl.createEl('p', { text: 'Loading…' });
    void this.load();
  }

  override onClose(): void {
    this.contentEl.empty();
  }

  private async load(): Promise<void> {
    const path = `/v1/memories/${encodeURIComponent(this.id)}`;
    const [why, history] = await Promise.all([
      this.plugin.actions.ask<Why>('GET', path + '/why'),
      this.plugin.actions.ask<{ versions: Version[]; total: number }>('GET', path + '/history', undefined, { limit: 10 }),
    ]);
    this.contentEl.empty();
    if (!why) return;
    this.text(why);
    this.score(why);
    if (history) this.versions(history.versions, history.total);
    this.buttons(why);
  }

  private text(why: Why): void {
    this.contentEl.createEl('blockquote', { cls: 'emberd-text', text: visible(why.memory.content) });
    const { project, source, origin, created_at } = why.memory;
    const from = [`saved ${age(created_at)}`, project && `project ${project}`, origin && `from ${origin}`, source];
    this.contentEl.createDiv({ cls: 'emberd-meta', text: visible(from.filter(Boolean).join(' · ')) });
  }

  private score(why: Why): void {
    const { parts } = why;
    this.contentEl.createEl('h4', { text: 'Parts of the score' });
    this.contentEl.createEl('p', { text: visible(stateOf(why.memory)) });
    const list = this.contentEl.createEl('ul');
    list.createEl('li', { text: count(parts.use_count, 'use') });
    list.createEl('li', { text: `last used ${span(parts.age_days * 86_400_000)} ago` });
    list.createEl('li', { text: `strength ${parts.strength.toFixed(2)}` });
    list.createEl('li', { text: nextOf(why) });
  }

  private versions(versions: Version[], total: number): void {
    this.contentEl.createEl('h4', { text: count(total, 'version') });
    const list = this.contentEl.createEl('ul');
    for (const v of versions) {
      const by = v.by.client ?? v.by.via ?? '';
      list.createEl('li', { text: visible(oneLine(`${v.verb}, ${age(v.at)}${by && `, by ${by}`}`)) });
    }
  }

  private buttons(why: Why): void {
    const { actions } = this.plugin;
    const row = new Setting(this.contentEl);
    const add = (name: string, act: () => Promise<boolean>) =>
      row.addButton((button) => button.setButtonText(name).onClick(() => void this.run(act)));
    if (why.memory.status === 'archived') add('Restore text', () => actions.rekindle(this.id));
    else add('Archive', () => actions.archive(this.id));
    if (why.memory.status === 'active') add('Create note', () => actions.promote(this.id));
    add(why.memory.core ? 'Remove core mark' : 'Mark as core', () => actions.setCore(this.id, !why.memory.core));
    add('Delete', () => actions.forget(this.id));
  }

  private async run(act: () => Promise<boolean>): Promise<void> {
    if (await act()) this.close();
  }
}
