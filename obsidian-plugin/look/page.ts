// The panes in a browser: Obsidian is played by its mocks, and the daemon's answers are those that look.mjs recorded
// from a real one.
import { setup } from 'obsidian-test-mocks/setup';

setup();

const { App, FileSystemAdapter, MarkdownView, Platform } = await import('obsidian-test-mocks/obsidian');
const { default: EmberdPlugin } = await import('../src/main');
const { default: manifest } = await import('../manifest.json');
Object.assign(Platform, { isWin: false, isLinux: true });

interface Input {
  vault: string;
  note: string;
  text: string;
  view: string;
}

/** draw puts one pane of the plugin into the page. */
async function draw(input: Input): Promise<void> {
  const app = App.createConfigured__({ adapter: FileSystemAdapter.create__(input.vault).asOriginalType__() });
  const file = app.vault.createSync__(input.note, input.text);
  const leaf = app.workspace.getLeaf('tab');
  const note = MarkdownView.create2__(leaf);
  note.setViewData(input.text, true);
  note.editor.setCursor({ line: 2, ch: 20 });
  await leaf.openFile(file);
  app.workspace.setActiveLeaf(leaf);
  Object.assign(app.workspace, { activeEditor: { editor: note.editor, file } });
  const plugin = new EmberdPlugin(app as never, manifest);
  await plugin.onload();
  app.workspace.setLayoutReady__();
  const side = app.workspace.getRightLeaf(false);
  const view = (plugin as never as { views__: Map<string, (leaf: unknown) => never> }).views__.get(input.view)?.(side) as never as {
    load(): void; onOpen(): Promise<void>; contentEl: HTMLElement;
  };
  document.body.append(view.contentEl);
  view.load();
  await view.onOpen();
}

Object.assign(window, { draw });
