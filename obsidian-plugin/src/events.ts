import type { ClientRequest, IncomingMessage } from 'http';
import { connectionError, EmberdError, readText, refusal } from './client';
import type { Client } from './client';
import type { StreamEvent } from './types';

const shortest = 1_000; // milliseconds before the first attempt to reconnect
const longest = 30_000;
const longestLine = 1 << 20; // characters of an event

/** Follower is told about the connection and every change of memories. */
export interface Follower {
  connected(): void;
  lost(reason: EmberdError): void;
  event(event: StreamEvent): void;
}

/** EventStream follows the daemon's changes and reconnects after 1, 2, 4 … 30 seconds. */
export class EventStream {
  private req: ClientRequest | null = null;
  private timer: number | null = null;
  private wait = shortest;
  private last = '';
  private running = false;

  constructor(
    private readonly client: Client,
    private readonly follower: Follower,
  ) {}

  start(): void {
    this.running = true;
    this.connect();
  }

  /** stop ends the connection and any wait; nothing is reported afterwards. */
  stop(): void {
    this.running = false;
    if (this.timer) window.clearTimeout(this.timer);
    this.timer = null;
    this.req?.destroy();
    this.req = null;
  }

  /** retry connects now, if no connection is open, instead of waiting. */
  retry(): void {
    if (!this.running || !this.timer) return;
    window.clearTimeout(this.timer);
    this.wait = shortest;
    this.connect();
  }

  private connect(): void {
    this.timer = null;
    let ended = false;
    const end = (reason: EmberdError) => {
      if (ended) return;
      ended = true;
      this.pause(reason);
    };
    const req = this.client.stream('/v1/events', this.last ? { 'Last-Event-ID': this.last } : {});
    this.req = req;
    req.on('error', (err) => end(connectionError(err)));
    req.on('response', (res) => this.answered(res, end));
    req.end();
  }

  private answered(res: IncomingMessage, end: (reason: EmberdError) => void): void {
    if (res.statusCode !== 200) {
      readText(res).then((text) => end(refusal(res.statusCode ?? 500, text)), (err: Error) => end(connectionError(err)));
      return;
    }
    this.wait = shortest;
    if (this.running) this.follower.connected();
    const parser = new EventParser((event) => this.take(event));
    res.setEncoding('utf8');
    res.on('data', (text: string) => parser.add(text));
    res.on('error', (err) => end(connectionError(err)));
    res.on('close', () => end(new EmberdError('the daemon closed the connection', 'closed')));
  }

  private take(event: StreamEvent): void {
    if (!this.running) return;
    if (event.id) this.last = event.id;
    this.follower.event(event);
  }

  private pause(reason: EmberdError): void {
    if (!this.running) return;
    this.req?.destroy();
    this.req = null;
    this.timer = window.setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(longest, this.wait * 2);
    this.follower.lost(reason);
  }
}

/** EventParser reads server-sent events from pieces of text. */
export class EventParser {
  private rest = '';
  private data: string[] = [];

  constructor(private readonly found: (event: StreamEvent) => void) {}

  add(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    if (this.rest.length > longestLine) this.rest = '';
    for (const line of lines) this.line(line.replace(/\r$/, ''));
  }

  private line(line: string): void {
    if (line.startsWith('data:')) this.data.push(line.slice(5).replace(/^ /, ''));
    if (this.data.reduce((sum, part) => sum + part.length, 0) > longestLine) this.data = [];
    if (line !== '' || this.data.length === 0) return;
    const text = this.data.join('\n');
    this.data = [];
    try {
      this.found(JSON.parse(text) as StreamEvent);
    } catch {
      // An event that is not JSON is not one of emberd's.
    }
  }
}
