// Writes claude-mem.db into the folder of CLAUDE_MEM_DATA_DIR, by the store of claude-mem itself. Run by bun.
const { SessionStore } = require(process.argv[2] + "/plugin/sqlite/SessionStore.js");
const store = new SessionStore(process.env.CLAUDE_MEM_DATA_DIR + "/claude-mem.db");
const session = store.createSDKSession("content-1", "kitchen", "Fix the kettle");
store.updateMemorySessionId(session, "session-1");
store.saveUserPrompt("content-1", 1, "Fix the kettle", session);
const base = { subtitle: "a seal", facts: ["It leaks", "The seal is <worn>"], narrative: "The kettle leaks at the seal.",
  concepts: ["how-it-works", "gotcha"], files_read: ["kettle.go"], files_modified: [] };
store.storeObservation("session-1", "kitchen", { ...base, type: "bugfix", title: "Kettle leaks" }, 1, 10, 1735787045000);
store.storeObservation("session-1", "kitchen", { ...base, type: "discovery", title: "Oven is loud", subtitle: null,
  narrative: "The fan of the oven rattles.", facts: [] }, 1, 10, 1735787046000);
store.storeSummary("session-1", "kitchen", { request: "Fix the kettle", investigated: "The seal", learned: "It is worn",
  completed: "Replaced it", next_steps: "", notes: null }, 1, 10, 1735787047000);
store.close();
