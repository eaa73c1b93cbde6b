import type { App as RealApp, View } from 'obsidian';
import { App, FileSystemAdapter, MarkdownView, Platform, TFile } from 'obsidian-test-mocks/obsidian';
import type { Plugin as MockPlugin, WorkspaceLeaf } from 'obsidian-test-mocks/obsidian';
import manifest from '../manifest.json';
import EmberdPlugin from '../src/main';
import type { Daemon } from './daemon';
import { until } from './daemon';

// The mocks are on Windows, where there is no daemon.
Object.assign(Platform, { isWin: false, isLinux: true });

/** Window is an Obsidian of mocks with the folder of a daemon's vault. */
export class Window {
  readonly app: App;

  constructor(private readonly daemon: Daemon) {
    const adapter = FileSystemAdapter.create__(daemon.vault).asOriginalType__();
    this.app = App.createConfigured__({ adapter });
  }

  /** add creates a note here and in the daemon's folder. */
  add(path: string, text: string): TFile {
    this.daemon.note(path, text);
    const folder = path.split('/').slice(0, -1).join('/');
    if (folder && !this.app.vault.getFolderByPath(folder)) this.app.vault.createFolderSync__(folder);
    return this.app.vault.createSync__(path, text);
  }

  /** load returns the plugin after Obsidian loaded it. */
  async load(): Promise<EmberdPlugin> {
    const plugin = new EmberdPlugin(this.app as unknown as RealApp, manifest);
    mockOf(plugin).data__ = { socket: this.daemon.socket };
    await plugin.onload();
    mockOf(plugin).loaded__ = true;
    this.app.workspace.setLayoutReady__();
    return plugin;
  }

  /** show opens a note, with the cursor at an offset. */
  async show(file: TFile, offset = 0): Promise<MarkdownView> {
    const leaf = this.app.workspace.getLeaf('tab');
    const view = MarkdownView.create2__(leaf);
    view.setViewData(this.app.vault.readSync__(file), true);
    view.editor.setCursor(view.editor.offsetToPos(offset));
    view.file = file;
    await leaf.openFile(file);
    await leaf.open(view as never);
    this.app.workspace.setActiveLeaf(leaf);
    Object.assign(this.app.workspace, { activeEditor: { editor: view.editor, file } });
    this.app.workspace.trigger('file-open', file);
    return view;
  }

  /** open opens a view of the plugin, as a leaf of the sidebar does. */
  async open<T extends View>(plugin: EmberdPlugin, type: string): Promise<T> {
    const leaf = this.app.workspace.getRightLeaf(false) as WorkspaceLeaf;
    const creator = mockOf(plugin).views__.get(type) as unknown as (leaf: WorkspaceLeaf) => T;
    const view = creator(leaf);
    await leaf.setViewState({ type });
    (view as unknown as { load(): void }).load();
    await (view as unknown as { onOpen(): Promise<void> }).onOpen();
    return view;
  }
}

/** close closes a view, as Obsidian does. */
export async function close(view: View): Promise<void> {
  await (view as unknown as { onClose(): Promise<void> }).onClose();
  (view as unknown as { unload(): void }).unload();
}

/** mockOf returns the side of a plugin that only the mocks have. */
export function mockOf(plugin: EmberdPlugin): MockPlugin {
  return plugin as unknown as MockPlugin;
}

/** connected waits until the plugin reached the daemon. */
export function connected(plugin: EmberdPlugin): Promise<void> {
  return until(() => plugin.connection.connected);
}

/** contentOf returns the element that a view draws into. */
export function contentOf(view: View): HTMLElement {
  return (view as unknown as { contentEl: HTMLElement }).contentEl;
}
