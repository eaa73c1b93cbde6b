import { MarkdownView } from 'obsidian';
import type { TFile } from 'obsidian';
import type EmberdPlugin from './main';
import { MemoryModal } from './memorymodal';
import { differs, span } from './texts';
import type { Memory, Why } from './types';

/** stateOf returns the stage and the score of a memory in words. */
export function stateOf(memory: Memory): string {
  return `${memory.core ? 'core, never fades' : memory.stage}, score ${memory.score.toFixed(2)}`;
}

/** nextOf returns what happens to a memory next if it is left alone. */
export function nextOf(why: Why, now = Date.now()): string {
  const next = why.stages[0];
  if (why.memory.core || !next) return 'the stage does not change';
  return `${next.stage} in ${span(Date.parse(next.at) - now)} without use`;
}

/** memoryIDOf returns the memory that a note belongs to, "" for none. */
export function memoryIDOf(plugin: EmberdPlugin, file: TFile | null): string {
  const id: unknown = file && plugin.app.metadataCache.getFileCache(file)?.frontmatter?.['memory-id'];
  return typeof id === 'string' ? id : '';
}

/** NoteMemory is the memory of a note, and whether the note still has its text. */
export interface NoteMemory {
  why: Why;
  different: boolean;
}

/** noteMemory returns the memory of a note, null if it has none or the daemon does not know it. */
export async function noteMemory(plugin: EmberdPlugin, file: TFile): Promise<NoteMemory | null> {
  const id = memoryIDOf(plugin, file);
  if (!id || !plugin.connection.connected) return null;
  try {
    const why = await plugin.connection.client.call<Why>(`/v1/memories/${encodeURIComponent(id)}/why`);
    const text = await plugin.app.vault.cachedRead(file);
    return { why, different: why.memory.status !== 'archived' && differs(text, why.memory.content) };
  } catch {
    return null;
  }
}

/** badgeText returns the badge of a note in words. */
export function badgeText(found: NoteMemory): string {
  const hint = found.different ? '; the note and the memory have different texts' : '';
  return `Memory: ${stateOf(found.why.memory)}; ${nextOf(found.why)}${hint}`;
}

/** Badges puts a button into the header of each open note that is a memory. */
export class Badges {
  private readonly shown = new Map<MarkdownView, { key: string; button: HTMLElement }>();

  constructor(private readonly plugin: EmberdPlugin) {}

  /** update brings the buttons of all open notes up to date. */
  async update(): Promise<void> {
    const open = new Set<MarkdownView>();
    for (const leaf of this.plugin.app.workspace.getLeavesOfType('markdown')) {
      if (!(leaf.view instanceof MarkdownView) || !leaf.view.file) continue;
      open.add(leaf.view);
      await this.show(leaf.view, leaf.view.file);
    }
    for (const view of [...this.shown.keys()]) if (!open.has(view)) this.drop(view);
  }

  /** remove takes away every button. */
  remove(): void {
    for (const view of [...this.shown.keys()]) this.drop(view);
  }

  private async show(view: MarkdownView, file: TFile): Promise<void> {
    const found = await noteMemory(this.plugin, file);
    const text = found ? badgeText(found) : '';
    const key = `${file.path}\n${text}`;
    if (this.shown.get(view)?.key === key || !this.plugin.running) return;
    this.drop(view);
    if (!found) return;
    const icon = found.different ? 'alert-triangle' : 'brain';
    const button = view.addAction(icon, text, () => new MemoryModal(this.plugin, found.why.memory.id).open());
    this.shown.set(view, { key, button });
  }

  private drop(view: MarkdownView): void {
    this.shown.get(view)?.button.remove();
    this.shown.delete(view);
  }
}
