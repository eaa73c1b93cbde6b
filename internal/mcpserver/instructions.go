package mcpserver

// instructions tell a model when to use which tool.
const instructions = `emberd is the user's long-term memory: short memories that fade unless they are used, and the notes of their vault.`
