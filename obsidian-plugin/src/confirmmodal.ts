import { Modal, Setting } from 'obsidian';
import type { App } from 'obsidian';
import { visible } from './texts';

/** ConfirmModal asks one question and acts if the answer is yes. */
export class ConfirmModal extends Modal {
  constructor(
    app: App,
    private readonly question: string,
    private readonly yes: string,
    private readonly act: () => unknown,
  ) {
    super(app);
  }

  override onOpen(): void {
    this.contentEl.createEl('p', { text: visible(this.question) });
    new Setting(this.contentEl)
      .addButton((button) => button.setButtonText('Cancel').onClick(() => this.close()))
      .addButton((button) => button.setButtonText(this.yes).setCta().onClick(() => this.accept()));
  }

  override onClose(): void {
    this.contentEl.empty();
  }

  private accept(): void {
    this.close();
    void this.act();
  }
}
