import { ItemView } from 'obsidian';
import type { WorkspaceLeaf } from 'obsidian';
import type EmberdPlugin from './main';

/** Pane is a view that shows why the daemon cannot be reached, or what it answers. */
export abstract class Pane extends ItemView {
  protected timer: number | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    protected readonly plugin: EmberdPlugin,
  ) {
    super(leaf);
    this.navigation = false;
  }

  /** later calls refresh after a pause in milliseconds, once for all calls before. */
  later(pause: number, force: boolean): void {
    this.cancel();
    this.timer = window.setTimeout(() => {
      this.timer = null;
      void this.refresh(force);
    }, pause);
  }

  abstract refresh(force: boolean): Promise<void>;

  override async onOpen(): Promise<void> {
    this.contentEl.addClass('emberd-pane');
    this.register(this.plugin.connection.listen((changed) => this.later(0, changed)));
    await this.refresh(true);
  }

  override async onClose(): Promise<void> {
    this.cancel();
    this.contentEl.empty();
  }

  override onunload(): void {
    this.cancel();
  }

  /** offline shows why nothing can be shown, and reports whether it did. */
  protected offline(): boolean {
    if (this.plugin.connection.connected) return false;
    this.contentEl.empty();
    const message = this.contentEl.createDiv({ cls: 'emberd-message', attr: { role: 'status' } });
    message.setText(this.plugin.problem());
    const button = this.contentEl.createEl('button', { text: 'Try again' });
    button.addEventListener('click', () => this.plugin.connection.retry());
    return true;
  }

  protected message(text: string): void {
    this.contentEl.createDiv({ cls: 'emberd-message', text, attr: { role: 'status' } });
  }

  private cancel(): void {
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.timer = null;
  }
}
