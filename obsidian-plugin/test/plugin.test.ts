import type { View } from 'obsidian';
import { Platform } from 'obsidian-test-mocks/obsidian';
import type { TFile } from 'obsidian-test-mocks/obsidian';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { badgeText, noteMemory } from '../src/badge';
import { QueryBlock, parseBlock } from '../src/codeblock';
import { inboxType } from '../src/inboxview';
import type EmberdPlugin from '../src/main';
import { relatedType } from '../src/relatedview';
import { SearchModal } from '../src/searchmodal';
import { defaults, settingsFrom } from '../src/settings';
import type { SettingsTab } from '../src/settings';
import type { Hit, Memory } from '../src/types';
import { Daemon, until } from './daemon';
import { Window, close, connected, contentOf, mockOf } from './obsidian';

const daemon = new Daemon();
const window_ = new Window(daemon);
const client = daemon.client();
let plugin: EmberdPlugin;
let plan: TFile;

const planText = '# Plan\n\nThe staging database listens on port 5433.\n\nSee [[Linked]] for the rest.\n';

beforeAll(async () => {
  window_.add('Linked.md', 'The staging database has a port that Linked explains.\n');
  plan = window_.add('Plan.md', planText);
  window_.add('Far.md', 'Why the staging database left port 5432.\n');
  await daemon.start(3);
  await save('Ada moved the staging database to port 5433', { project: 'billing' });
  await daemon.embedded(4);
  plugin = await window_.load();
  await connected(plugin);
});
afterAll(async () => {
  plugin.unload();
  client.close();
  await daemon.remove();
});

function save(content: string, more: object = {}): Promise<{ memory: Memory }> {
  return client.call('/v1/memories', { body: { content, ...more } });
}

function texts(view: View, selector: string): string[] {
  return [...contentOf(view).querySelectorAll(selector)].map((el) => el.textContent ?? '');
}

async function opened(type: string, cards: number): Promise<View> {
  const view = await window_.open<View>(plugin, type);
  await until(() => texts(view, '.emberd-card').length >= cards);
  return view;
}

test('the related pane shows memories and notes with reasons, but not the note itself nor linked ones', async () => {
  const editor = await window_.show(plan, planText.indexOf('database'));
  const view = await opened(relatedType, 2);
  const cards = texts(view, '.emberd-card');
  expect(cards.some((card) => card.includes('Ada moved the staging database') && card.includes('project') === false && card.includes('billing'))).toBe(true);
  expect(cards.some((card) => card.includes('Far'))).toBe(true);
  expect(cards.some((card) => card.startsWith('Plan') || card.startsWith('Linked'))).toBe(false);
  expect(texts(view, '.emberd-why').join()).toContain('shares');
  const far = [...contentOf(view).querySelectorAll<HTMLElement>('.emberd-card')].find((card) => card.textContent?.startsWith('Far'));
  far?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  expect(editor.editor.getValue()).toContain('[[Far]]');
  await close(view);
});

test('a paragraph that nothing is related to says so', async () => {
  const other = window_.add('Other.md', 'Xylophone quartets rehearse on Thursdays.\n');
  await window_.show(other);
  const view = await window_.open<View>(plugin, relatedType);
  await until(() => texts(view, '.emberd-message').join().includes('related closely enough'));
  expect(texts(view, '.emberd-card')).toEqual([]);
  await close(view);
});

test('the pane says that the daemon is gone and recovers', async () => {
  await window_.show(plan, planText.indexOf('database'));
  const view = await opened(relatedType, 1);
  await daemon.stop();
  await until(() => texts(view, '.emberd-message').join().includes('run: emberd serve'));
  expect(mockOf(plugin).statusBarItems__[0]?.textContent).toBe('Emberd: offline');
  await daemon.start(3);
  plugin.connection.retry();
  await until(() => texts(view, '.emberd-card').length > 0);
  expect(mockOf(plugin).statusBarItems__[0]?.textContent).toBe('Emberd: connected');
  await close(view);
});

test('hostile texts become text and nothing else', async () => {
  const payload = '<img src=x onerror=alert(1)> [x](javascript:alert(2)) <script>alert(3)</script> quokka \u202egnp.exe\u200b ';
  await save(payload + 'zebra '.repeat(8_000));
  await save('<svg/onload=alert(4)> quokka <iframe src="javascript:alert(5)"></iframe>', { project: '<b>p</b>', origin: 'web' });
  const note = window_.add('Hostile.md', 'The quokka is here.\n');
  await window_.show(note);
  const view = await opened(relatedType, 2);
  const names = new Set([...contentOf(view).querySelectorAll('*')].map((el) => el.tagName));
  expect([...names].sort()).toEqual(['DIV', 'MARK', 'SPAN']);
  const shown = contentOf(view).textContent ?? '';
  expect(shown).toContain('<b>p</b>');
  expect(shown).toContain('unconfirmed');
  expect(shown).not.toMatch(/[\u202e\u200b]/);
  await close(view);
});

test('the inbox has a button for each decision, and undo brings the item back', async () => {
  const { memory: a } = await save('The kettle is in the kitchen');
  const { memory: b } = await save('The kettle is in the cellar <b>now</b>');
  await client.call('/v1/review', { body: { memory_ids: [a.id, b.id], evidence: 'both say where the kettle is' } });
  const view = await opened(inboxType, 1);
  expect(contentOf(view).textContent).toContain('<b>now</b>');
  const button = [...contentOf(view).querySelectorAll('button')].find((el) => el.textContent === `Delete ${b.id.slice(-8)}`);
  button?.click();
  await until(() => contentOf(view).textContent?.includes('No pending decisions') ?? false);
  expect(await client.call(`/v1/memories/${b.id}`).then(() => 'there', () => 'gone')).toBe('gone');
  await plugin.actions.undo();
  await until(() => texts(view, '.emberd-review').length === 1);
  expect(await client.call(`/v1/memories/${b.id}`).then(() => 'there', () => 'gone')).toBe('there');
  await close(view);
});

test('the badge tells stage, score and next event, and that a note differs', async () => {
  const { memory } = await save('The boiler is serviced in May');
  const { path } = await client.call<{ path: string }>(`/v1/memories/${memory.id}/promote`, { body: { force: true } });
  const file = window_.app.vault.getFileByPath(path) ?? addHere(path, `---\nmemory-id: ${memory.id}\n---\nThe boiler is serviced in May\n`);
  await window_.show(file);
  await until(async () => (await noteMemory(plugin, file as never)) !== null);
  const found = await noteMemory(plugin, file as never);
  expect(found && badgeText(found)).toMatch(/^Memory: active, score \d\.\d\d; demoted in \d+ days without use$/);
  const view = await opened(relatedType, 0);
  await until(() => texts(view, '.emberd-badge').length === 1);
  await close(view);
  window_.app.vault.getFileByPath(path);
  await window_.app.vault.modify(file, `---\nmemory-id: ${memory.id}\n---\nSomething else\n`);
  expect((await noteMemory(plugin, file as never))?.different).toBe(true);
});

// addHere creates a note in the mocks alone: the daemon wrote the file already.
function addHere(path: string, text: string): TFile {
  const folder = path.split('/').slice(0, -1).join('/');
  if (folder && !window_.app.vault.getFolderByPath(folder)) window_.app.vault.createFolderSync__(folder);
  return window_.app.vault.createSync__(path, text);
}

test('commands remember a selection once and find it', async () => {
  const view = await window_.show(window_.add('Talk.md', 'The ferry leaves at noon.\n'));
  view.editor.setSelection({ line: 0, ch: 0 }, { line: 0, ch: 25 });
  const command = mockOf(plugin).commands__.get('remember-selection');
  command?.editorCallback?.(view.editor, view as never);
  const modal = new SearchModal(plugin);
  let hits: Hit[] = [];
  await until(async () => (hits = await modal.getSuggestions('ferry')).some((hit) => hit.content?.includes('ferry') ?? false));
  const saved = hits.find((hit) => hit.content?.includes('ferry'));
  expect(saved).toMatchObject({ content: 'The ferry leaves at noon.', origin: 'user' });
  const line = createDiv();
  modal.renderSuggestion(saved!, line);
  expect(line.textContent).toContain('The ferry leaves at noon.');
  modal.onChooseSuggestion(saved!, new KeyboardEvent('keydown', { key: 'Enter', shiftKey: true }));
  expect(view.editor.getValue()).toContain('> The ferry leaves at noon.\n> — ');
});

test('a code block lists results and options are read', async () => {
  expect(parseBlock('tag:x port\nlimit: 500\nscope: memories\n')).toEqual({ q: 'tag:x port', limit: 50, scope: 'memories' });
  const el = createDiv();
  const block = new QueryBlock(el, plugin, 'staging port\nlimit: 1');
  block.load();
  await until(() => el.querySelectorAll('.emberd-card').length === 1);
  block.unload();
  const wrong = createDiv();
  const bad = new QueryBlock(wrong, plugin, 'port\nscope: nowhere');
  bad.load();
  await until(() => (wrong.textContent ?? '').includes('scope'));
  bad.unload();
});

test("Obsidian's command line searches", async () => {
  const handler = mockOf(plugin).cliHandlers__.get('emberd');
  expect(await handler?.({ query: 'staging database port', limit: '2' })).toMatch(/\tAda moved the staging database to port 5433|Far\.md:1\t/);
  expect(await handler?.({})).toBe('missing query; use: obsidian emberd query="…"');
});

test('on Windows it says that there is no daemon, and does not look for one', async () => {
  Object.assign(Platform, { isWin: true });
  const other = await window_.load();
  const view = await window_.open<View>(other, relatedType);
  expect(texts(view, '.emberd-message')).toEqual(['Emberd does not support Windows.']);
  other.unload();
  await close(view);
  Object.assign(Platform, { isWin: false });
});

test('settings are stored, and what was stored by hand is checked', async () => {
  expect(settingsFrom({ socket: 7, hideLinked: false, other: 'x' })).toEqual({ ...defaults, hideLinked: false });
  const other = await window_.load();
  const tab = mockOf(other).settingTabs__[0] as unknown as SettingsTab;
  expect(tab.getSettingDefinitions().map((row) => row.control.key).sort()).toEqual(Object.keys(defaults).sort());
  await tab.setControlValue('wholeNote', true);
  expect(mockOf(other).data__).toMatchObject({ wholeNote: true });
  expect(tab.getControlValue('wholeNote')).toBe(true);
  other.unload();
});

test('a token file that cannot be read is the reason shown', async () => {
  const other = await window_.load();
  await other.change({ tokenFile: '/nowhere/token' });
  other.connection.retry();
  await until(() => other.problem().startsWith('cannot read the token') || (void other.actions.ask('GET', '/v1/status'), false));
  other.unload();
});

test('the header of a note with a memory has one button, which goes with the plugin', async () => {
  const { memory } = await save('The gasket of the pump is worn');
  const file = addHere('Gasket.md', `---\nmemory-id: ${memory.id}\n---\nThe gasket of the pump is worn\n`);
  plugin.unload();
  const other = await window_.load();
  await connected(other);
  const view = await window_.show(file);
  Object.assign(view.leaf, { viewState: { type: 'markdown' } });
  const titles: string[] = [];
  const buttons = createDiv();
  Object.assign(view, { addAction: (_: string, title: string) => (titles.push(title), buttons.createDiv()) });
  window_.app.workspace.trigger('layout-change');
  await until(() => titles.length === 1);
  window_.app.workspace.trigger('layout-change');
  await client.call(`/v1/memories/${memory.id}`, { method: 'PATCH', body: { core: true } });
  await until(() => titles.length === 2);
  expect(titles[0]).toMatch(/^Memory: active, score/);
  expect(titles[1]).toMatch(/^Memory: core, never fades, score \d\.\d\d; the stage does not change$/);
  expect(buttons.childElementCount).toBe(1);
  other.unload();
  expect(buttons.childElementCount).toBe(0);
});
