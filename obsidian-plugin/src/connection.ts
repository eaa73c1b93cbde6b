import { Client } from './client';
import type { EmberdError, Place } from './client';
import { EventStream } from './events';
import { covers, locate } from './related';
import { real } from './socket';
import type { Status, VaultStatus } from './types';

const pause = 300; // milliseconds in which changes are told once

/** Connection is the client with its state and the folders that the daemon watches. */
export class Connection {
  readonly client: Client;
  connected = false;
  reason = 'not connected yet';
  vaults: VaultStatus[] = [];
  private readonly base: string;
  private readonly stream: EventStream;
  private readonly listeners = new Set<(changed: boolean) => void>();
  private timer: number | null = null;

  /** base is the folder of the Obsidian vault. */
  constructor(place: Place, version: string, base: string) {
    this.base = real(base);
    this.client = new Client(place, version);
    this.stream = new EventStream(this.client, {
      connected: () => void this.arrived(),
      lost: (reason) => this.lost(reason),
      event: () => this.changed(),
    });
  }

  start(): void {
    this.stream.start();
  }

  stop(): void {
    this.stream.stop();
    this.client.close();
    this.listeners.clear();
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.timer = null;
  }

  retry(): void {
    this.stream.retry();
  }

  /** listen calls back when the state of the connection or, if changed, a memory is another. It returns the end of it. */
  listen(back: (changed: boolean) => void): () => void {
    this.listeners.add(back);
    return () => void this.listeners.delete(back);
  }

  /** locate returns the path in this Obsidian vault of a note of emberd's, null if it lies outside. */
  locate(vault: string, path: string): string | null {
    return locate(this.vaults, this.base, vault, path);
  }

  /** problem returns why something does not work, "" if all is well. */
  problem(): string {
    if (!this.connected) return this.reason;
    if (covers(this.vaults, this.base)) return '';
    return 'emberd does not watch this vault; run: emberd init --vault with its folder';
  }

  private async arrived(): Promise<void> {
    try {
      const status = await this.client.call<Status>('/v1/status');
      this.vaults = (status.vaults ?? []).map((vault) => ({ ...vault, path: real(vault.path) }));
      this.connected = true;
      this.tell(true);
    } catch (err) {
      this.lost(err as EmberdError);
    }
  }

  private lost(reason: EmberdError): void {
    this.connected = false;
    this.reason = reason.message;
    this.tell(false);
  }

  private changed(): void {
    this.timer ??= window.setTimeout(() => {
      this.timer = null;
      this.tell(true);
    }, pause);
  }

  private tell(changed: boolean): void {
    for (const back of [...this.listeners]) back(changed);
  }
}
