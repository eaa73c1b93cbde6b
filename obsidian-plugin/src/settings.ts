import { PluginSettingTab, Setting } from 'obsidian';
import type { App, SettingDefinitionControl } from 'obsidian';
import type EmberdPlugin from './main';

export interface Settings {
  socket: string; // path, "" for the place where the daemon puts it
  tokenFile: string; // path, "" for no token; never the token itself, because settings are synced with the vault
  hideLinked: boolean;
  wholeNote: boolean;
}

export const defaults: Settings = { socket: '', tokenFile: '', hideLinked: true, wholeNote: false };

type Definition = SettingDefinitionControl<keyof Settings>;

const definitions: Definition[] = [
  {
    name: 'Hide linked notes',
    desc: 'Hide notes with a link to or from the open note in the pane Related memories.',
    control: { type: 'toggle', key: 'hideLinked' },
  },
  {
    name: 'Use the whole note',
    desc: 'Search for memories related to the whole note, not to the paragraph at the cursor.',
    control: { type: 'toggle', key: 'wholeNote' },
  },
  {
    name: 'Socket',
    desc: 'Path of the socket of the daemon, which emberd status shows. For the default path, leave this field empty.',
    control: { type: 'text', key: 'socket' },
  },
  {
    name: 'Token file',
    desc: 'Path of a file outside the vault with a token that emberd agent token create printed. For no token, leave this field empty.',
    control: { type: 'text', key: 'tokenFile' },
  },
];

/** settingsFrom returns the stored settings; what has the wrong type gets its default. */
export function settingsFrom(stored: unknown): Settings {
  const found = { ...defaults };
  const known = (stored ?? {}) as Record<string, unknown>;
  for (const key of Object.keys(defaults) as (keyof Settings)[]) {
    if (typeof known[key] === typeof defaults[key]) Object.assign(found, { [key]: known[key] });
  }
  return found;
}

/** SettingsTab shows the settings in Obsidian's dialog. */
export class SettingsTab extends PluginSettingTab {
  constructor(
    app: App,
    private readonly owner: EmberdPlugin,
  ) {
    super(app, owner);
  }

  /** getSettingDefinitions describes the settings for Obsidian 1.13 and later, which draws and searches them itself. */
  override getSettingDefinitions(): Definition[] {
    return definitions;
  }

  override getControlValue(key: string): unknown {
    return this.owner.settings[key as keyof Settings];
  }

  override async setControlValue(key: string, value: unknown): Promise<void> {
    await this.owner.change({ [key]: value });
  }

  /** display draws the settings in Obsidian 1.12. */
  override display(): void {
    this.containerEl.empty();
    for (const definition of definitions) this.row(definition);
  }

  private row({ name, desc, control }: Definition): void {
    const { settings } = this.owner;
    const row = new Setting(this.containerEl).setName(name).setDesc(desc ?? '');
    const change = (value: unknown) => this.setControlValue(control.key, value);
    if (control.type === 'toggle') row.addToggle((toggle) => toggle.setValue(settings[control.key] === true).onChange(change));
    else row.addText((field) => field.setValue(String(settings[control.key])).onChange(change));
  }
}
