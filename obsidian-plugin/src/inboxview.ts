import { createHash } from 'crypto';
import { ConfirmModal } from './confirmmodal';
import { MemoryModal } from './memorymodal';
import { Pane } from './pane';
import { count, oneLine, shortID, span, visible } from './texts';
import type { Memory, Review, ReviewItem } from './types';

export const inboxType = 'emberd-inbox';
const most = 20; // items with their memories
const longestText = 600; // characters of a memory in the pane

/** choiceLabel returns what the button of a decision says. */
export function choiceLabel(choice: string, { item, memories }: Review): string {
  const [decision, which] = choice.split(/:(.*)/s);
  const several = memories.length > 1;
  if (decision === 'take') return `Use text ${1 + (item.texts ?? []).findIndex((other) => digitsOf(other.text) === which)}`;
  if (decision === 'forget' && which) return `Delete ${shortID(which)}`;
  const known: Record<string, string> = {
    keep: item.texts?.length ? 'Keep the text of the memory' : several ? 'Keep all' : 'Keep',
    merge: item.texts?.length ? 'Keep all texts' : 'Merge',
    promote: which ? 'Use the note' : several ? 'Create notes' : 'Create note',
    forget: several ? 'Delete all' : 'Delete',
  };
  return known[decision ?? ''] ?? choice;
}

// Decisions name a text by 64 bits of its SHA-256.
function digitsOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** InboxView lists what waits for a decision, with a button for each possible one. */
export class InboxView extends Pane {
  private turn = 0;

  override getViewType(): string {
    return inboxType;
  }

  override getDisplayText(): string {
    return 'Memory inbox';
  }

  override getIcon(): string {
    return 'inbox';
  }

  override async refresh(): Promise<void> {
    if (this.offline()) return;
    const turn = ++this.turn;
    try {
      const { client } = this.plugin.connection;
      const { items, total } = await client.call<{ items: ReviewItem[]; total: number }>('/v1/review', { query: { limit: most } });
      const reviews = await Promise.all(items.map((item) => client.call<Review>(`/v1/review/${encodeURIComponent(item.id)}`)));
      if (turn === this.turn) this.show(reviews, total);
    } catch (err) {
      if (turn !== this.turn) return;
      this.contentEl.empty();
      this.message(visible((err as Error).message));
    }
  }

  private show(reviews: Review[], total: number): void {
    this.contentEl.empty();
    this.message(total === 0 ? 'No pending decisions.' : count(total, 'pending decision'));
    const list = this.contentEl.createDiv({ cls: 'emberd-list', attr: { role: 'list' } });
    for (const review of reviews) this.item(list, review);
    if (total > reviews.length) this.message(`${total - reviews.length} more appear after these decisions.`);
  }

  private item(list: HTMLElement, review: Review): void {
    const card = list.createDiv({ cls: 'emberd-card emberd-review', attr: { role: 'listitem' } });
    card.createDiv({ cls: 'emberd-title', text: visible(review.item.action.replace(/_/g, ' ')) });
    if (review.item.evidence) card.createDiv({ cls: 'emberd-why', text: visible(oneLine(review.item.evidence, longestText)) });
    for (const memory of review.memories) this.memory(card, memory);
    for (const [i, other] of (review.item.texts ?? []).entries()) {
      card.createEl('blockquote', { cls: 'emberd-text', text: visible(`Text ${i + 1}: ${oneLine(other.text, longestText)}`) });
    }
    if (review.diff?.length) this.diff(card, review.diff);
    card.createDiv({ cls: 'emberd-meta', text: visible(policyOf(review)) });
    this.buttons(card, review);
  }

  private memory(card: HTMLElement, memory: Memory): void {
    const block = card.createEl('blockquote', { cls: 'emberd-text', text: visible(oneLine(memory.content, longestText)) });
    const link = block.createEl('button', { cls: 'emberd-id', text: shortID(memory.id), attr: { 'aria-label': 'Show memory' } });
    link.addEventListener('click', () => new MemoryModal(this.plugin, memory.id).open());
  }

  private diff(card: HTMLElement, lines: string[]): void {
    const details = card.createEl('details');
    details.createEl('summary', { text: 'Differences' });
    for (const line of lines.slice(0, 50)) {
      const kind = line.startsWith('- ') ? 'emberd-removed' : line.startsWith('+ ') ? 'emberd-added' : '';
      details.createDiv({ cls: `emberd-diff ${kind}`, text: visible(oneLine(line, longestText)) });
    }
  }

  private buttons(card: HTMLElement, review: Review): void {
    const row = card.createDiv({ cls: 'emberd-buttons' });
    for (const choice of review.choices) {
      const button = row.createEl('button', { text: visible(choiceLabel(choice, review)) });
      if (choice.startsWith('forget')) button.addClass('mod-warning');
      button.addEventListener('click', () => this.choose(review, choice));
    }
  }

  // Deleting several at once is asked for again; everything else is one click, with undo.
  private choose(review: Review, choice: string): void {
    const decide = async () => {
      if (await this.plugin.actions.decide(review.item.id, choice)) await this.refresh();
    };
    if (choice !== 'forget' || review.memories.length < 2) return void decide();
    new ConfirmModal(this.app, `Delete ${count(review.memories.length, 'memory', 'memories')}?`, 'Delete all', decide).open();
  }
}

function policyOf(review: Review): string {
  const { decided_by, decided_at, merge_refused } = review;
  const parts = [`created by ${review.item.agent}`];
  if (decided_by && decided_at) parts.push(`without a decision, emberd applies "${decided_by}" in ${span(Date.parse(decided_at) - Date.now())}`);
  if (merge_refused) parts.push(`emberd cannot merge the memories: ${merge_refused}`);
  return parts.join(' · ');
}
