// An invented store to look at: a small team that runs a booking service for a community garden, its notes, three months
// of memories, and a day with a coding agent. Nobody in it exists.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

const day = 864e5;
const ago = (days) => new Date(Date.now() - days * day).toISOString();

// Text, project, tags, days since it was learned and since it was used last, uses, and what else is told of it.
const memories = [
  ["Bookings are kept in Postgres 16, one schema per season", "garden", ["database", "decision"], 80, 2, 14, { type: "decision" }],
  ["Payments run through the bank's debit file on the first working day of the month", "garden", ["payments"], 75, 6, 9, {}],
  ["The staging server listens on port 8443", "garden", ["staging"], 62, 4, 6, {}],
  ["Nadia Brandt decides about plots, Tomas Lindqvist about money", "garden", ["people"], 60, 3, 11, { core: true }],
  ["Deploys wait for the migration job; a failed migration stops the deploy", "garden", ["deploy", "decision"], 55, 1, 8, { type: "decision" }],
  ["Emails go out between 8 and 18 o'clock only, members complained about nightly mail", "garden", ["mail"], 50, 12, 4, {}],
  ["Nadia Brandt prefers short release notes without screenshots", "garden", ["people", "preference"], 48, 9, 3, { type: "preference" }],
  ["The waiting list is sorted by date of application, never by name", "garden", ["waiting-list", "decision"], 45, 5, 7, { type: "decision" }],
  ["Redis was tried as a cache in September and removed: the pages are quick enough without", "garden", ["decision", "cache"], 43, 20, 2, { type: "decision" }],
  ["Tomas Lindqvist needs the yearly report by 15 January", "garden", ["people", "report"], 40, 15, 2, {}],
  ["A plot has at most two tenants, and both get every email", "garden", ["rules"], 38, 7, 5, {}],
  ["Backups of Postgres are copied to the second site every night at 3", "garden", ["backup", "database"], 36, 8, 4, {}],
  ["Backups of Postgres are copied to the second site each night at 3", "garden", ["backup"], 12, 12, 1, { again: true }],
  ["Integration tests need the flag --seed 7, or the calendar test fails in December", "garden", ["tests"], 33, 1, 9, {}],
  ["Use the word plot in all texts, not parcel", "garden", ["wording", "preference"], 30, 10, 3, { type: "preference" }],
  ["The map of the garden is an SVG file that Nadia Brandt draws by hand", "garden", ["map"], 29, 26, 1, {}],
  ["Water meters report once an hour over LoRaWAN, about 3 % of the readings are lost", "meters", ["sensors"], 28, 4, 6, {}],
  ["Meter 14 counts backwards after a battery change", "meters", ["sensors", "bug"], 24, 22, 1, {}],
  ["Kafka is too much for forty meters; a table in Postgres is the queue", "meters", ["decision", "database"], 22, 6, 5, { type: "decision" }],
  ["Readings older than two years are summed by day", "meters", ["retention", "decision"], 21, 11, 2, { type: "decision" }],
  ["Priya Raman owns the gateway on the shed's roof and has the only key", "meters", ["people"], 20, 5, 4, {}],
  ["The gateway restarts by itself every Sunday at 4", "meters", ["gateway"], 18, 17, 1, {}],
  ["LoRaWAN keys are rotated in spring, by Priya Raman", "meters", ["security"], 16, 9, 2, {}],
  ["I write commit messages in the imperative and without a full stop", "", ["preference", "git"], 70, 2, 12, { core: true, type: "preference" }],
  ["I am at the sea from 3 to 14 August", "", ["calendar"], 65, 60, 1, {}],
  ["My standing desk is at 112 cm", "", ["desk"], 52, 50, 1, {}],
  ["Explain a plan before changing more than three files", "", ["preference", "agents"], 41, 1, 15, { type: "preference" }],
  ["The dentist is on Mill Lane, appointments by phone only", "", ["health"], 35, 34, 1, {}],
];

const notes = {
  "Garden/Bookings.md": "---\ntags: [garden]\n---\n# Bookings\n\nA member books a plot for a season. [[Waiting list]] says who is next.\n\n## Storage\n\nEverything is in Postgres; see [[Deploys]] for migrations.\n",
  "Garden/Waiting list.md": "# Waiting list\n\nSorted by date of application. Nadia Brandt confirms each offer by phone.\n\nBack to [[Bookings]].\n",
  "Garden/Deploys.md": "# Deploys\n\n1. Migrations run first.\n2. The staging server is checked by hand.\n3. Tomas Lindqvist is told when payments are touched.\n\nBack to [[Bookings]].\n",
  "Meters/Gateway.md": "# Gateway\n\nOn the roof of the shed. Priya Raman has the key. Readings arrive over LoRaWAN and go into Postgres.\n",
  "Journal/Retrospective.md": "# Retrospective\n\nLess mail, more automatic tests. The calendar test was red for a week, see [[Deploys]].\n",
};

// hook tells the daemon of an event of a coding agent, as the agent would.
function hook(d, event) {
  const { status, stderr } = spawnSync(d.emberd, ["hook", "claude-code"], { env: d.env, input: JSON.stringify(event) });
  if (status !== 0) throw new Error("hook: " + stderr);
}

// agent calls tools of emberd mcp one after the other, as a program of that name.
async function agent(d, name, calls) {
  const p = spawn(d.emberd, ["mcp"], { env: d.env, stdio: ["pipe", "pipe", "inherit"] });
  const answers = readline.createInterface({ input: p.stdout })[Symbol.asyncIterator]();
  const ask = async (id, method, params) => {
    p.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    for (;;) {
      const got = JSON.parse((await answers.next()).value);
      if (got.id === id) return got.result;
    }
  };
  await ask(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
  p.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) + "\n");
  const results = [];
  for (const [i, [tool, args]] of calls.entries()) {
    const res = await ask(i + 1, "tools/call", { name: tool, arguments: args });
    if (!res || res.isError) throw new Error(tool + ": " + JSON.stringify(res));
    results.push(res.structuredContent ?? res.content[0].text);
  }
  p.stdin.end();
  await new Promise((ok) => p.on("exit", ok));
  return results;
}

// session is a day's work with a coding agent on a project.
function session(d, project, id, turns) {
  const cwd = path.join(d.home, "work", project), file = path.join(d.home, id + ".jsonl");
  fs.mkdirSync(cwd, { recursive: true });
  const base = { session_id: id, cwd, transcript_path: file };
  hook(d, { ...base, hook_event_name: "SessionStart", source: "startup" });
  turns.forEach(([asked, answered], i) => {
    hook(d, { ...base, hook_event_name: "UserPromptSubmit", prompt: asked });
    for (const [role, text] of [["user", asked], ["assistant", answered]])
      fs.appendFileSync(file, JSON.stringify({ type: role, uuid: id + role + i, sessionId: id, cwd, timestamp: new Date().toISOString(),
        message: { id: id + role + i, role, content: role === "user" ? text : [{ type: "text", text }] } }) + "\n");
    hook(d, { ...base, hook_event_name: "Stop", last_assistant_message: answered });
  });
}

// tell fills a store, and returns the memory to look at.
export async function tell(d) {
  for (const [name, text] of Object.entries(notes)) {
    fs.mkdirSync(path.join(d.vault, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(d.vault, name), text);
  }
  const items = memories.map(([content, project, tags, learned, used, uses, more]) => ({ content, project, tags,
    created_at: ago(learned), last_used: ago(used), use_count: uses, origin: "user", ...more }));
  const res = await d.call("POST", "/v1/memories/batch", { items });
  const ids = res.results.map((r) => r.id);
  const must = async (method, route, body) => {
    const r = await d.call(method, route, body);
    if (r.status >= 300) throw new Error(`${method} ${route}: ${r.status} ${r.detail}`);
    return r;
  };
  const find = (words) => ids[memories.findIndex((m) => m[0].includes(words))];
  await must("POST", `/v1/memories/${find("Bookings are kept")}/promote`, { force: true });
  await must("POST", "/v1/relations", { from: find("Deploys wait"), to: find("Bookings are kept"), type: "supports" });
  await must("POST", "/v1/relations", { from: find("Kafka is too much"), to: find("Bookings are kept"), type: "related" });
  await must("POST", `/v1/memories/${find("at the sea")}/archive`, {});
  // What was learned today, by three programs.
  await agent(d, "claude-code", [
    ["memory_add", { content: "The staging server listens on port 9443 since the new proxy", project: "garden", tags: ["staging"] }],
    ["memory_query", { query: "staging port" }], ["memory_query", { query: "waiting list order" }], ["memory_query", { query: "release notes" }],
  ]);
  await agent(d, "cursor", [
    ["memory_query", { query: "postgres backup" }], ["memory_query", { query: "meter readings lost" }],
    ["memory_add", { content: "The municipal water authority raises prices by 4 % in March", project: "meters", tags: ["water"], origin: "web" }],
  ]);
  const port = (await must("GET", "/v1/memories?limit=100")).memories.find((m) => m.content.includes("9443"));
  if (!(await must("GET", "/v1/review")).items?.length)
    await must("POST", "/v1/review", { memory_ids: [find("port 8443"), port.id], action: "contradiction", urgency: "high",
      evidence: "The texts agree but for the number: 8443 against 9443." });
  await must("POST", "/v1/review", { memory_ids: [find("standing desk")], action: "gc_candidate", urgency: "low", evidence: "Found by no search for 50 days." });
  await must("PATCH", `/v1/memories/${find("waiting list is sorted")}`, { content: "The waiting list is sorted by date of application; members who moved away keep their place for a year" });
  await must("PATCH", `/v1/memories/${find("Deploys wait")}`, { add_tags: ["migration"] });
  session(d, "garden", "s-garden-1", [
    ["The invoices of members who left must be kept for ten years. Can you add that to the clean-up job?", "We decided to keep invoices of former members for ten years; the clean-up job now skips the table invoices."],
    ["Which flag do the integration tests need in December?", "They need --seed 7. The calendar test fails because the fixture assumes 30 days in a month."],
  ]);
  session(d, "meters", "s-meters-1", [
    ["Always round readings to full litres before they are stored, please.", "Done. Readings are rounded to full litres in the gateway's parser before they are stored."],
  ]);
  await must("POST", "/v1/tokens", { name: "nightly-report", read: ["project:garden"] });
  return { id: find("Bookings are kept"), others: ids };
}
