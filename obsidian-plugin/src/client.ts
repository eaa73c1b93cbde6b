import { Agent, request } from 'http';
import type { ClientRequest, IncomingMessage } from 'http';

const longestAnswer = 16 << 20; // bytes
const patience = 30_000; // milliseconds

/** EmberdError is an answer that refuses a request, or the reason why none arrived. */
export class EmberdError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status = 0,
  ) {
    super(message);
  }
}

/** Place says where the daemon listens, and the token to show, if any. Both are read again for each connection. */
export interface Place {
  socket(): string;
  token(): string;
}

export type Query = Record<string, string | number | boolean | undefined>;

interface Call {
  method?: string;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
}

/** Client sends requests to the daemon over its unix socket. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 4 });

  constructor(
    private readonly place: Place,
    private readonly version: string,
  ) {}

  /** call returns the answer to one request, or throws an EmberdError. */
  async call<T>(path: string, call: Call = {}): Promise<T> {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const method = call.method ?? (body === undefined ? 'GET' : 'POST');
    const text = await this.exchange(path + queryText(call.query), method, body, call.signal);
    return JSON.parse(text) as T;
  }

  /** stream opens a request whose answer does not end. The caller destroys what it returns. */
  stream(path: string, headers: Record<string, string>): ClientRequest {
    const options = { ...this.options(path, 'GET'), agent: false as const };
    return request({ ...options, headers: { ...options.headers, ...headers, Accept: 'text/event-stream' } });
  }

  /** close ends the idle connections. */
  close(): void {
    this.agent.destroy();
  }

  private options(path: string, method: string) {
    const headers: Record<string, string> = { Host: 'emberd', 'User-Agent': `obsidian/${this.version}` };
    const token = this.place.token();
    if (token) headers.Authorization = `Bearer ${token}`;
    return { socketPath: this.place.socket(), path, method, headers, agent: this.agent };
  }

  private exchange(path: string, method: string, body?: string, signal?: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = this.options(path, method);
      if (body !== undefined) options.headers['Content-Type'] = 'application/json';
      const req = request({ ...options, signal, timeout: patience });
      req.on('timeout', () => req.destroy(new EmberdError('the daemon did not answer within 30 seconds', 'timeout')));
      req.on('error', (err) => reject(connectionError(err)));
      req.on('response', (res) => void readAnswer(res).then(resolve, reject));
      req.end(body);
    });
  }
}

/** queryText returns parameters as the part of an address that begins with "?". */
export function queryText(query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, String(value));
  const text = params.toString();
  return text && '?' + text;
}

/** readText collects an answer of bounded length. */
export async function readText(res: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of res as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > longestAnswer) throw new EmberdError('the answer is longer than 16 MiB', 'too_large');
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

async function readAnswer(res: IncomingMessage): Promise<string> {
  let text: string;
  try {
    text = await readText(res);
  } catch (err) {
    throw connectionError(err as Error);
  }
  if ((res.statusCode ?? 500) >= 400) throw refusal(res.statusCode ?? 500, text);
  return text;
}

/** refusal returns the problem that the daemon describes, or one for an answer that is not emberd's. */
export function refusal(status: number, text: string): EmberdError {
  try {
    const problem = JSON.parse(text) as { detail?: string; title?: string; code?: string };
    return new EmberdError(problem.detail ?? problem.title ?? `status ${status}`, problem.code ?? 'invalid', status);
  } catch {
    return new EmberdError(`the program listening on the socket answered status ${status}`, 'foreign', status);
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'the daemon is not running; run: emberd serve',
  ECONNREFUSED: 'the daemon is not running; run: emberd serve',
  EACCES: 'Obsidian cannot open the socket; give it access to the folder of the socket',
  EPERM: 'Obsidian cannot open the socket; give it access to the folder of the socket',
  ECONNRESET: 'the daemon closed the connection',
  EPIPE: 'the daemon closed the connection',
};

/** connectionError returns err in words that say what to do. */
export function connectionError(err: Error): EmberdError {
  if (err instanceof EmberdError) return err;
  const code = (err as NodeJS.ErrnoException).code ?? '';
  if (err.name === 'AbortError') return new EmberdError('canceled', 'canceled');
  return new EmberdError(reasons[code] ?? err.message, code || 'connection');
}
