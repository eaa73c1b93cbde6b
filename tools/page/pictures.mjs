// Pictures of every view, of a store that story.mjs tells, at 1280 and 360 pixels, light and dark.
//
//   node pictures.mjs EMBERD CHROMIUM FOLDER [FOLDER FOR THE DOCUMENTATION]
//
// The first folder gets a PNG of each whole view. The second one gets what the documentation shows: WebP of what a window
// has of them.
import { chromium } from "playwright-core";
import fs from "node:fs";
import path from "node:path";
import { daemon, idle, launch, serve } from "./lib.mjs";
import { tell } from "./story.mjs";

const [,, emberd, browserPath, folder, docs] = process.argv;

// What README.md shows: view, width, height and scheme.
const shown = [["today", 1280, 860, "light"], ["today", 1280, 860, "dark"], ["search", 1280, 720, "light"], ["memory", 1280, 860, "light"],
  ["decisions", 1280, 720, "light"], ["around", 1280, 860, "light"], ["fading", 1280, 780, "light"], ["callers", 1280, 560, "light"],
  ["health", 1280, 780, "light"], ["today", 360, 740, "dark"]];

// webp returns what the window shows, small.
async function webp(page) {
  const cdp = await page.context().newCDPSession(page);
  const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 60 });
  return Buffer.from(data, "base64");
}

fs.mkdirSync(folder, { recursive: true });
const browser = await launch(chromium, browserPath);
const d = await daemon(emberd, "pictures");
let served;
try {
  const { id } = await tell(d);
  for (const title of ["Bookings", "Waiting list", "Deploys", "Gateway", "Retrospective"]) // until the notes are indexed
    while (!(await d.call("GET", `/v1/search?scope=notes&q=${encodeURIComponent(title)}`)).hits?.some((h) => h.note?.title === title))
      await new Promise((ok) => setTimeout(ok, 200));
  await new Promise((ok) => setTimeout(ok, 2000)); // and what names they have is known
  served = await serve(d);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB", reducedMotion: "reduce" })).newPage();
  await page.goto(served.address);
  await page.waitForURL("**/today");
  const views = { today: "today", search: "search?q=postgres+backup", memory: "memory/" + id, decisions: "decisions", graph: "graph", around: "graph?of=" + id,
    fading: "fading", callers: "callers", health: "health" };
  const show = async (name, width, height, colorScheme) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.goto(served.base + "/" + views[name]);
    await idle(page);
    if (name === "decisions") await page.locator("#pairs-list").waitFor();
    await page.locator("#live.on").waitFor({ state: "attached" });
  };
  for (const name of Object.keys(views)) for (const width of [1280, 360]) for (const scheme of ["light", "dark"]) {
    await show(name, width, width > 500 ? 900 : 740, scheme);
    await page.screenshot({ path: path.join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
  }
  for (const [name, width, height, scheme] of docs ? shown : []) {
    await show(name, width, height, scheme);
    fs.writeFileSync(path.join(docs, `${name}-${width}-${scheme}.webp`), await webp(page));
  }
} finally {
  await browser.close();
  await served?.end();
  await d.stop();
}
