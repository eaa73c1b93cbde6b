import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createServer } from 'node:http';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, EmberdError } from '../src/client';
import { EventParser, EventStream } from '../src/events';
import { readToken, socketPath } from '../src/socket';
import type { Memory, SearchResult, StreamEvent } from '../src/types';
import { Daemon, until } from './daemon';

const daemon = new Daemon();
const client = daemon.client();

beforeAll(() => daemon.start());
afterAll(async () => {
  client.close();
  await daemon.remove();
});

async function refused(promise: Promise<unknown>): Promise<EmberdError> {
  const err: unknown = await promise.then(() => null, (e: unknown) => e);
  expect(err).toBeInstanceOf(EmberdError);
  return err as EmberdError;
}

test('save and search', async () => {
  await client.call('/v1/memories', { body: { content: 'The staging database listens on port 5433' } });
  const found = await client.call<SearchResult>('/v1/search', { query: { q: 'staging port' } });
  expect(found.hits[0]?.content).toBe('The staging database listens on port 5433');
});

test('refusals keep the code and the words of the daemon', async () => {
  expect(await refused(client.call('/v1/memories/01a2273b-0000-7000-8000-000000000000'))).toMatchObject({ code: 'not_found', status: 404 });
  expect(await refused(client.call('/v1/memories', { body: { contnt: 'x' } }))).toMatchObject({ code: 'invalid', status: 400 });
  const secret = { content: 'the key is AKIAIOSFODNN7EXAMPLQ and the secret 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' };
  expect(await refused(client.call('/v1/memories', { body: secret }))).toMatchObject({ code: 'secret', status: 422 });
  const gone = new Client({ socket: () => join(daemon.home, 'none.sock'), token: () => '' }, 'test');
  expect((await refused(gone.call('/v1/status'))).message).toContain('run: emberd serve');
  const denied = new Client({ socket: () => daemon.socket, token: () => 'unknown' }, 'test');
  expect(await refused(denied.call('/v1/status'))).toMatchObject({ code: 'forbidden', status: 401 });
  denied.close();
});

test('a request can be canceled', async () => {
  const cancel = new AbortController();
  const asked = client.call('/v1/search', { query: { q: 'port' }, signal: cancel.signal });
  cancel.abort();
  expect((await refused(asked)).code).toBe('canceled');
});

test('an answer of another program is told apart', async () => {
  const path = join(daemon.folder, 'other.sock');
  const server = createServer((_, res) => void res.writeHead(500).end('<html>')).listen(path);
  await until(() => existsSync(path));
  const other = new Client({ socket: () => path, token: () => '' }, 'test');
  expect((await refused(other.call('/v1/status'))).code).toBe('foreign');
  other.close();
  server.close();
});

test('the stream reports changes, the loss of the daemon and its return', async () => {
  const log: string[] = [];
  const stream = new EventStream(client, {
    connected: () => log.push('connected'),
    lost: (reason) => log.push('lost ' + reason.message),
    event: (event) => log.push(event.type),
  });
  stream.start();
  await until(() => log.includes('connected'));
  await client.call('/v1/memories', { body: { content: 'The broker is RabbitMQ' } });
  await until(() => log.includes('save'));
  await daemon.stop();
  await until(() => log.some((line) => line.startsWith('lost')));
  await daemon.start();
  stream.retry();
  await until(() => log.lastIndexOf('connected') > log.findIndex((line) => line.startsWith('lost')));
  const { memories } = await client.call<{ memories: Memory[] }>('/v1/memories');
  expect(memories).toHaveLength(2);
  stream.stop();
});

test('the stream waits 1, 2, 4 … 30 seconds and stops at once', async () => {
  const gone = new Client({ socket: () => join(daemon.home, 'none.sock'), token: () => '' }, 'test');
  const waits: number[] = [];
  const now = window.setTimeout.bind(window);
  const clock = vi.spyOn(window, 'setTimeout').mockImplementation(((again: () => void, wait: number) => {
    if (wait >= 1_000) waits.push(wait);
    return now(again, wait >= 1_000 ? 0 : wait);
  }) as typeof window.setTimeout);
  const stream = new EventStream(gone, { connected: () => waits.push(-1), lost: () => undefined, event: () => waits.push(-1) });
  stream.start();
  await until(() => waits.length >= 7);
  stream.stop();
  clock.mockRestore();
  const made = waits.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(waits).toHaveLength(made);
});

test('events arrive in any pieces', () => {
  const events: StreamEvent[] = [];
  const parser = new EventParser((event) => events.push(event));
  for (const c of ': emberd\n\nid: 1\nevent: save\ndata: {"id":"1","type":"save"}\r\n\r\ndata: no\n\n') parser.add(c);
  expect(events).toEqual([{ id: '1', type: 'save' }]);
});

test('an event that does not end is dropped', () => {
  const events: StreamEvent[] = [];
  const parser = new EventParser((event) => events.push(event));
  for (let i = 0; i < 64; i++) parser.add('data: ' + ' '.repeat(1 << 16) + '\n');
  parser.add('data: {"id":"1"}\n\n');
  parser.add('data: {"id":"2"}\n\n');
  expect(JSON.stringify(parser).length).toBeLessThan(1 << 21);
  expect(events.map((event) => event.id)).toEqual(['1', '2']);
});

test('the socket is where the daemon puts it', () => {
  expect(socketPath('', { EMBERD_HOME: '~/x' }, 'linux', '/home/ada')).toBe('/home/ada/x/emberd.sock');
  expect(socketPath('', { XDG_RUNTIME_DIR: '/run/user/7' }, 'linux', '/home/ada')).toBe('/run/user/7/emberd/emberd.sock');
  expect(socketPath('', {}, 'linux', '/home/ada')).toBe('/home/ada/.local/state/emberd/run/emberd.sock');
  expect(socketPath('', { XDG_RUNTIME_DIR: '/r' }, 'darwin', '/Users/ada')).toBe(
    '/Users/ada/Library/Application Support/emberd-state/run/emberd.sock',
  );
  expect(socketPath(' ~/s.sock ', { EMBERD_HOME: '/x' }, 'linux', '/home/ada')).toBe('/home/ada/s.sock');
});

test('a token file inside the vault is refused', () => {
  daemon.note('token.txt', 'x');
  expect(() => readToken(join(daemon.vault, 'token.txt'), daemon.vault)).toThrow('inside the vault');
  const outside = join(daemon.folder, 'token');
  writeFileSync(outside, 'abc\n');
  expect(readToken(outside, daemon.vault)).toBe('abc');
});
