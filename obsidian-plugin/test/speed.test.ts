import type { View } from 'obsidian';
import { afterAll, expect, test } from 'vitest';
import { relatedType } from '../src/relatedview';
import { Daemon } from './daemon';
import { Window, close, connected, contentOf } from './obsidian';

// Measures and does not judge: npm run speed.
const daemon = new Daemon();
const window_ = new Window(daemon);
const notes = 300;
const memories = 5_000;

afterAll(() => daemon.remove());

let seed = 7;
function random(below: number): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % below;
}

const syllables = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ');
function word(n: number): string {
  return [n, n / 20, n / 400].map((part) => syllables[Math.floor(part) % 20]).join('');
}

// Rare words are rare: the square makes low numbers frequent.
function sentence(words: number): string {
  const all = Array.from({ length: words }, () => word(Math.floor(random(1_000) ** 2 / 250)));
  return all.join(' ') + '.';
}

function paragraphs(): string {
  return Array.from({ length: 8 }, () => Array.from({ length: 4 }, () => sentence(14)).join(' ')).join('\n\n');
}

async function fill(): Promise<void> {
  const client = daemon.client();
  for (let i = 0; i < memories; i += 500) {
    const items = Array.from({ length: 500 }, () => ({ content: sentence(16) }));
    await client.call('/v1/memories/batch', { body: { items } });
  }
  client.close();
}

/** drawn resolves when the pane was drawn again with a list. */
function drawn(view: View): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!contentOf(view).querySelector('.emberd-list')) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(contentOf(view), { childList: true });
  });
}

function percentile(times: number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b);
  return (sorted[Math.ceil(sorted.length * share) - 1] ?? 0).toFixed(1);
}

test.skipIf(!process.env.EMBERD_TEST_SPEED)('time from opening a note to the drawn pane', async () => {
  const files = Array.from({ length: notes }, (_, i) => window_.add(`Note ${i}.md`, paragraphs()));
  await daemon.start(notes);
  await fill();
  const plugin = await window_.load();
  await connected(plugin);
  const view = await window_.open<View>(plugin, relatedType);
  const times: number[] = [];
  let cards = 0;
  for (const file of files.slice(0, 220)) {
    const start = performance.now();
    const done = drawn(view);
    await window_.show(file, random(1_500));
    await done;
    times.push(performance.now() - start);
    cards += contentOf(view).querySelectorAll('.emberd-card').length;
  }
  const warm = times.slice(20);
  process.stdout.write(`${notes} notes, ${memories} memories, ${warm.length} openings, ${(cards / times.length).toFixed(1)} results each:`
    + ` p50 ${percentile(warm, 0.5)} ms, p95 ${percentile(warm, 0.95)} ms, p99 ${percentile(warm, 0.99)} ms, max ${percentile(warm, 1)} ms\n`);
  expect(cards).toBeGreaterThan(0);
  plugin.unload();
  await close(view);
}, 300_000);
