// The parts of Node that the plugin uses, for a browser. Requests go to the program that shows the page, which passes
// them on to the daemon's socket.

type Handler = (value?: unknown) => void;

class Emitter {
  private readonly handlers = new Map<string, Handler[]>();

  on(name: string, handler: Handler): void {
    this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
  }

  protected emit(name: string, value?: unknown): void {
    for (const handler of this.handlers.get(name) ?? []) handler(value);
  }
}

export class Agent {
  destroy(): void {
    // The browser keeps its connections itself.
  }
}

interface Options {
  path: string;
  method: string;
  signal?: AbortSignal;
}

class Request extends Emitter {
  private readonly cancel = new AbortController();

  constructor(private readonly options: Options) {
    super();
    options.signal?.addEventListener('abort', () => this.destroy());
  }

  end(body?: string): void {
    this.send(body).catch((err: Error) => this.emit('error', err));
  }

  destroy(): void {
    this.cancel.abort();
  }

  private async send(body?: string): Promise<void> {
    const { path, method } = this.options;
    const headers: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const answer = await fetch('/daemon' + path, { method, body, headers, signal: this.cancel.signal });
    this.emit('response', new Answer(answer));
  }
}

class Answer extends Emitter {
  readonly statusCode: number;

  constructor(private readonly answer: Response) {
    super();
    this.statusCode = answer.status;
  }

  setEncoding(): void {
    this.read().catch(() => this.emit('close'));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(await this.answer.arrayBuffer());
  }

  private async read(): Promise<void> {
    const reader = this.answer.body?.getReader();
    const decoder = new TextDecoder();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      this.emit('data', decoder.decode(part.value, { stream: true }));
    }
    this.emit('close');
  }
}

export const request = (options: Options): Request => new Request(options);
export const readFileSync = (): string => '';
export const realpathSync = (path: string): string => path;
export const homedir = (): string => '/home';
export const isAbsolute = (path: string): boolean => path.startsWith('/');
export const join = (...parts: string[]): string => parts.join('/');
export const resolve = (path: string): string => path;
export const relative = (from: string, to: string): string =>
  to === from ? '' : to.startsWith(from + '/') ? to.slice(from.length + 1) : '../' + to;
export const createHash = (): never => {
  throw new Error('no digests in this page');
};
