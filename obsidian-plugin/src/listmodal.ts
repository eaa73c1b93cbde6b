import { FuzzySuggestModal } from 'obsidian';
import { MemoryModal } from './memorymodal';
import type EmberdPlugin from './main';
import { age, oneLine, visible } from './texts';
import type { Recent } from './types';

/** TodayModal lists the memories that changed today. */
export class TodayModal extends FuzzySuggestModal<Recent> {
  constructor(
    private readonly plugin: EmberdPlugin,
    private readonly recent: Recent[],
  ) {
    super(plugin.app);
    this.emptyStateText = 'No memories saved today.';
    this.setPlaceholder('Memories of today');
  }

  override getItems(): Recent[] {
    return this.recent;
  }

  override getItemText(item: Recent): string {
    return visible(`${oneLine(item.text ?? item.path ?? '')} · ${item.what}, ${age(item.at)}`);
  }

  override onChooseItem(item: Recent): void {
    if (item.id) new MemoryModal(this.plugin, item.id).open();
  }
}

/** showToday asks for the memories that changed since midnight and lists them. */
export async function showToday(plugin: EmberdPlugin): Promise<void> {
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const query = { of: 'memories', since: midnight.toISOString(), limit: 100 };
  const answer = await plugin.actions.ask<{ items: Recent[] }>('GET', '/v1/recent', undefined, query);
  if (answer) new TodayModal(plugin, answer.items).open();
}
