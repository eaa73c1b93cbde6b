import type { View } from 'obsidian';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inboxType } from '../src/inboxview';
import { relatedType } from '../src/relatedview';
import { Daemon, until } from './daemon';
import { Window, close, connected, contentOf } from './obsidian';

const daemon = new Daemon();
const window_ = new Window(daemon);

beforeAll(() => {
  window_.add('Plan.md', 'The staging database listens on port 5433.\n');
  return daemon.start(1);
});
afterAll(() => daemon.remove());

/** Listeners counts those of an event target that were added and not removed. */
class Listeners {
  open = 0;
  private readonly known = new Set<unknown>();

  constructor(target: EventTarget) {
    const add = target.addEventListener.bind(target);
    const remove = target.removeEventListener.bind(target);
    target.addEventListener = (...args: Parameters<typeof add>) => {
      if (!this.known.has(args[1])) this.open++;
      this.known.add(args[1]);
      add(...args);
    };
    target.removeEventListener = (...args: Parameters<typeof remove>) => {
      if (this.known.delete(args[1])) this.open--;
      remove(...args);
    };
  }
}

function resources(kind: string): number {
  return process.getActiveResourcesInfo().filter((name) => name === kind).length;
}

function handlers(): number {
  const all = Object.values((window_.app.workspace as unknown as { _: Record<string, unknown[]> })._);
  return all.reduce((sum, list) => sum + list.length, 0);
}

async function cycle(panes: boolean): Promise<void> {
  const plugin = await window_.load();
  const views: View[] = [];
  if (panes) {
    await connected(plugin);
    views.push(await window_.open(plugin, relatedType), await window_.open(plugin, inboxType));
    await until(() => views.every((view) => contentOf(view).childElementCount > 0));
  }
  plugin.unload();
  for (const view of views) await close(view);
  window_.app.workspace.iterateAllLeaves((leaf) => leaf.detach());
}

test('100 loads and unloads leave no listener, timer, connection or leaf', async () => {
  const dom = new Listeners(document);
  const pipes = resources('PipeWrap'); // those of the test runner
  await cycle(true);
  await until(() => resources('PipeWrap') <= pipes);
  const before = { handlers: handlers(), dom: dom.open, timers: resources('Timeout') };
  for (let i = 0; i < 100; i++) await cycle(i % 2 === 0);
  await until(() => resources('PipeWrap') <= pipes);
  await until(() => resources('Timeout') <= before.timers + 1); // until waits with one of its own
  expect({ handlers: handlers(), dom: dom.open }).toEqual({ handlers: before.handlers, dom: before.dom });
  expect(window_.app.workspace.getLeavesOfType(relatedType)).toHaveLength(0);
});
