// The hooks of emberd for OpenCode, tested with 1.18.33. emberd agent install opencode --hooks writes this file,
// and with --remove removes it.
import { spawn } from "node:child_process"

const command = ["emberd", "hook", "opencode"]

// hook tells emberd of an event and returns the text for the model, "" for none. It never fails and takes at most wait ms.
function hook(event, wait) {
  return new Promise((resolve) => {
    try {
      const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      let out = ""
      const timer = setTimeout(() => { child.kill(); resolve("") }, wait)
      child.on("error", () => { clearTimeout(timer); resolve("") })
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => { out += piece })
      child.on("close", () => {
        clearTimeout(timer)
        try { resolve(JSON.parse(out).text ?? "") } catch { resolve("") }
      })
      child.stdin.end(JSON.stringify(event))
    } catch { resolve("") }
  })
}

// said turns messages of OpenCode into those that emberd reads.
function said(messages) {
  const out = []
  for (const { info, parts } of messages) {
    const text = parts.filter((p) => p.type === "text" && !p.synthetic && !p.ignored).map((p) => p.text).join("\n")
    const at = new Date(info.time?.created ?? Date.now()).toISOString()
    if (text) out.push({ id: info.id, role: info.role === "user" ? "user" : "agent", text, at })
    for (const p of parts) {
      if (p.type !== "tool" || !["completed", "error"].includes(p.state?.status)) continue
      const input = p.state.input ?? {}
      const file = ["edit", "write"].includes(p.tool) ? input.filePath : undefined
      out.push({ id: p.id, role: "tool", at, tool: p.tool, command: p.tool === "bash" ? input.command : undefined,
        files: file ? [file] : undefined,
        failed: p.state.status === "error" || Number(p.state.metadata?.exit ?? 0) !== 0 })
    }
  }
  const last = out.findLast((m) => m.role === "agent")
  if (last) last.final = true
  return out
}

export const Emberd = async ({ client, directory }) => {
  const folder = directory
  const started = new Map() // session: the text of its start
  const prompted = new Map() // session: the text of its last prompt
  const children = new Set() // sessions of subagents

  const start = async (session, source) => {
    started.set(session, await hook({ event: "start", session, folder, source }, 1000))
  }
  const tell = async (event, session) => {
    if (!started.has(session)) return
    const answer = await client.session.messages({ path: { id: session } })
    const messages = answer.data ?? []
    const turn = messages.findLastIndex((m) => m.info.role === "user")
    await hook({ event, session, folder, messages: said(event === "turn" ? messages.slice(Math.max(turn, 0)) : messages) }, 6000)
  }
  const safely = (work) => async (...args) => {
    try { await work(...args) } catch { /* emberd is not what the session is about */ }
  }
  return {
    "chat.message": safely(async ({ sessionID }, { parts }) => {
      if (children.has(sessionID)) return
      if (!started.has(sessionID)) await start(sessionID, "startup")
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      prompted.set(sessionID, await hook({ event: "prompt", session: sessionID, folder, prompt }, 1000))
    }),
    "experimental.chat.system.transform": safely(async ({ sessionID }, output) => {
      if (output.system.some((s) => s.startsWith("You are a title generator"))) return
      for (const text of [started.get(sessionID), prompted.get(sessionID)]) if (text) output.system.push(text)
    }),
    "experimental.session.compacting": safely(async ({ sessionID }) => tell("compact", sessionID)),
    event: safely(async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.created" && event.properties.info?.parentID) children.add(session)
      if (event.type === "session.compacted" && started.has(session)) await start(session, "compact")
      if (event.type === "session.idle") await tell("turn", session)
    }),
  }
}
