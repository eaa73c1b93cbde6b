import { FileSystemAdapter, Platform, Plugin } from 'obsidian';
import type { WorkspaceLeaf } from 'obsidian';
import { Actions } from './actions';
import { Badges } from './badge';
import { answerCli } from './cli';
import { QueryBlock } from './codeblock';
import { addCommands } from './commands';
import { Connection } from './connection';
import { InboxView, inboxType } from './inboxview';
import { RelatedView, relatedType } from './relatedview';
import { SearchModal } from './searchmodal';
import { defaults, settingsFrom, SettingsTab } from './settings';
import type { Settings } from './settings';
import { readToken, socketPath } from './socket';

const noWindows = 'Emberd does not support Windows.';

/** EmberdPlugin connects Obsidian to the emberd daemon of the user. */
export default class EmberdPlugin extends Plugin {
  override settings: Settings = { ...defaults };
  actions: Actions = new Actions(this);
  connection: Connection = this.newConnection();
  running = false;
  private badges: Badges = new Badges(this);
  private statusBar: HTMLElement | null = null;
  private tokenProblem = '';

  override async onload(): Promise<void> {
    this.settings = settingsFrom(await this.loadData());
    this.running = true;
    this.registerView(relatedType, (leaf: WorkspaceLeaf) => new RelatedView(leaf, this));
    this.registerView(inboxType, (leaf: WorkspaceLeaf) => new InboxView(leaf, this));
    this.addRibbonIcon('brain-circuit', 'Search memories', () => new SearchModal(this).open());
    this.addSettingTab(new SettingsTab(this.app, this));
    this.registerMarkdownCodeBlockProcessor('emberd', (source, el, context) => context.addChild(new QueryBlock(el, this, source)));
    this.registerCli();
    addCommands(this);
    this.watch();
    if (this.supported()) this.app.workspace.onLayoutReady(() => this.running && this.connection.start());
  }

  override onunload(): void {
    this.running = false;
    this.connection.stop();
    this.badges.remove();
  }

  /** change stores settings and connects again. */
  async change(some: Partial<Settings>): Promise<void> {
    Object.assign(this.settings, some);
    await this.saveData(this.settings);
    this.connection.retry();
  }

  /** reveal opens a pane in the right sidebar, or shows the one that is open. */
  async reveal(type: string): Promise<void> {
    const { workspace } = this.app;
    const leaf = workspace.getLeavesOfType(type)[0] ?? workspace.getRightLeaf(false);
    if (!leaf) return;
    await leaf.setViewState({ type, active: true });
    await workspace.revealLeaf(leaf);
  }

  /** problem returns why something does not work, "" if all is well. */
  problem(): string {
    if (!this.supported()) return noWindows;
    return this.tokenProblem || this.connection.problem();
  }

  private supported(): boolean {
    return Platform.isDesktopApp && !Platform.isWin;
  }

  private newConnection(): Connection {
    const { adapter } = this.app.vault;
    const base = adapter instanceof FileSystemAdapter ? adapter.getBasePath() : '';
    const place = {
      socket: () => socketPath(this.settings.socket, process.env, process.platform),
      token: () => this.token(base),
    };
    return new Connection(place, this.manifest.version, base);
  }

  private token(base: string): string {
    this.tokenProblem = '';
    try {
      return readToken(this.settings.tokenFile, base);
    } catch (err) {
      this.tokenProblem = `cannot read the token: ${(err as Error).message}`;
      return '';
    }
  }

  private registerCli(): void {
    const flags = {
      query: { value: '<text>', description: 'Words and operators to search for', required: true },
      limit: { value: '<number>', description: 'Number of results (default: 10)' },
      scope: { value: '<scope>', description: 'all, memories, notes, or archive' },
    };
    this.registerCliHandler('emberd', 'Search memories and notes', flags, (params) => answerCli(this.connection.client, params));
  }

  private watch(): void {
    this.statusBar = this.addStatusBarItem();
    this.statusBar.addClass('mod-clickable');
    this.registerDomEvent(this.statusBar, 'click', () => this.connection.retry());
    this.register(this.connection.listen(() => this.show()));
    this.registerEvent(this.app.workspace.on('layout-change', () => void this.badges.update()));
    this.registerEvent(this.app.workspace.on('file-open', () => void this.badges.update()));
    this.show();
  }

  private show(): void {
    const problem = this.problem();
    const state = !this.connection.connected ? 'offline' : problem ? 'check' : 'connected';
    this.statusBar?.setText(`Emberd: ${state}`);
    this.statusBar?.setAttribute('aria-label', problem || 'The daemon on this computer searches memories and notes.');
    void this.badges.update();
  }
}
