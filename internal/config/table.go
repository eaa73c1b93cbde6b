package config

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
)

// key is one row of the table: a setting, its default and its place in a Config.
type key struct {
	name  string
	def   string // as the config file would have it
	value value
	also  []alias // variables of other programs, strongest first

	underHome bool // --home moves the default
	live      bool // a running daemon applies another value on SIGHUP
}

// env returns the setting's own variable.
func (k *key) env() string { return variable(k.name) }

func variable(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// help returns the sentences that describe the setting, on one line.
func (k *key) help() string { return helpTexts()[k.name] }

// group returns the part of the name before the first dot, or "" for a name without one.
func (k *key) group() string {
	group, _, found := strings.Cut(k.name, ".")
	if !found {
		return ""
	}
	return group
}

// section is a part of the table with a title for readers.
type section struct {
	title string
	keys  []key
}

// sections returns the table, its values bound to c. Defaults are those of CortexGraph's API
// page where it has the setting and nothing better was measured.
func sections(c *Config) []section {
	return []section{
		{"Places", placeKeys(c)},
		{"Log and storage", storeKeys(c)},
		{"Scores, promotion and stages", scoreKeys(c)},
		{"Search and embeddings", searchKeys(c)},
		{"Review, consolidation and cleanup", careKeys(c)},
		{"Agents", agentKeys(c)},
	}
}

func tableOf(c *Config) (all []key) {
	for _, s := range sections(c) {
		all = append(all, s.keys...)
	}
	return all
}

// keys and numbers are the tables without values, for names and bounds.
var (
	keys    = sync.OnceValue(func() []key { return tableOf(new(Config)) })
	numbers = sync.OnceValue(func() []key { return numberKeys(new(Config)) })
)

func placeKeys(c *Config) []key {
	return []key{
		{name: "data", def: auto, value: place(&c.Data), underHome: true},
		{name: "state", def: auto, value: place(&c.State), underHome: true},
		{name: "socket", def: auto, value: place(&c.Socket), underHome: true},
		{name: "vaults", value: onePath(&c.Vaults, OtherVault),
			also: []alias{{name: "LTM_VAULT_PATH", whole: true}}},
		{name: "vault.ignore", value: patterns(&c.Vault.Ignore)},
		{name: "vault.promoted_folder", def: "Memories", value: folder(&c.Vault.PromotedFolder),
			also: foreign("LTM_PROMOTED_FOLDER")},
		{name: "vault.agent_folders", value: folders(&c.Vault.AgentFolders, 100)},
		{name: "vault.archive_folder", def: "Memories/Archive", value: folder(&c.Vault.ArchiveFolder)},
		{name: "vault.index_note", def: auto, value: note(&c.Vault.IndexNote)},
		{name: "vault.core_note", def: auto, value: note(&c.Vault.CoreNote)},
		{name: "vault.link_entities", def: "shared",
			value: choice(&c.Vault.LinkEntities, "existing", "shared", "all", "none")},
		{name: "vault.link_relations", def: "true", value: boolean(&c.Vault.LinkRelations)},
		{name: "vault.project_hubs", def: "false", value: boolean(&c.Vault.ProjectHubs)},
		{name: "import.cortexgraph_path", def: auto, value: place(&c.CortexGraphPath),
			also: foreign("CORTEXGRAPH_STORAGE_PATH")},
	}
}

func storeKeys(c *Config) []key {
	return []key{
		{name: "log.level", def: "info", value: choice(&c.LogLevel, "debug", "info", "warn", "error"),
			also: []alias{{name: "LOG_LEVEL", read: pythonLevel}}, live: true},
		{name: "sandbox", def: auto, value: choice(&c.Sandbox, auto, "on", "off")},
		{name: "memory_limit_mib", def: none, value: or(integer(&c.MemoryLimitMiB, 32, 1<<20), &c.MemoryLimitMiB,
			word[int]{none, 0})},
		{name: "history.keep", def: "90d", value: duration(&c.HistoryKeep, 30*day, decade)},
		{name: "trash.keep", def: "30d", value: duration(&c.TrashKeep, day, decade)},
		{name: "backup.daily", def: "7", value: integer(&c.Backup.Daily, 0, 366)},
		{name: "backup.weekly", def: "4", value: integer(&c.Backup.Weekly, 0, 520)},
		{name: "backup.max_mib", def: "2048", value: integer(&c.Backup.MaxMiB, 1, 1<<20)},
		{name: "secrets.detect", def: "block", value: choice(&c.SecretsDetect, "block", "off"),
			also: []alias{{name: "CORTEXGRAPH_DETECT_SECRETS", read: onOff("block", "off")}}},
		{name: "phrases", def: none, value: optionalPath(&c.Phrases)},
	}
}

func scoreKeys(c *Config) []key {
	return []key{
		{name: "decay.model", def: "power_law", also: foreign("CORTEXGRAPH_DECAY_MODEL"),
			value: choice(&c.Decay.Model, "power_law", "exponential", "two_component")},
		{name: "decay.half_life", def: "3d", value: duration(&c.Decay.HalfLife, time.Minute, decade),
			also: []alias{{name: "CORTEXGRAPH_PL_HALFLIFE_DAYS", read: in("d")}}},
		{name: "decay.lambda", def: auto, also: foreign("CORTEXGRAPH_DECAY_LAMBDA"),
			value: or(number(&c.Decay.Lambda, 1e-12, 1), &c.Decay.Lambda, word[float64]{auto, 0})},
		{name: "decay.beta", def: "0.6", value: number(&c.Decay.Beta, 0, 5), also: foreign("CORTEXGRAPH_DECAY_BETA")},
		{name: "forget.threshold", def: "0.05", value: number(&c.ForgetThreshold, 0, 1),
			also: foreign("CORTEXGRAPH_FORGET_THRESHOLD")},
		{name: "promote.threshold", def: "0.65", value: number(&c.Promote.Threshold, 0, 1),
			also: foreign("CORTEXGRAPH_PROMOTE_THRESHOLD")},
		{name: "promote.use_count", def: "5", value: integer(&c.Promote.UseCount, 1, 1_000_000),
			also: foreign("CORTEXGRAPH_PROMOTE_USE_COUNT")},
		{name: "promote.auto", def: "true", value: boolean(&c.Promote.Auto)},
		{name: "lifecycle.demote_after", def: "7d", value: duration(&c.Lifecycle.DemoteAfter, time.Minute, century)},
		{name: "lifecycle.archive_after", def: "30d", value: duration(&c.Lifecycle.ArchiveAfter, time.Minute, century)},
		{name: "lifecycle.rehydratable_after", def: "90d",
			value: duration(&c.Lifecycle.RehydratableAfter, time.Minute, century)},
		{name: "lifecycle.categories", value: ages(&c.Lifecycle.Categories)},
		{name: "rekindle.mode", def: auto, value: choice(&c.RekindleMode, auto, "ask", "off")},
		{name: "llm.url", def: none, value: endpoint(&c.LLM.URL)},
		{name: "llm.model", def: none, value: optionalText(&c.LLM.Model)},
		{name: "llm.key_file", def: none, value: optionalPath(&c.LLM.KeyFile)},
	}
}

// searchKeys are the settings of ranking and embeddings. Embeddings are off unless a model is
// named; CortexGraph's name of a model is one that a server may know, but never a file.
func searchKeys(c *Config) []key {
	e := &c.Embedding
	return []key{
		{name: "search.ltm_weight", def: "0.7", value: number(&c.Search.LTMWeight, 0, 2),
			also: foreign("SEARCH_LTM_WEIGHT")},
		{name: "search.age_exponent", def: "0.03", value: number(&c.Search.AgeExponent, 0, 1)},
		{name: "search.meaning", def: auto,
			value: or(number(&c.Search.Meaning, 0, 1), &c.Search.Meaning,
				word[float64]{auto, -1}, word[float64]{off, 0}),
			also: []alias{{name: "CORTEXGRAPH_ENABLE_EMBEDDINGS", read: onOff(auto, off)}}},
		{name: "embedding.providers", def: "llama,http,go,static",
			value: names(&e.Providers, "provider", "llama", "http", "go", "static", "words")},
		{name: "embedding.model", def: none, value: model(&e.Model)},
		{name: "embedding.engine", def: auto, value: native(&e.Engine)},
		{name: "embedding.folder", def: auto, value: place(&e.Folder), underHome: true},
		{name: "embedding.url", def: none, value: localServer(&e.URL)},
		{name: "embedding.url_model", def: none, value: optionalText(&e.URLModel),
			also: foreign("CORTEXGRAPH_EMBED_MODEL")},
		{name: "embedding.key_file", def: none, value: optionalPath(&e.KeyFile)},
		{name: "embedding.max_tokens", def: "256", value: integer(&e.MaxTokens, 16, 8192)},
		{name: "embedding.query_prefix", def: none, value: optionalText(&e.QueryPrefix)},
		{name: "embedding.passage_prefix", def: none, value: optionalText(&e.PassagePrefix)},
		{name: "embedding.store", def: "state", value: choice(&e.Store, "state", "data")},
	}
}

func careKeys(c *Config) []key {
	return []key{
		{name: "review.inbox", def: auto, value: note(&c.Review.Inbox)},
		{name: "review.beads", def: "false", value: tracker(&c.Review)},
		{name: "reinforce.auto", def: "true", value: boolean(&c.AutoReinforce),
			also: foreign("CORTEXGRAPH_AUTO_REINFORCE")},
		{name: "cluster.threshold", def: "0.83", value: number(&c.Cluster.Threshold, 0, 1),
			also: foreign("CORTEXGRAPH_CLUSTER_THRESHOLD", "CORTEXGRAPH_CLUSTER_LINK_THRESHOLD")},
		{name: "cluster.min_size", def: "2", value: integer(&c.Cluster.MinSize, 2, 1000),
			also: foreign("CORTEXGRAPH_MIN_CLUSTER_SIZE")},
		{name: "consolidation.interval", def: "1h", value: duration(&c.Consolidation.Interval, time.Minute, 30*day),
			also: []alias{{name: "CORTEXGRAPH_CONSOLIDATION_INTERVAL", read: in("s")}}},
		{name: "consolidation.auto_merge", def: "false", value: boolean(&c.Consolidation.AutoMerge)},
		{name: "cleanup.enabled", def: "true", value: boolean(&c.Cleanup.Enabled)},
		{name: "cleanup.schedule", def: off, value: choice(&c.Cleanup.Schedule, off, "daily", "weekly", "monthly")},
		{name: "cleanup.queries", def: none, value: optionalPath(&c.Cleanup.Queries)},
		{name: "cleanup.llm", def: "false", value: boolean(&c.Cleanup.LLM)},
		{name: "tuning", value: tuning(c)},
	}
}

func agentKeys(c *Config) []key {
	return []key{
		{name: "mcp.tools", def: "agent", value: choice(&c.Tools, "agent", "notes", "all", "cortexgraph", "reference")},
		{name: "mcp.form", def: "auto", value: choice(&c.Form, "auto", "text", "structured")},
		{name: "hooks.recall", def: "shadow", value: choice(&c.Hooks.Recall, "off", "shadow", "on")},
		{name: "hooks.capture", def: "true", value: boolean(&c.Hooks.Capture)},
		{name: "hooks.llm", def: "false", value: boolean(&c.Hooks.LLM)},
		{name: "hooks.start_tokens", def: "900", value: integer(&c.Hooks.StartTokens, 100, 10_000)},
		{name: "hooks.prompt_tokens", def: "300", value: integer(&c.Hooks.PromptTokens, 100, 10_000)},
		{name: "hooks.off_projects", value: projects(&c.Hooks.Off)},
		{name: "page.listen", def: "127.0.0.1:0", value: loopback(&c.PageListen)},
		{name: "token_file", def: none, value: optionalPath(&c.TokenFile)},
	}
}

// numberKeys are what `tuning` accepts: numbers, most of them of the specifications, that few users
// change.
func numberKeys(c *Config) []key {
	return []key{
		{name: "add.threshold", def: "0.85", value: number(&c.Known.Add, 0, 1)},
		{name: "verify.related", def: "0.6", value: number(&c.Known.Related, 0, 1)},
		{name: "verify.confirmed", def: "0.85", value: number(&c.Known.Confirmed, 0, 1)},
		{name: "reinforce.threshold", def: "0.75", value: number(&c.Known.Reinforce, 0, 1)},
		{name: "similarity.duplicate", def: "0.88", value: number(&c.Duplicate, 0, 1)},
		{name: "promote.min_age", def: "72h", value: duration(&c.Promote.MinAge, 0, decade)},
		{name: "promote.min_uses", def: "1", value: integer(&c.Promote.MinUses, 0, 1_000_000)},
		{name: "search.meaning_wait", def: "250ms", value: duration(&c.Search.MeaningWait, 0, 10*time.Second)},
		{name: "embedding.cpu_share", def: "0.5", value: number(&c.Embedding.CPUShare, 0.01, 1)},
		{name: "review.blend_ratio", def: "0.3", value: number(&c.Review.BlendRatio, 0, 1)},
		{name: "review.danger_min", def: "0.15", value: number(&c.Review.DangerMin, 0, 1)},
		{name: "review.danger_max", def: "0.35", value: number(&c.Review.DangerMax, 0, 1)},
		{name: "consolidation.auto_merge_at", def: "0.85", value: number(&c.Consolidation.AutoMergeAt, 0, 1)},
		{name: "consolidation.review_at", def: "0.65", value: number(&c.Consolidation.ReviewAt, 0, 1)},
		{name: "consolidation.rate", def: "60", value: integer(&c.Consolidation.Rate, 1, 100_000)},
		{name: "consolidation.min_shared_entities", def: "2", value: integer(&c.Consolidation.MinShared, 1, 100)},
		{name: "consolidation.min_confidence", def: "0.5", value: number(&c.Consolidation.MinConfidence, 0, 1)},
		{name: "cleanup.threshold", def: "0.85", value: number(&c.Cleanup.Threshold, 0, 1)},
		{name: "cleanup.delete_below", def: "0.3", value: number(&c.Cleanup.DeleteBelow, 0, 0.5)},
		{name: "cleanup.merge_at", def: "0.8", value: number(&c.Cleanup.MergeAt, 0, 1)},
		{name: "cleanup.max_deletions", def: "0.15", value: number(&c.Cleanup.MaxDeletions, 0, 1)},
		{name: "cleanup.rollback_at", def: "0.2", value: number(&c.Cleanup.RollbackAt, 0, 1)},
		{name: "audit.throttle_below", def: "0", value: number(&c.ThrottleBelow, 0, 1)},
		{name: "limits.requests", def: "0", value: integer(&c.Requests, 0, 1_000_000)},
	}
}

// foreign returns aliases whose values need no conversion.
func foreign(names ...string) (all []alias) {
	for _, name := range names {
		all = append(all, alias{name: name})
	}
	return all
}

// find returns the index of the named row of a table, or -1.
func find(table []key, name string) int {
	return slices.IndexFunc(table, func(k key) bool { return k.name == name })
}

//go:embed help.txt
var helpFile string

// helpTexts are the lines "name: sentences" of help.txt.
var helpTexts = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(helpFile) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = text
	}
	return all
})
