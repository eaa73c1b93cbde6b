// What the programs of this folder share: a daemon with a store of its own, and the page of it in Chromium.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

// caller returns a function that sends a request to the daemon at a socket and resolves to its answer with the status.
function caller(socketPath) {
  return (method, route, body) => new Promise((ok, bad) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const r = http.request({ socketPath, agent: false, method, path: route, headers: { Host: "emberd", "Emberd-Client": "cli/test protocol/1",
      ...(text === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }) } }, (res) => {
      let out = "";
      res.on("data", (d) => { out += d; });
      res.on("end", () => ok({ status: res.statusCode, ...(out ? JSON.parse(out) : {}) }));
    });
    r.on("error", bad);
    r.end(text);
  });
}

// daemon starts a daemon on a new store, with a vault in it, empty or a copy of a folder. down ends it and up starts it
// again, as restart does at once; stop ends it and deletes the store.
export async function daemon(emberd, name, notes) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "page-" + name + "-"));
  const vault = path.join(home, "vault");
  if (notes) fs.cpSync(notes, vault, { recursive: true }); else fs.mkdirSync(vault);
  const env = { ...process.env, EMBERD_HOME: home };
  const call = caller(path.join(home, "emberd.sock"));
  let p;
  const start = async () => {
    p = spawn(emberd, ["serve", "--vault", vault], { env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    p.stderr.on("data", (d) => { said += d; });
    for (let i = 0; ; i++) {
      try { await call("GET", "/v1/version"); return; } catch (e) {
        if (i > 3000) throw new Error("the daemon does not answer: " + said, { cause: e });
        await new Promise((ok) => setTimeout(ok, 10));
      }
    }
  };
  const end = () => new Promise((ok) => { p.on("exit", ok); p.kill("SIGINT"); });
  await start();
  return { emberd, home, vault, env, call, down: end, up: start, restart: async () => { await end(); await start(); },
    stop: async () => { await end(); fs.rmSync(home, { recursive: true, force: true }); },
    save: async (req) => (await call("POST", "/v1/memories", req)).memory };
}

// serve runs emberd page for a store. Its address opens one session; end ends the command.
export async function serve(d) {
  const cmd = spawn(d.emberd, ["page", "--print"], { env: d.env, stdio: ["ignore", "pipe", "pipe"] });
  const address = await new Promise((ok, bad) => {
    let said = "";
    cmd.stderr.on("data", (b) => { said += b; });
    cmd.stdout.on("data", (b) => ok(String(b).trim()));
    cmd.on("exit", () => bad(new Error("emberd page ended: " + said)));
  });
  const end = () => new Promise((ok) => { cmd.on("exit", ok); cmd.kill("SIGINT"); });
  return { address, base: new URL(address).origin, end };
}

// launch starts a browser. Chromium has no sandbox of its own when root runs it.
export const launch = (chromium, executablePath) =>
  chromium.launch({ executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : [] });

// idle waits until the scripts run, htmx has nothing under way, and everything is drawn.
export const idle = (page) => page.waitForFunction(() => window.htmx && document.readyState === "complete" &&
  !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, [data-curve]:empty, [data-bars]:empty, [data-graph]:empty"));

// random returns whole numbers from 0 to below n, the same ones in every run.
export const random = (() => { let s = 7; return (n) => { s = (s * 48271) % 2147483647; return s % n; }; })();

const names = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Postgres", "Kafka", "Redis", "Lisbon", "Berlin"];
const syllables = ["ba", "cor", "del", "fi", "gra", "lo", "mi", "nor", "pa", "qui", "ra", "sel", "ta", "ver", "zu"];
const word = () => [1, 2, 3].map(() => syllables[random(syllables.length)]).join("");

// some returns n memories of the last 60 days.
function some(n) {
  const items = [];
  for (let i = 0; i < n; i++) items.push({ content: i % 50 === 0 ? `${names[random(8)]} measured the ${word()} with ${names[random(8)]}: ${random(90)} ms`
    : `run ${i} of the ${word()} ${word()} with the ${word()} took ${random(90)} ms and left the ${word()} ${word()}`,
    tags: [["infra", "people", "release"][random(3)]], project: ["garden", "billing"][random(2)],
    created_at: new Date(Date.now() - random(60) * 864e5 - 1e6).toISOString() });
  return items;
}

// fill imports n memories in one go.
export function fill(d, n) {
  const input = some(n).map((m) => JSON.stringify(m)).join("\n");
  if (n > 0) execFileSync(d.emberd, ["import", "jsonl", "-"], { env: d.env, input, stdio: ["pipe", "ignore", "pipe"] });
}

// work saves n memories one after the other, as agents do.
export async function work(d, n) {
  for (const item of some(n)) await d.save({ ...item, created_at: undefined });
}
