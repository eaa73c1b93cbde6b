// How long a person waits for the first view, told and not judged: from the first request of Chromium to the moment when
// the largest part of Today is painted, with the code of the address exchanged in between.
//
//   node first.mjs EMBERD CHROMIUM [NUMBERS OF MEMORIES]
import { chromium } from "playwright-core";
import os from "node:os";
import { daemon, fill, launch, serve, work } from "./lib.mjs";

const rounds = 7;

// opening opens the page once in a browser context of its own, and returns times in milliseconds.
async function opening(d, browser) {
  const began = performance.now();
  const served = await serve(d);
  const command = performance.now() - began;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  let requests = 0;
  page.on("request", () => { requests++; });
  const origins = [];
  await page.exposeFunction("tell", (t) => origins.push(t));
  await page.addInitScript(() => window.tell(performance.timeOrigin));
  await page.goto(served.address);
  await page.waitForURL("**/today");
  await page.waitForLoadState("load");
  const seen = await page.evaluate(() => new Promise((ok) => {
    const of = () => {
      const nav = performance.getEntriesByType("navigation")[0];
      return { origin: performance.timeOrigin, answer: nav.responseEnd, asked: nav.requestStart, load: nav.loadEventEnd };
    };
    new PerformanceObserver((list) => {
      const last = list.getEntries().at(-1);
      if (last) ok({ ...of(), painted: last.startTime });
    }).observe({ type: "largest-contentful-paint", buffered: true });
  }));
  const before = seen.origin - origins[0];
  await context.close();
  await served.end();
  return { command, code: before, server: seen.answer - seen.asked, painted: before + seen.painted, load: before + seen.load, requests };
}

const middle = (list, of) => list.map((x) => x[of]).sort((a, b) => a - b)[Math.floor(list.length / 2)];

// measure prints one row for a store: the first opening after the daemon started, and the middle of more of them.
export async function measure(emberd, browser, n) {
  const d = await daemon(emberd, "first");
  try {
    fill(d, n);
    if (n > 0) await work(d, 60);
    await d.restart();
    const cold = await opening(d, browser);
    const warm = [];
    for (let i = 0; i < rounds; i++) warm.push(await opening(d, browser));
    const ms = (v) => Math.round(v) + " ms";
    console.log(`first view, ${n} memories: painted after ${ms(cold.painted)} cold, ${ms(middle(warm, "painted"))} warm;`,
      `of it the code ${ms(middle(warm, "code"))}, the answer ${ms(cold.server)} cold, ${ms(middle(warm, "server"))} warm;`,
      `load event ${ms(middle(warm, "load"))}; the command before it ${ms(middle(warm, "command"))};`,
      `${cold.requests} requests; load of the machine ${os.loadavg()[0].toFixed(1)}`);
  } finally { await d.stop(); }
}

if (import.meta.filename === process.argv[1]) {
  const [,, emberd, browserPath, numbers = "0,10000,100000"] = process.argv;
  const browser = await launch(chromium, browserPath);
  try { for (const n of numbers.split(",")) await measure(emberd, browser, Number(n)); } finally { await browser.close(); }
}
