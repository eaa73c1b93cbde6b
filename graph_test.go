package emberd_test

// graph is the whole import graph. A new edge is a line here, to be argued for in review:
// stm knows the disk but not decay, the engine brings them together, features of the engine
// import only features below them, and the two ends of the socket know the operations but
// not the engine.
func graph() map[string]edges {
	return map[string]edges{
		"api": {
			ours: []string{
				"internal/access", "internal/admission", "internal/contain", "internal/durable", "internal/metrics",
				"internal/wire", "memory", "op",
			},
			others: []string{"github.com/google/jsonschema-go/jsonschema", "golang.org/x/sys/unix"},
			tests:  []string{"engine", "stm"},
		},
		"bench": {tests: []string{all}},
		"cmd/emberd": {
			ours: []string{"internal/cli", "internal/cli/root", "internal/hookrun"},
			others: []string{
				"github.com/modelcontextprotocol/go-sdk", "github.com/rivo/uniseg", "github.com/spf13/cobra",
				"github.com/spf13/pflag", "golang.org/x/sys/unix",
			},
			tests: []string{
				"api", "embedding", "engine", "engine/core", "internal/cleanup", "internal/cli/daemon",
				"internal/cli/data", "internal/config", "internal/durable", "internal/evalcmd", "internal/mcp", "internal/power", "internal/secret",
				"internal/service", "internal/testutil/secrettest", "internal/text/invisible", "internal/tinybert",
				"ltm", "memory", "op", "stm", "stm/device", "stm/record", "vault",
			},
		},
		"cmd/emberd-eval": {
			ours: []string{"internal/evalcmd"},
		},
		// Little: whatever goes wrong here takes the process with it.
		"cmd/emberd-llama": {
			ours:   []string{"internal/llama", "internal/llamawire", "internal/sandbox/native"},
			others: []string{"github.com/elastic/go-seccomp-bpf", "golang.org/x/sys/unix"},
			tests:  []string{"internal/bert", "internal/gguf", "internal/tinybert", "internal/wordpiece"},
		},
		// Never stm: it is handed a Source.
		"compaction": {
			ours: []string{"internal/durable", "memory", "stm/record"},
		},
		"decay": {},
		"embedding": {
			ours: []string{
				"internal/bert", "internal/dedupe/similarity", "internal/durable", "internal/gguf",
				"internal/llamawire", "internal/staticmodel", "internal/text",
			},
			others: []string{"golang.org/x/sys/unix", "golang.org/x/text/unicode/norm"},
			tests:  []string{"internal/tinybert"},
		},
		// Not internal/config: the command turns settings into options.
		"engine": {
			ours: []string{
				"engine/admin", "engine/agents", "engine/cleanup", "engine/core", "engine/graph",
				"engine/health", "engine/history", "engine/learn", "engine/lifecycle",
				"engine/listnotes", "engine/memories", "engine/merge", "engine/notelinks", "engine/notes",
				"engine/notesync", "engine/notewrite", "engine/promote", "engine/purge", "engine/recall", "engine/review",
				"engine/search", "engine/semantic", "engine/sessions", "engine/similar", "engine/storage",
				"engine/textmerge", "engine/transcripts", "engine/transfer", "internal/access", "internal/contain",
				"internal/durable", "internal/echo", "internal/ledger", "internal/text/analysis", "memory", "op", "stm",
				"vault", "watcher",
			},
			tests: []string{
				"compaction", "decay", "embedding", "internal/backup", "internal/beads", "internal/cleanup",
				"internal/cleanup/quality", "internal/cleanup/runstore", "internal/dedupe",
				"internal/dedupe/similarity", "internal/entity/knowledge", "internal/intent",
				"internal/llamawire", "internal/metrics", "internal/notegen", "internal/power",
				"internal/testutil/secrettest", "internal/tinybert", "ltm", "rekindle", "vault/frontmatter", "vault/lex", "vault/linkindex", "vault/markdown",
				"vault/neutralize", "vault/noteedit", "vault/notename", "vectors", "stm/content",
			},
		},
		"engine/admin": {
			ours: []string{
				"compaction", "engine/agents", "engine/cleanup", "engine/core", "engine/health",
				"engine/lifecycle", "engine/listnotes", "engine/memories", "engine/notelinks", "engine/notes", "engine/notesync", "engine/notewrite",
				"engine/promote", "engine/purge", "engine/review", "engine/semantic", "engine/storage", "engine/textmerge",
				"internal/access", "internal/contain", "internal/durable", "internal/ledger", "internal/metrics", "internal/notejournal",
				"internal/when", "memory", "op",
				"rekindle", "stm", "watcher",
			},
		},
		"engine/agents": {
			ours: []string{
				"decay", "engine/core", "engine/learn", "engine/lifecycle", "engine/memories", "engine/merge",
				"engine/notes", "engine/promote", "engine/review", "internal/cleanup", "internal/dedupe",
				"internal/dedupe/similarity", "internal/durable", "memory", "op", "stm",
			},
		},
		"engine/cleanup": {
			ours: []string{
				"engine/core", "engine/history", "engine/lifecycle", "engine/listnotes", "engine/memories",
				"engine/merge", "engine/notes", "engine/promote", "engine/review", "engine/search",
				"engine/similar", "engine/storage", "internal/cleanup", "internal/cleanup/quality",
				"internal/cleanup/runstore", "internal/dedupe", "internal/durable", "memory", "op", "stm",
				"vault",
			},
		},
		// Below every feature; it imports none of them.
		"engine/core": {
			ours: []string{
				"decay", "embedding", "internal/access", "internal/beads", "internal/cleanup",
				"internal/cleanup/quality", "internal/cleanup/runstore", "internal/contain",
				"internal/dedupe", "internal/durable", "internal/intent", "internal/ledger",
				"internal/metrics", "internal/notegen", "internal/power", "internal/secret",
				"internal/text/analysis", "internal/text/invisible", "memory", "op", "rekindle", "stm", "vault", "vault/lex",
				"vault/neutralize", "watcher",
			},
		},
		"engine/graph": {
			ours: []string{
				"engine/core", "engine/notes", "internal/entity", "internal/entity/knowledge",
				"internal/secret", "internal/words", "ltm", "memory", "op", "stm", "vault", "vault/markdown",
			},
		},
		"engine/health": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/memories", "engine/merge", "engine/review",
				"engine/semantic", "engine/similar", "internal/cleanup/quality", "internal/dedupe",
				"internal/dedupe/contradiction", "internal/dedupe/similarity", "internal/durable", "memory",
				"op", "stm",
			},
		},
		"engine/history": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/memories", "engine/notelinks", "engine/notes",
				"engine/notesync", "engine/notewrite", "engine/promote", "engine/similar", "internal/notejournal", "memory",
				"op", "stm", "vault",
			},
		},
		"engine/learn": {
			ours: []string{
				"decay", "engine/core", "engine/graph", "engine/lifecycle", "engine/memories", "engine/notes",
				"engine/promote", "engine/recall", "engine/search", "engine/similar", "internal/entity",
				"internal/notegen", "internal/text", "memory", "op", "stm",
			},
		},
		"engine/lifecycle": {
			ours: []string{
				"compaction", "decay", "engine/core", "engine/notes", "engine/promote",
				"engine/search", "internal/contain", "internal/dedupe/similarity", "internal/entity", "internal/metrics",
				"internal/text/analysis", "ltm", "memory", "op", "rekindle", "stm", "vault", "vault/lex", "vault/neutralize",
			},
		},
		"engine/listnotes": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/notes", "engine/promote", "internal/durable",
				"internal/notegen", "internal/secret", "memory", "op", "stm", "vault", "vault/frontmatter",
				"vault/markdown", "vault/noteedit", "vault/notename",
			},
		},
		"engine/memories": {
			ours: []string{
				"decay", "engine/core", "engine/graph", "engine/lifecycle", "engine/notes", "engine/promote",
				"engine/recall", "engine/search", "engine/similar", "internal/contain", "internal/durable", "internal/entity",
				"internal/entity/knowledge", "ltm", "memory", "op", "rekindle", "stm",
			},
		},
		"engine/merge": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/memories", "engine/notes", "engine/semantic",
				"engine/similar", "internal/dedupe", "internal/dedupe/similarity", "internal/durable",
				"memory", "op", "rekindle", "stm",
			},
		},
		"engine/notelinks": {
			ours: []string{
				"engine/core", "engine/graph", "engine/lifecycle", "engine/memories", "engine/notes",
				"engine/notewrite", "engine/promote", "internal/durable", "memory", "op", "stm", "vault",
				"vault/frontmatter", "vault/linkindex", "vault/markdown", "vault/notename",
			},
		},
		"engine/notes": {
			ours: []string{
				"engine/core", "internal/access", "internal/contain", "internal/durable",
				"internal/ignore", "internal/text", "internal/text/analysis", "ltm", "memory", "op",
				"rekindle", "stm", "vault", "vault/frontmatter", "vault/linkindex", "vault/neutralize",
				"vault/noteedit", "watcher",
			},
		},
		"engine/notesync": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/notes", "engine/promote",
				"internal/contain", "internal/durable", "internal/secret", "internal/text/merge", "memory",
				"op", "rekindle", "stm", "vault", "vault/frontmatter", "vault/linkindex", "vault/markdown", "vault/neutralize",
				"vault/noteedit", "vault/notename", "watcher",
			},
		},
		"engine/notewrite": {
			ours: []string{
				"engine/core", "engine/notes", "engine/promote", "engine/search", "internal/access",
				"internal/notejournal", "internal/secret", "memory", "op", "stm", "vault", "vault/frontmatter", "vault/lex",
				"vault/linkindex", "vault/markdown", "vault/neutralize", "vault/noteedit", "vault/notename",
			},
			others: []string{"github.com/aymanbagabas/go-udiff"},
		},
		"engine/promote": {
			ours: []string{
				"decay", "engine/core", "engine/graph", "engine/notes", "internal/durable", "memory", "op",
				"rekindle", "stm", "vault", "vault/frontmatter", "vault/neutralize", "vault/noteedit",
				"vault/notename",
			},
		},
		"engine/purge": {
			ours: []string{
				"embedding", "engine/cleanup", "engine/core", "engine/health", "engine/listnotes",
				"engine/notelinks", "engine/notes", "engine/notesync", "engine/notewrite", "engine/promote",
				"engine/semantic", "engine/transcripts", "internal/backup", "internal/durable", "internal/text", "memory",
				"op", "stm", "vault", "vectors",
			},
		},
		"engine/recall": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/notes", "engine/similar",
				"internal/dedupe/contradiction", "internal/echo", "memory", "op", "stm",
			},
		},
		"engine/review": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/listnotes", "engine/memories", "engine/merge",
				"engine/notes", "engine/notesync", "engine/promote", "internal/beads", "internal/dedupe",
				"internal/dedupe/contradiction", "internal/dedupe/similarity", "internal/durable",
				"internal/notegen", "internal/notegen/reviewnote", "internal/text",
				"internal/text/invisible", "memory", "op", "stm", "vault", "vault/frontmatter",
				"vault/noteedit",
			},
		},
		"engine/search": {
			ours: []string{
				"decay", "engine/core", "engine/graph", "engine/notes", "engine/semantic", "engine/transcripts",
				"internal/contain", "internal/entity/knowledge", "internal/query", "internal/relevance", "internal/staticmodel",
				"internal/text", "internal/text/analysis", "internal/text/spelling", "internal/when",
				"internal/words", "ltm", "memory", "op", "rekindle", "stm", "vault", "vault/lex",
			},
		},
		"engine/semantic": {
			ours: []string{
				"embedding", "engine/core", "engine/notes", "internal/contain",
				"internal/dedupe/similarity", "internal/durable", "internal/text/chunk", "memory",
				"op", "stm", "vault", "vectors",
			},
		},
		"engine/sessions": {
			ours: []string{
				"engine/core", "engine/history", "engine/learn", "engine/memories", "engine/recall", "engine/review",
				"engine/search", "engine/transcripts", "internal/access", "internal/capture", "internal/contain",
				"internal/durable", "internal/mcp/answer", "internal/staticmodel", "internal/text",
				"internal/text/analysis", "internal/text/invisible", "internal/words", "memory", "op", "stm",
			},
		},
		"engine/similar": {
			ours: []string{
				"engine/core", "engine/graph", "engine/notes", "engine/semantic",
				"internal/dedupe/contradiction", "internal/dedupe/similarity", "internal/text",
				"internal/text/chunk", "internal/words", "ltm", "memory", "op", "stm", "vectors",
			},
		},
		"engine/storage": {
			ours: []string{
				"compaction", "engine/core", "engine/promote", "internal/backup", "internal/durable",
				"memory", "op", "stm",
			},
		},
		"engine/textmerge": {
			ours: []string{
				"engine/core", "engine/lifecycle", "engine/memories", "engine/review", "internal/durable",
				"internal/text/merge", "memory", "op", "stm",
			},
		},
		"engine/transcripts": {
			ours: []string{
				"engine/core", "internal/access", "internal/durable", "internal/secret", "internal/text",
				"internal/text/invisible", "ltm", "memory", "op",
			},
		},
		"engine/transfer": {
			ours: []string{
				"engine/core", "engine/graph", "engine/lifecycle", "internal/cleanup", "memory", "op", "rekindle", "stm", "vault",
			},
		},
		"internal/access": {
			ours: []string{"internal/durable", "memory"},
		},
		"internal/admission": {
			others: []string{"golang.org/x/sync/semaphore", "golang.org/x/time/rate"},
		},
		"internal/backup": {
			ours: []string{"internal/durable", "stm/content", "stm/record"},
		},
		"internal/beads": {},
		"internal/bert": {
			ours:  []string{"internal/dot", "internal/gguf", "internal/wordpiece"},
			tests: []string{"internal/tinybert"},
		},
		"internal/capture": {
			ours: []string{"internal/secret", "internal/text", "op", "vault/lex", "vault/markdown"},
		},
		"internal/cleanup": {
			ours: []string{
				"internal/cleanup/quality", "internal/dedupe", "internal/dedupe/contradiction",
				"internal/notegen", "internal/text", "internal/text/analysis", "memory", "op",
			},
			others: []string{"gopkg.in/yaml.v3"},
		},
		"internal/cleanup/quality": {
			ours: []string{"internal/entity", "internal/text", "memory"},
		},
		"internal/cleanup/runstore": {
			ours: []string{"internal/cleanup", "internal/durable", "memory", "op"},
		},
		"internal/cli": {
			ours: []string{"api", "engine", "internal/access", "internal/clients", "internal/config",
				"internal/durable", "internal/importer", "internal/project", "internal/tempdaemon",
				"internal/text/invisible", "internal/text/spelling", "internal/when", "memory", "op", "stm"},
			others: []string{
				"github.com/gdamore/tcell/v2", "github.com/rivo/uniseg", "github.com/schollz/progressbar/v3",
				"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term",
				"golang.org/x/text/encoding/unicode",
			},
		},
		"internal/cli/agent": {
			ours: []string{"api", "internal/access", "internal/cli", "internal/cli/daemon", "internal/clients",
				"internal/durable", "internal/hookrun", "internal/hooks", "internal/mcp", "internal/project",
				"internal/text/spelling", "memory", "op"},
			others: []string{
				"github.com/modelcontextprotocol/go-sdk", "github.com/rivo/uniseg", "github.com/spf13/cobra",
				"github.com/spf13/pflag",
			},
			tests: []string{"engine", "stm"},
		},
		"internal/cli/daemon": {
			ours: []string{
				"api", "decay", "embedding", "engine", "engine/core", "internal/beads", "internal/cli",
				"internal/config", "internal/doctor", "internal/durable", "internal/freemem", "internal/intent",
				"internal/llamawire",
				"internal/llm", "internal/mcp", "internal/mcp/mcphttp", "internal/metrics", "internal/models",
				"internal/notify", "internal/power", "internal/sandbox", "internal/service", "internal/tempdaemon", "memory",
				"op", "rekindle",
			},
			others: []string{"github.com/spf13/cobra", "golang.org/x/sys/unix", "golang.org/x/term"},
			tests:  []string{"internal/text/analysis"},
		},
		"internal/cli/data": {
			ours: []string{"engine/core", "engine/promote", "internal/backup", "internal/cleanup", "internal/cli",
				"internal/durable", "internal/entity/drawing", "internal/hookrun", "internal/importer", "internal/ledger",
				"internal/notefolder", "internal/project", "internal/refgraph", "internal/transcript", "memory",
				"op", "stm", "stm/content", "vault"},
			others: []string{"github.com/spf13/cobra"},
		},
		"internal/cli/grade": {
			ours: []string{
				"internal/cli", "internal/cli/daemon", "internal/config", "internal/eval",
				"internal/tempdaemon", "memory", "op", "vault",
			},
			others: []string{"github.com/spf13/cobra"},
			tests:  []string{"engine", "stm"},
		},
		"internal/cli/maintain": {
			ours: []string{"api", "embedding", "engine", "engine/core", "engine/storage", "internal/access",
				"internal/cli", "internal/cli/daemon", "internal/cli/model", "internal/clients", "internal/config",
				"internal/doctor", "internal/durable", "internal/hookrun", "internal/ledger/chain", "internal/models",
				"internal/project", "internal/service", "memory", "op", "stm", "watcher"},
			others: []string{
				"github.com/gdamore/tcell/v2", "github.com/rivo/uniseg", "github.com/spf13/cobra",
			},
		},
		"internal/cli/memories": {
			ours:   []string{"internal/cli", "internal/entity", "internal/project", "memory", "op", "rekindle", "stm"},
			others: []string{"github.com/rivo/uniseg", "github.com/spf13/cobra", "github.com/spf13/pflag"},
		},
		"internal/cli/model": {
			ours: []string{"embedding", "internal/cli", "internal/cli/daemon", "internal/config", "internal/models",
				"internal/tinybert", "memory", "op"},
			others: []string{"github.com/spf13/cobra"},
			tests:  []string{"internal/llamawire"},
		},
		"internal/cli/organize": {
			ours:   []string{"internal/cli", "internal/entity/drawing", "internal/notebase", "internal/obsidian", "memory", "op"},
			others: []string{"github.com/spf13/cobra"},
		},
		"internal/cli/root": {
			ours: []string{
				"internal/cli", "internal/cli/agent", "internal/cli/daemon", "internal/cli/data",
				"internal/cli/grade", "internal/cli/maintain", "internal/cli/memories", "internal/cli/model",
				"internal/cli/organize", "internal/cli/page", "internal/cli/search", "internal/cli/setup",
			},
			others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
			tests:  []string{"op"},
		},
		"internal/cli/page": {
			ours:   []string{"internal/cli", "internal/config", "internal/page", "internal/sandbox", "memory", "op"},
			others: []string{"github.com/spf13/cobra"},
		},
		"internal/cli/search": {
			ours: []string{"internal/cli", "internal/project", "memory", "op"},
			others: []string{
				"github.com/gdamore/tcell/v2", "github.com/rivo/uniseg", "github.com/spf13/cobra",
				"github.com/spf13/pflag",
			},
		},
		"internal/cli/setup": {
			ours: []string{
				"embedding", "internal/cli", "internal/cli/agent", "internal/cli/daemon", "internal/cli/model",
				"internal/cli/page", "internal/clients", "internal/config", "internal/intent", "internal/manual",
				"internal/notebase", "internal/obsidian", "internal/project", "internal/service", "internal/tempdaemon", "memory", "op",
			},
			others: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys/unix"},
		},
		"internal/clients": {
			ours: []string{"internal/durable", "internal/jsonedit", "internal/text", "internal/tomledit", "memory"},
		},
		"internal/contain": {
			ours: []string{"internal/metrics"},
		},
		"internal/config": {
			ours:   []string{"internal/durable", "internal/text", "internal/text/spelling"},
			others: []string{"gopkg.in/yaml.v3"},
		},
		"internal/dedupe": {
			ours: []string{
				"internal/dedupe/contradiction", "internal/dedupe/similarity", "internal/dot",
				"internal/entity", "internal/text/analysis", "memory",
			},
		},
		"internal/dedupe/contradiction": {
			ours: []string{"internal/text", "internal/text/analysis"},
		},
		"internal/dedupe/similarity": {
			ours: []string{"internal/text", "internal/text/analysis"},
		},
		"internal/doctor": {
			ours: []string{
				"internal/backup", "internal/durable", "ltm", "stm", "vault", "vault/frontmatter", "vault/notename",
			},
			others: []string{"golang.org/x/sys/unix", "golang.org/x/text/unicode/norm"},
		},
		"internal/dot": {
			others: []string{"golang.org/x/sys/cpu"},
		},
		"internal/durable": {
			others: []string{"golang.org/x/sys/unix"},
		},
		"internal/echo": {
			ours:   []string{"memory"},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
		},
		"internal/entity": {
			ours:   []string{"internal/text", "memory"},
			others: []string{"golang.org/x/text/unicode/norm"},
		},
		"internal/entity/drawing": {
			ours: []string{"memory", "op"},
		},
		"internal/entity/knowledge": {
			ours: []string{"internal/entity", "memory"},
		},
		"internal/eval": {
			ours: []string{"vault", "vault/linkindex"},
		},
		"internal/evalcmd": {
			ours: []string{
				"embedding", "engine", "engine/core", "internal/capture", "internal/cli", "internal/config", "internal/durable",
				"internal/dedupe/contradiction", "internal/dedupe/similarity", "internal/entity", "internal/eval",
				"internal/evalcmd/chart", "internal/tempdaemon", "internal/text", "internal/text/analysis", "memory", "op", "rekindle",
				"stm",
			},
			others: []string{"github.com/rivo/uniseg", "github.com/spf13/cobra"},
		},
		"internal/evalcmd/chart": {},
		"internal/freemem":       {},
		"internal/gguf": {
			ours:  []string{"internal/dot"},
			tests: []string{"internal/tinybert"},
		},
		"internal/ggufwrite": {},
		"internal/hfmodel": {
			ours:  []string{"internal/dot", "internal/durable", "internal/ggufwrite"},
			tests: []string{"internal/bert", "internal/gguf", "internal/tinybert"},
		},
		"internal/hookrun": {
			ours: []string{"api", "internal/cli", "internal/durable", "internal/hooks", "internal/project",
				"internal/transcript", "memory", "op"},
			others: []string{"golang.org/x/term"},
		},
		"internal/project": {
			ours: []string{"internal/durable"},
		},
		"internal/hooks": {
			ours: []string{"op"},
		},
		"internal/ignore": {},
		"internal/importer": {
			ours: []string{
				"internal/cleanup", "internal/notegen", "internal/sqlitefile", "internal/unpack", "memory", "vault",
				"vault/lex", "vault/markdown",
			},
		},
		"internal/intent": {
			ours:   []string{"decay", "internal/text", "internal/text/spelling", "memory"},
			others: []string{"golang.org/x/text/unicode/norm", "gopkg.in/yaml.v3"},
			tests:  []string{"internal/entity"},
		},
		"internal/jsonedit": {
			others: []string{"github.com/tailscale/hujson"},
		},
		"internal/ledger": {
			ours: []string{"internal/durable", "internal/ledger/chain", "internal/stamp", "internal/text", "memory"},
		},
		"internal/ledger/chain": {
			ours: []string{"internal/durable"},
		},
		// Native code is called here alone.
		"internal/llama": {
			ours:   []string{"internal/gguf", "internal/llamawire", "internal/wordpiece"},
			others: []string{"github.com/ebitengine/purego"},
			tests:  []string{"internal/bert", "internal/tinybert"},
		},
		"internal/llamawire": {},
		"internal/llm":       {},
		"internal/manual": {
			others: []string{"github.com/yuin/goldmark"},
		},
		"internal/mcp": {
			ours: []string{
				"internal/contain", "internal/mcp/answer", "internal/mcp/cortexgraph",
				"internal/mcp/reference", "internal/mcp/tool", "internal/text",
				"internal/text/invisible", "internal/wire", "memory", "op",
			},
			others: []string{
				"github.com/google/jsonschema-go/jsonschema", "github.com/modelcontextprotocol/go-sdk",
			},
			tests: []string{
				"api", "embedding", "engine", "engine/core", "internal/access", "internal/refgraph", "stm",
			},
		},
		"internal/mcp/answer": {
			ours: []string{"internal/text", "internal/text/invisible", "internal/wire", "memory", "op"},
		},
		"internal/mcp/cortexgraph": {
			ours: []string{
				"internal/dedupe/similarity", "internal/mcp/answer", "internal/mcp/tool", "internal/wire",
				"memory", "op",
			},
		},
		"internal/mcp/mcphttp": {
			ours:   []string{"internal/access", "internal/mcp", "op"},
			others: []string{"github.com/modelcontextprotocol/go-sdk"},
			tests:  []string{"api", "engine", "memory", "stm"},
		},
		"internal/mcp/reference": {
			ours: []string{"internal/mcp/tool", "internal/refgraph", "internal/wire", "memory", "op"},
		},
		"internal/mcp/tool": {
			ours: []string{
				"internal/mcp/answer", "internal/text", "internal/text/invisible", "internal/wire", "memory",
				"op",
			},
			others: []string{"github.com/modelcontextprotocol/go-sdk"},
		},
		"internal/metrics": {
			others: []string{"golang.org/x/sys/unix"},
		},
		"internal/models": {
			ours: []string{
				"internal/durable", "internal/gguf", "internal/ggufwrite", "internal/hfmodel", "internal/llamawire",
				"internal/text/spelling", "internal/unpack",
			},
			tests: []string{"internal/bert", "internal/tinybert"},
		},
		"internal/notebase": {
			ours:   []string{"internal/durable"},
			others: []string{"gopkg.in/yaml.v3"},
			tests:  []string{"engine/promote"},
		},
		"internal/notefolder": {
			ours:   []string{"internal/durable", "memory"},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
		},
		"internal/notegen": {
			ours:   []string{"internal/text", "internal/text/invisible", "memory"},
			others: []string{"github.com/yuin/goldmark"},
		},
		"internal/notegen/reviewnote": {
			ours:   []string{"internal/notegen", "memory", "op"},
			others: []string{"github.com/yuin/goldmark"},
		},
		"internal/notejournal": {
			ours: []string{"internal/contain", "internal/durable", "internal/stamp", "memory"},
		},
		"internal/notify": {
			ours: []string{"internal/text", "memory"},
		},
		"internal/obsidian": {
			ours: []string{"internal/durable", "internal/text", "memory"},
		},
		"internal/page": {
			ours:   []string{"internal/secret", "internal/text/invisible", "memory", "op"},
			others: []string{"golang.org/x/sync/errgroup"},
			tests:  []string{"api", "engine", "stm", "internal/testutil/secrettest"},
		},
		"internal/power": {},
		"internal/query": {
			ours: []string{"internal/text", "internal/when"},
		},
		"internal/refgraph": {
			ours:   []string{"memory", "op"},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/language"},
		},
		"internal/relevance": {},
		"internal/sandbox": {
			others: []string{
				"github.com/landlock-lsm/go-landlock/landlock",
				"github.com/landlock-lsm/go-landlock/landlock/syscall", "golang.org/x/sys/unix",
			},
		},
		"internal/sandbox/native": {
			ours: []string{"internal/sandbox"},
			others: []string{
				"github.com/elastic/go-seccomp-bpf", "github.com/elastic/go-seccomp-bpf/arch",
				"github.com/landlock-lsm/go-landlock/landlock/syscall", "golang.org/x/sys/unix",
			},
		},
		"internal/secret": {
			others: []string{"gopkg.in/yaml.v3"},
			tests:  []string{"internal/testutil/secrettest"},
		},
		"internal/service": {
			ours: []string{"internal/durable", "memory"},
		},
		"internal/tempdaemon": {
			ours: []string{"api", "internal/config", "memory", "op"},
		},
		"internal/testutil/bubble": {},
		"internal/testutil/clitest": {
			others: []string{"github.com/rivo/uniseg"},
		},
		"internal/testutil/crashdisk": {
			ours: []string{"internal/durable"},
		},
		"internal/testutil/dirsnap": {
			others: []string{"golang.org/x/sys/unix"},
		},
		"internal/testutil/llamatest": {
			others: []string{"golang.org/x/sys/unix"},
		},
		"internal/testutil/llmtest": {},
		"internal/testutil/mutants": {},
		"internal/testutil/oldhome": {},
		"internal/testutil/ramdisk": {
			others: []string{"golang.org/x/sys/unix"},
		},
		"internal/testutil/racescale": {
			others: []string{"pgregory.net/rapid"},
		},
		"internal/testutil/secrettest": {},
		"internal/testutil/snapfile":   {},
		"internal/stamp":               {},
		// SQLite is called here alone, and reads only.
		"internal/sqlitefile": {
			ours:   []string{"internal/durable"},
			others: []string{"modernc.org/sqlite"},
		},
		"internal/staticmodel": {
			ours:  []string{"internal/wordpiece"},
			tests: []string{"internal/dedupe/similarity"},
		},
		"internal/testutil/sqlitetest": {
			others: []string{"modernc.org/sqlite"},
		},
		"internal/testutil/trainedtest": {},
		"internal/text": {
			others: []string{"github.com/rivo/uniseg"},
		},
		"internal/text/analysis": {
			others: []string{"github.com/blevesearch/bleve/v2/analysis"},
		},
		"internal/text/chunk": {
			ours: []string{"internal/text"},
		},
		"internal/text/invisible": {},
		"internal/text/merge": {
			ours:   []string{"internal/text"},
			others: []string{"github.com/aymanbagabas/go-udiff/lcs"},
			tests:  []string{"internal/testutil/racescale"},
		},
		"internal/text/spelling": {},
		"internal/tinybert":      {ours: []string{"internal/ggufwrite"}},
		// The daemon's operations have no files of other programs: it is handed messages, not paths.
		"internal/transcript": {
			ours: []string{"internal/durable", "internal/sqlitefile", "internal/text", "op"},
		},
		"internal/unpack": {ours: []string{"internal/durable"}},
		"internal/tomledit": {
			others: []string{"github.com/pelletier/go-toml/v2"},
		},
		"internal/when": {
			ours: []string{"internal/text"},
		},
		"internal/wire": {
			ours:   []string{"internal/text/spelling", "memory"},
			others: []string{"github.com/google/jsonschema-go/jsonschema"},
			tests:  []string{"op"},
		},
		"internal/wordpiece": {
			ours:   []string{"internal/gguf", "internal/text"},
			others: []string{"golang.org/x/text/unicode/norm"},
			tests:  []string{"internal/tinybert"},
		},
		"internal/words": {
			ours: []string{"internal/relevance", "internal/text", "internal/text/spelling"},
		},
		"ltm": {
			ours: []string{
				"internal/contain", "internal/durable", "internal/relevance", "internal/text",
				"internal/text/analysis", "internal/text/chunk", "internal/text/spelling", "ltm/boltfile",
			},
			tests: []string{"internal/words"},
			others: []string{
				"github.com/RoaringBitmap/roaring/v2", "github.com/blevesearch", "golang.org/x/sys/unix",
				"golang.org/x/text/cases", "golang.org/x/text/unicode/norm",
			},
		},
		"ltm/boltfile": {others: []string{"go.etcd.io/bbolt"}},
		"memory": {
			ours:   []string{"internal/text"},
			others: []string{"github.com/google/uuid"},
		},
		"op": {
			ours: []string{"internal/access", "memory"},
		},
		"rekindle": {
			ours: []string{"internal/text", "internal/text/analysis", "memory"},
		},
		// The store names what its callers need of the packages below.
		// A client: it runs the program and imports nothing of it.
		"spec": {
			others: []string{"github.com/modelcontextprotocol/go-sdk"},
		},
		"stm": {
			ours: []string{
				"compaction", "internal/contain", "internal/durable", "internal/metrics", "memory", "stm/content", "stm/device",
				"stm/extent", "stm/history", "stm/journal", "stm/logcheck", "stm/quarantine", "stm/record", "stm/repair",
				"stm/snapshot", "stm/table", "stm/wal",
			},
			tests: []string{"internal/backup", "internal/contain", "internal/text/analysis", "internal/words", "stm/docfile"},
		},
		"stm/content": {
			ours:  []string{"compaction", "internal/durable", "memory", "stm/record", "stm/table"},
			tests: []string{"stm"},
		},
		"stm/device": {
			ours: []string{"internal/durable", "internal/text", "memory", "stm/record", "stm/table"},
		},
		"stm/docfile": {
			ours: []string{"internal/durable", "stm/record"},
		},
		"stm/extent": {
			ours: []string{"internal/durable", "stm/record"},
		},
		"stm/history": {
			ours: []string{
				"internal/durable", "memory", "stm/device", "stm/journal", "stm/record", "stm/table",
				"stm/wal",
			},
		},
		"stm/journal": {
			ours: []string{"memory", "stm/device", "stm/record", "stm/table"},
		},
		// It reads a log that may be of another machine, so never stm/wal, which opens one.
		"stm/logcheck": {
			ours: []string{
				"internal/durable", "stm/device", "stm/extent", "stm/quarantine", "stm/record", "stm/repair",
			},
			tests: []string{"memory", "stm"},
		},
		// Bookkeeping alone: it opens no file.
		"stm/offload": {
			ours: []string{"internal/durable", "stm/docfile", "stm/table"},
		},
		"stm/otherfiles": {
			ours: []string{"stm/device", "stm/extent", "stm/record", "stm/snapshot"},
		},
		// It compares files with what is kept of them; what they held is for stm/wal to write again.
		"stm/ownfiles": {
			ours:  []string{"stm/device", "stm/extent", "stm/record", "stm/snapshot"},
			tests: []string{"internal/durable"},
		},
		// It knows the folder and the lines, not the log: the log asks it.
		"stm/quarantine": {
			ours: []string{"internal/durable", "memory", "stm/device", "stm/record"},
		},
		"stm/record": {
			ours: []string{"internal/durable", "internal/stamp", "memory"},
		},
		"stm/repair": {
			ours: []string{
				"compaction", "internal/contain", "internal/durable", "memory", "stm/device", "stm/extent", "stm/record",
				"stm/snapshot", "stm/table",
			},
		},
		"stm/snapshot": {
			ours: []string{
				"internal/contain", "internal/durable", "internal/words", "memory", "stm/device", "stm/docfile", "stm/extent",
				"stm/journal", "stm/record", "stm/table",
			},
		},
		"stm/table": {
			ours: []string{
				"internal/contain", "internal/relevance", "internal/text", "internal/text/analysis",
				"internal/text/chunk", "internal/text/spelling", "internal/words", "memory", "stm/docfile", "stm/record",
			},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
		},
		"stm/wal": {
			ours: []string{
				"compaction", "internal/contain", "internal/durable", "internal/metrics",
				"internal/text/analysis", "internal/words", "memory", "stm/device", "stm/extent", "stm/journal", "stm/offload",
				"stm/otherfiles", "stm/ownfiles", "stm/quarantine", "stm/record", "stm/repair", "stm/snapshot", "stm/table",
			},
		},
		"vault": {
			ours: []string{
				"internal/contain", "internal/durable", "internal/ignore", "vault/frontmatter",
				"vault/lex", "vault/markdown", "vault/noteedit", "vault/notename",
			},
			others: []string{"golang.org/x/sys/unix"},
			tests:  []string{"vault/linkindex", "vault/neutralize"},
		},
		"vault/frontmatter": {
			ours:   []string{"vault/lex", "vault/notename"},
			others: []string{"gopkg.in/yaml.v3"},
		},
		"vault/lex": {},
		"vault/linkindex": {
			ours:   []string{"vault/notename"},
			others: []string{"golang.org/x/text/unicode/norm"},
		},
		"vault/markdown": {
			ours:   []string{"vault/lex", "vault/notename"},
			others: []string{"github.com/yuin/goldmark"},
		},
		"vault/neutralize": {
			ours:   []string{"vault/lex"},
			others: []string{"github.com/yuin/goldmark"},
			tests:  []string{"vault/markdown"},
		},
		"vault/noteedit": {
			ours:   []string{"vault/frontmatter", "vault/lex", "vault/neutralize"},
			others: []string{"gopkg.in/yaml.v3"},
			tests:  []string{"vault"},
		},
		"vault/notename": {
			ours:   []string{"internal/text"},
			others: []string{"golang.org/x/text/cases", "golang.org/x/text/unicode/norm"},
			tests:  []string{"vault"},
		},
		"vectors": {
			ours: []string{"internal/dot", "internal/durable"},
		},
		"watcher": {
			ours:   []string{"internal/ignore"},
			others: []string{"github.com/fsnotify/fsnotify"},
		},
	}
}
