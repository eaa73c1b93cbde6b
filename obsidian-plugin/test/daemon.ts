import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '../src/client';
import { realpathSync } from 'node:fs';

/** Daemon is an emberd with a home and a vault of its own. */
export class Daemon {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'ember-')));
  readonly home = join(this.folder, 'h');
  readonly vault = join(this.folder, 'v');
  readonly socket = join(this.home, 'emberd.sock');
  private child: ChildProcess | null = null;

  constructor() {
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(join(this.vault, '.obsidian'), { recursive: true });
    chmodSync(this.home, 0o700);
  }

  note(path: string, text: string): void {
    mkdirSync(dirname(join(this.vault, path)), { recursive: true });
    writeFileSync(join(this.vault, path), text);
  }

  client(): Client {
    return new Client({ socket: () => this.socket, token: () => '' }, 'test');
  }

  /** start returns once the daemon answers with all notes read. */
  async start(notes = 0): Promise<void> {
    const args = ['serve', '--home', this.home, '--vault', this.vault];
    this.child = spawn(process.env.EMBERD_TEST_BINARY ?? 'emberd', args, { stdio: 'ignore' });
    const client = this.client();
    await until(async () => {
      if (typeof this.child?.exitCode === 'number') throw new Error('the daemon ended; see: emberd ' + args.join(' '));
      const status = await client.call<{ vaults?: { notes: number; waiting: number }[] }>('/v1/status').catch(() => null);
      const vault = status?.vaults?.[0];
      return !!vault && vault.notes >= notes && vault.waiting === 0;
    }, 120_000);
    client.close();
  }

  /** embedded returns once at least so many memories and notes are there and have their vectors, which searches need. */
  async embedded(least: number): Promise<void> {
    const client = this.client();
    await until(async () => {
      const { meaning } = await client.call<{ meaning?: { covered: number; total: number } }>('/v1/engine');
      return !!meaning && meaning.total >= least && meaning.covered === meaning.total;
    }, 120_000);
    client.close();
  }

  async stop(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  }

  async remove(): Promise<void> {
    await this.stop();
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** until waits for something to hold, for at most 20 seconds unless told otherwise. */
export async function until(holds: () => boolean | Promise<boolean>, most = 20_000): Promise<void> {
  const end = Date.now() + most;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
