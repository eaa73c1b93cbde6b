import { Notice } from 'obsidian';
import type { Editor, MarkdownFileInfo, MarkdownView } from 'obsidian';
import { memoryOf } from './actions';
import { memoryIDOf } from './badge';
import { inboxType } from './inboxview';
import { showToday } from './listmodal';
import type EmberdPlugin from './main';
import { relatedType } from './relatedview';
import { SearchModal } from './searchmodal';
import type { Choose } from './searchmodal';

/** addCommands registers everything that the command palette offers. */
export function addCommands(plugin: EmberdPlugin): void {
  const { actions } = plugin;
  const simple = (id: string, name: string, callback: () => unknown) => plugin.addCommand({ id, name, callback: () => void callback() });
  simple('search', 'Search memories and notes', () => new SearchModal(plugin).open());
  simple('related', 'Show related memories', () => plugin.reveal(relatedType));
  simple('inbox', 'Show inbox', () => plugin.reveal(inboxType));
  simple('today', 'Show memories of today', () => showToday(plugin));
  simple('undo', 'Undo last change', () => actions.undo());
  simple('reconnect', 'Reconnect', () => plugin.connection.retry());
  addSelectionCommands(plugin);
  const ofMemory = (id: string, name: string, scope: Choose['scope'], act: (id: string) => Promise<unknown>) =>
    simple(id, name, () => withMemory(plugin, `${name}: search for the memory`, scope, act));
  ofMemory('promote', 'Create note for memory', 'memories', (id) => actions.promote(id));
  ofMemory('archive', 'Archive memory', 'memories', (id) => actions.archive(id));
  ofMemory('rekindle', 'Restore archived memory', 'archive', (id) => actions.rekindle(id));
}

function addSelectionCommands(plugin: EmberdPlugin): void {
  plugin.addCommand({
    id: 'remember-selection',
    name: 'Save selection as memory',
    editorCallback: (editor, info) => void remember(plugin, editor, info),
  });
  plugin.addCommand({
    id: 'recall-selection',
    name: 'Search for selection',
    editorCallback: (editor) => new SearchModal(plugin, editor.getSelection().slice(0, 1_000)).open(),
  });
}

async function remember(plugin: EmberdPlugin, editor: Editor, info: MarkdownView | MarkdownFileInfo): Promise<void> {
  const text = editor.getSelection().trim();
  if (!text) {
    new Notice('Emberd: to save a memory, select its text');
    return;
  }
  await plugin.actions.remember(text, info.file?.path ?? '', editor.getCursor('from').line + 1);
}

// The memory of the active note, or one that the user searches for.
async function withMemory(
  plugin: EmberdPlugin, placeholder: string, scope: Choose['scope'], act: (id: string) => Promise<unknown>,
): Promise<void> {
  const id = memoryIDOf(plugin, plugin.app.workspace.getActiveFile());
  if (id) await act(id);
  else new SearchModal(plugin, '', { placeholder, scope, act: (hit) => void act(memoryOf(hit)) }).open();
}
