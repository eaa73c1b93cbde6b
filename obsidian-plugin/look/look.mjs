// Draws the panes in Chromium over a daemon of its own and writes pictures to look/out. Needs emberd (EMBERD_TEST_BINARY)
// and Chromium (CHROMIUM, or /usr/bin/chromium).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const folder = mkdtempSync(join(tmpdir(), 'ember-look-'));
const vault = join(folder, 'v');
const socketPath = join(folder, 'h', 'emberd.sock');
const note = '# Move of the database\n\nThe staging database listens on port 5433 since Ada moved it.\n';
const hostile = '<img src=x onerror="document.title=\'broken\'"> staging <script>document.title="broken"</script> \u202Egnp.exe\u200B';

mkdirSync(join(folder, 'h'), { mode: 0o700 });
mkdirSync(join(vault, '.obsidian'), { recursive: true });
mkdirSync('look/out', { recursive: true });
writeFileSync(join(vault, 'Move.md'), note);
writeFileSync(join(vault, 'Old port.md'), 'Why the staging database left port 5432: another one listens there.\n');
const daemon = spawn(process.env.EMBERD_TEST_BINARY ?? '../bin/emberd', ['serve', '--home', join(folder, 'h'), '--vault', vault], { stdio: 'ignore' });

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Host: 'emberd', ...(body && { 'Content-Type': 'application/json' }) };
    const req = request({ socketPath, path, method, headers }, (res) => {
      let text = '';
      res.on('data', (part) => (text += part));
      res.on('end', () => resolve(JSON.parse(text)));
    });
    req.on('error', reject);
    req.end(body && JSON.stringify(body));
  });
}

async function ready() {
  for (let i = 0; i < 400; i++) {
    const status = await ask('GET', '/v1/status').catch(() => null);
    if (status?.vaults?.[0]?.notes >= 2) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the daemon did not start');
}

async function fill() {
  const save = (content, more) => ask('POST', '/v1/memories', { content, ...more });
  const a = await save('Ada moved the staging database to port 5433', { project: 'billing', origin: 'user' });
  const b = await save('The staging database listens on port 5434', { origin: 'web' });
  await save('Deploys to staging run on Fridays, after the database is backed up', { origin: 'agent', project: 'infra' });
  await save(hostile, { origin: 'tool', project: '<b>p</b>' });
  const c = await save('A backup of the staging database is kept for 30 days');
  await ask('POST', '/v1/review', { memory_ids: [a.memory.id, b.memory.id], evidence: 'the ports differ' });
  await ask('POST', '/v1/review', { memory_ids: [c.memory.id], evidence: 'seldom used <i>now</i>' });
}

function serve() {
  const files = { '/': ['look/index.html', 'text/html'], '/page.js': ['look/out/page.js', 'text/javascript'],
    '/styles.css': ['styles.css', 'text/css'], '/obsidian.css': ['look/obsidian.css', 'text/css'] };
  const server = createServer((req, res) => {
    if (req.url.startsWith('/daemon/')) return pass(req, res);
    const [file, type] = files[req.url] ?? [];
    if (!file) return res.writeHead(404).end();
    res.writeHead(200, { 'Content-Type': type }).end(readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

function pass(req, res) {
  const headers = { Host: 'emberd', ...(req.headers['content-type'] && { 'Content-Type': req.headers['content-type'] }) };
  const on = request({ socketPath, path: req.url.slice('/daemon'.length), method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode, { 'Content-Type': answer.headers['content-type'] ?? 'text/plain' });
    res.flushHeaders();
    answer.pipe(res);
  });
  on.on('error', () => res.destroy());
  res.on('close', () => on.destroy());
  req.pipe(on);
}

const builtins = Object.fromEntries(['http', 'fs', 'os', 'path', 'crypto'].map((name) => [name, './look/node.ts']));

async function bundle() {
  await build({
    entryPoints: ['look/page.ts'], outfile: 'look/out/page.js', bundle: true, format: 'esm', platform: 'browser', target: 'es2022',
    alias: { obsidian: 'obsidian-test-mocks/obsidian', ...builtins },
    define: { 'process.env': '{}', 'process.platform': '"linux"', global: 'window' },
    logLevel: 'error',
  });
}

async function picture(page, address, view, name, cards, act) {
  const faults = [];
  page.on('pageerror', (err) => faults.push(String(err)));
  page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
  await page.goto(address);
  await page.waitForFunction(() => window.draw);
  if (name.includes('dark')) await page.evaluate(() => document.body.classList.add('theme-dark'));
  await page.evaluate((input) => window.draw(input), { vault, note: 'Move.md', text: note, view });
  const enough = page.waitForFunction((n) => document.querySelectorAll('.emberd-card').length >= n, cards, { timeout: 10_000 });
  await enough.catch(async () => {
    throw new Error(`${name}: ${faults.join('; ')} ${await page.textContent('body')}`);
  });
  if (act) await act(page);
  await page.screenshot({ path: `look/out/${name}.png`, fullPage: true });
  const found = await page.evaluate(() => ({
    title: document.title,
    tags: [...new Set([...document.querySelectorAll('.emberd-pane *')].map((el) => el.tagName))].sort().join(' '),
    wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    cards: document.querySelectorAll('.emberd-card').length,
  }));
  console.log(name, JSON.stringify(found), faults.length ? faults : 'no fault');
  page.removeAllListeners('pageerror');
}

let server, browser;
try {
  await Promise.all([ready().then(fill), bundle()]);
  server = await serve();
  const address = `http://127.0.0.1:${server.address().port}/`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 320, height: 700 } });
  await picture(page, address, 'emberd-related', 'related', 3);
  await picture(page, address, 'emberd-related', 'related-dark', 3, (p) => p.keyboard.press('Tab'));
  await picture(page, address, 'emberd-inbox', 'inbox', 2, (p) => p.click('summary'));
} finally {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  daemon.kill('SIGTERM');
  await new Promise((resolve) => (daemon.exitCode === null ? daemon.once('exit', resolve) : resolve()));
  rmSync(folder, { recursive: true, force: true });
}
