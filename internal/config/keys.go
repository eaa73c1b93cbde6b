package config

import (
	"slices"
	"strings"
	"time"
)

// key is one row of the table: a setting, its default and where it lives.
type key struct {
	name  string
	def   string                // as it would stand in the file
	also  []alias               // foreign variables, strongest first
	field func(c *Config) value // the place in c, with its type and bounds
	help  string                // one line

	underHome bool // whether --home moves the default
	live      bool // whether a daemon that runs takes another value over on SIGHUP
}

// env returns the setting's own variable.
func (k *key) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// group returns the part of the name before the first dot, or "" for a name
// without one.
func (k *key) group() string {
	group, _, found := strings.Cut(k.name, ".")
	if !found {
		return ""
	}
	return group
}

// keys is the table. It is never changed. Defaults are those of CortexGraph's
// API page where it has the setting and nothing better was measured.
var keys = func() (all []key) {
	for _, s := range sections {
		all = append(all, s.keys...)
	}
	return all
}()

// sections splits the table for readers.
var sections = []struct {
	title string
	keys  []key
}{
	{"Places", placeKeys},
	{"Log and storage", storeKeys},
	{"Scores, promotion and stages", scoreKeys},
	{"Search", searchKeys},
	{"Meaning", meaningKeys},
	{"Review, recall and consolidation", careKeys},
	{"Cleanup", cleanupKeys},
	{"Agents", agentKeys},
}

var placeKeys = []key{
	{name: "data", def: auto, underHome: true,
		field: func(c *Config) value { return place{&c.Data} },
		help:  "Directory of the memory log, the one directory that may be synced between devices. `auto` is the platform's place for data."},
	{name: "state", def: auto, underHome: true,
		field: func(c *Config) value { return place{&c.State} },
		help:  "Directory of what belongs to this device alone: device id, lock, indexes, backups, trash. `auto` is the platform's place for state."},
	{name: "socket", def: auto, underHome: true,
		field: func(c *Config) value { return place{&c.Socket} },
		help:  "Unix socket the daemon listens on. `auto` is the platform's runtime directory, or `run` under the state directory."},
	{name: "vaults", also: []alias{{name: "LTM_VAULT_PATH", whole: true}},
		field: func(c *Config) value { return dirs{&c.Vaults, 16} },
		help:  "Obsidian vaults to keep long-term memories in. The first one receives promoted notes."},
	{name: "vault.ignore",
		field: func(c *Config) value { return patterns{&c.Vault.Ignore} },
		help:  "Notes and folders of the vault to pass over, by patterns with `*` and `**`."},
	{name: "vault.promoted_folder", def: "Memories", also: []alias{{name: "LTM_PROMOTED_FOLDER"}},
		field: func(c *Config) value { return folder{&c.Vault.PromotedFolder} },
		help:  "Folder of the vault that promoted notes are written to."},
	{name: "vault.archive_folder", def: "Memories/Archive",
		field: func(c *Config) value { return folder{&c.Vault.ArchiveFolder} },
		help:  "Folder of the vault that holds the full text of archived memories, left out of ordinary searches."},
	{name: "vault.index_note", def: auto,
		field: func(c *Config) value { return list{&c.Vault.IndexNote} },
		help:  "Note of the vault in which emberd lists its memories by section, or `none`. `auto` is `Index.md` in `vault.promoted_folder`."},
	{name: "vault.core_note", def: auto,
		field: func(c *Config) value { return list{&c.Vault.CoreNote} },
		help:  "Note of the vault in which emberd lists its core memories, or `none`. `auto` is `Core.md` in `vault.promoted_folder`."},
	{name: "ltm.index_archive", def: "false",
		field: func(c *Config) value { return boolean{&c.IndexArchive} },
		help:  "Whether the notes of `vault.archive_folder` are searched like all others."},
	{name: "import.cortexgraph_path", def: auto, also: []alias{{name: "CORTEXGRAPH_STORAGE_PATH"}},
		field: func(c *Config) value { return place{&c.CortexGraphPath} },
		help:  "Where `emberd import` looks first for a CortexGraph store. `auto` is `~/.config/cortexgraph/jsonl`. emberd's own log is in `data`, in another format."},
}

var storeKeys = []key{
	{name: "log.level", def: "info", also: []alias{{name: "LOG_LEVEL", read: pythonLevel}},
		field: func(c *Config) value { return choice{&c.Log.Level, []string{"debug", "info", "warn", "error"}} },
		help:  "Least severe diagnostics to write. A daemon that runs takes another one over on SIGHUP.", live: true},
	{name: "log.format", def: "text",
		field: func(c *Config) value { return choice{&c.Log.Format, []string{"text", "json"}} },
		help:  "How diagnostics are written."},
	{name: "stm.durability", def: "full",
		field: func(c *Config) value { return choice{&c.STM.Durability, []string{"full", "barrier", "none"}} },
		help:  "`full` syncs the log to the disk before a save is acknowledged; `barrier`, on macOS only, is faster and keeps the order of what a power cut leaves, but may lose the last saves; `none` does not sync, may lose saves, and is for tests only."},
	{name: "stm.segment_bytes", def: "4MiB",
		field: func(c *Config) value { return size{&c.STM.SegmentBytes, 64 << 10, 256 << 20} },
		help:  "Size at which a new log segment is started."},
	{name: "stm.segment_age", def: "24h",
		field: func(c *Config) value { return duration{&c.STM.SegmentAge, minute, 30 * day} },
		help:  "Age at which a new log segment is started."},
	{name: "sandbox", def: auto,
		field: func(c *Config) value { return choice{&c.Sandbox, []string{auto, "on", "off"}} },
		help:  "Whether the daemon takes from itself what it does not need: all files but its folders, the vaults and what the settings name, programs, and TCP ports that no setting names (Landlock, Linux 5.19 or later). `auto` does where the system can, `on` refuses to start where it cannot."},
	{name: "history.keep", def: "90d",
		field: func(c *Config) value { return duration{&c.HistoryKeep, 30 * day, decade} },
		help:  "How long superseded versions of memories are kept; not less than trash.keep."},
	{name: "trash.keep", def: "30d",
		field: func(c *Config) value { return duration{&c.TrashKeep, day, decade} },
		help:  "How long forgotten memories can be restored."},
	{name: "secrets.detect", def: "block", also: []alias{{name: "CORTEXGRAPH_DETECT_SECRETS", read: onOff("block", "off")}},
		field: func(c *Config) value { return choice{&c.SecretsDetect, []string{"block", "off"}} },
		help:  "Whether a save that looks like it holds a password or key is refused."},
	{name: "enrich", def: "true",
		field: func(c *Config) value { return boolean{&c.Enrich} },
		help:  "Whether a save that leaves out entities or strength gets them from its content. Imports never do."},
	{name: "phrases", def: none,
		field: func(c *Config) value { return optional{&c.Phrases, true} },
		help:  "File with lists of phrases that save, recall or matter, in place of emberd's lists of the same names. It is read when the daemon starts."},
}

var scoreKeys = []key{
	{name: "decay.model", def: "power_law", also: []alias{{name: "CORTEXGRAPH_DECAY_MODEL"}},
		field: func(c *Config) value {
			return choice{&c.Decay.Model, []string{"power_law", "exponential", "two_component"}}
		},
		help: "How a score falls with the time since the last use."},
	{name: "decay.half_life", def: "3d", also: []alias{{name: "CORTEXGRAPH_PL_HALFLIFE_DAYS", read: in("d")}},
		field: func(c *Config) value { return duration{&c.Decay.HalfLife, minute, decade} },
		help:  "Time in which a score falls by half, in the `power_law` model and, unless `decay.lambda` is set, the `exponential` one."},
	{name: "decay.alpha", def: "1.1", also: []alias{{name: "CORTEXGRAPH_PL_ALPHA"}},
		field: func(c *Config) value { return number{&c.Decay.Alpha, 0.1, 10} },
		help:  "Exponent of the `power_law` model; a smaller one has the same half-life, a steeper start and a longer tail."},
	{name: "decay.lambda", def: auto, also: []alias{{name: "CORTEXGRAPH_DECAY_LAMBDA"}},
		field: func(c *Config) value { return rate{&c.Decay.Lambda, 1e-12, 1} },
		help:  "Rate per second of the `exponential` model; wins over `decay.half_life`. `auto` is ln 2 / half-life, which is 2.674e-6 for three days."},
	{name: "decay.beta", def: "0.6", also: []alias{{name: "CORTEXGRAPH_DECAY_BETA"}},
		field: func(c *Config) value { return number{&c.Decay.Beta, 0, 5} },
		help:  "Exponent of the use count; larger makes use count for more."},
	{name: "decay.tc_lambda_fast", def: "1.603e-5", also: []alias{{name: "CORTEXGRAPH_TC_LAMBDA_FAST"}},
		field: func(c *Config) value { return number{&c.Decay.TCLambdaFast, 1e-12, 1} },
		help:  "Rate per second of the fast part of the `two_component` model."},
	{name: "decay.tc_lambda_slow", def: "1.147e-6", also: []alias{{name: "CORTEXGRAPH_TC_LAMBDA_SLOW"}},
		field: func(c *Config) value { return number{&c.Decay.TCLambdaSlow, 1e-12, 1} },
		help:  "Rate per second of the slow part of the `two_component` model."},
	{name: "decay.tc_weight", def: "0.7", also: []alias{{name: "CORTEXGRAPH_TC_WEIGHT_FAST"}},
		field: func(c *Config) value { return number{&c.Decay.TCWeight, 0, 1} },
		help:  "Share of the fast part in the `two_component` model."},
	{name: "forget.threshold", def: "0.05", also: []alias{{name: "CORTEXGRAPH_FORGET_THRESHOLD"}},
		field: func(c *Config) value { return number{&c.ForgetThreshold, 0, 1} },
		help:  "Decay score below which a memory may be forgotten."},
	{name: "promote.threshold", def: "0.65", also: []alias{{name: "CORTEXGRAPH_PROMOTE_THRESHOLD"}},
		field: func(c *Config) value { return number{&c.Promote.Threshold, 0, 1} },
		help:  "Decay score from which a memory is promoted to a note."},
	{name: "promote.use_count", def: "5", also: []alias{{name: "CORTEXGRAPH_PROMOTE_USE_COUNT"}},
		field: func(c *Config) value { return integer{&c.Promote.UseCount, 1, 1_000_000} },
		help:  "Uses within `promote.window` that promote a memory whatever its score."},
	{name: "promote.window", def: "14d", also: []alias{{name: "CORTEXGRAPH_PROMOTE_TIME_WINDOW", read: in("d")}},
		field: func(c *Config) value { return duration{&c.Promote.Window, 0, decade} },
		help:  "Age up to which `promote.use_count` counts."},
	{name: "promote.min_age", def: "72h",
		field: func(c *Config) value { return duration{&c.Promote.MinAge, 0, decade} },
		help:  "Age below which the score alone does not promote; with 0, and 0 for `promote.min_uses`, the score decides at once."},
	{name: "promote.min_uses", def: "1",
		field: func(c *Config) value { return integer{&c.Promote.MinUses, 0, 1_000_000} },
		help:  "Uses after the save without which the score alone does not promote."},
	{name: "promote.auto", def: "true",
		field: func(c *Config) value { return boolean{&c.Promote.Auto} },
		help:  "Whether memories that deserve a note get one by themselves, written by the keeper device."},
	{name: "lifecycle.demote_after", def: "7d",
		field: func(c *Config) value { return duration{&c.Lifecycle.DemoteAfter, minute, century} },
		help:  "Time without use after which a memory is demoted."},
	{name: "lifecycle.archive_after", def: "30d",
		field: func(c *Config) value { return duration{&c.Lifecycle.ArchiveAfter, minute, century} },
		help:  "Time without use after which a memory is archived to a one-sentence summary."},
	{name: "lifecycle.rehydratable_after", def: "90d",
		field: func(c *Config) value { return duration{&c.Lifecycle.RehydratableAfter, minute, century} },
		help:  "Time without use after which only key terms of a memory are searched."},
	{name: "lifecycle.categories",
		field: func(c *Config) value { return ages{&c.Lifecycle.Categories} },
		help:  "Other times for the memories of some categories, such as `decision=30d/90d/365d`: demoted, archived and rehydratable."},
	{name: "lifecycle.most", def: "1000",
		field: func(c *Config) value { return integer{&c.Lifecycle.Most, 1, 100_000} },
		help:  "Memories that change stage in one run at most."},
	{name: "lifecycle.max_share", def: "0.2",
		field: func(c *Config) value { return number{&c.Lifecycle.MaxShare, 0.001, 1} },
		help:  "Share of all memories that changes stage in one run at most."},
	{name: "lifecycle.report_share", def: "0.2",
		field: func(c *Config) value { return number{&c.Lifecycle.ReportShare, 0.001, 1} },
		help:  "Share of all memories above which a run reports what it would do and waits for `emberd lifecycle run`: a clock may have jumped."},
	{name: "rekindle.mode", def: "auto",
		field: func(c *Config) value { return choice{&c.RekindleMode, []string{"auto", "ask", "off"}} },
		help:  "What a search does with an archived memory that it means: bring it back, say that it could be, or neither."},
	{name: "echo.window", def: "1h",
		field: func(c *Config) value { return duration{&c.EchoWindow, 0, 30 * 24 * time.Hour} },
		help:  "Time for which a text that was just recalled is known again when it is saved, so that the memory that has it counts a use and nothing is stored; `0` turns that off."},
	{name: "llm.url", def: none,
		field: func(c *Config) value { return endpoint{&c.LLM.URL} },
		help:  "Chat endpoint that writes summaries, as llama-server, Ollama and LM Studio have one: `http://127.0.0.1:8080`, `unix:///path`. Only this makes emberd connect to another machine, and only a host that is named here is told anything of a memory. Without it, or while it does not answer, summaries are extracts."},
	{name: "llm.model", def: none,
		field: func(c *Config) value { return optional{&c.LLM.Model, false} },
		help:  "Name that the endpoint knows the model by."},
	{name: "llm.key_file", def: none,
		field: func(c *Config) value { return optional{&c.LLM.KeyFile, true} },
		help:  "File with the endpoint's key, if it wants one."},
	{name: "llm.timeout", def: "30s",
		field: func(c *Config) value { return duration{&c.LLM.Timeout, time.Second, time.Hour} },
		help:  "Time that the endpoint has for one summary, tries included."},
}

var searchKeys = []key{
	{name: "search.limit", def: "10",
		field: func(c *Config) value { return integer{&c.Search.Limit, 1, 100} },
		help:  "Results of a search that names no limit."},
	{name: "search.decay_floor", def: "0.7",
		field: func(c *Config) value { return number{&c.Search.DecayFloor, 0, 1} },
		help:  "Least factor that decay puts on a match: 1 ranks by relevance alone, 0 lets age hide an exact match."},
	{name: "search.stm_weight", def: "1", also: []alias{{name: "SEARCH_STM_WEIGHT"}},
		field: func(c *Config) value { return number{&c.Search.STMWeight, 0, 2} },
		help:  "Factor on short-term memories in ranking."},
	{name: "search.ltm_weight", def: "0.7", also: []alias{{name: "SEARCH_LTM_WEIGHT"}},
		field: func(c *Config) value { return number{&c.Search.LTMWeight, 0, 2} },
		help:  "Factor on vault notes in ranking."},
	{name: "search.preview_length", def: "300", also: []alias{{name: "CORTEXGRAPH_SEARCH_PREVIEW_LENGTH"}},
		field: func(c *Config) value { return integer{&c.Search.PreviewLength, 0, 5000} },
		help:  "Characters of content in a search result; 0 shows all of it."},
	{name: "search.track_access", def: "true",
		field: func(c *Config) value { return boolean{&c.Search.TrackAccess} },
		help:  "Whether searches count as accesses of what they find. They never count as use."},
	{name: "stage_weight.active", def: "1",
		field: func(c *Config) value { return number{&c.StageWeight.Active, 0, 1} },
		help:  "Factor on active memories in ranking."},
	{name: "stage_weight.demoted", def: "0.5",
		field: func(c *Config) value { return number{&c.StageWeight.Demoted, 0, 1} },
		help:  "Factor on demoted memories in ranking."},
	{name: "stage_weight.archived", def: "0.1",
		field: func(c *Config) value { return number{&c.StageWeight.Archived, 0, 1} },
		help:  "Factor on archived memories in ranking."},
	{name: "stage_weight.rehydratable", def: "0.01",
		field: func(c *Config) value { return number{&c.StageWeight.Rehydratable, 0, 1} },
		help:  "Factor on rehydratable memories in ranking."},
}

// The settings of vectors. They are off unless a model is named, and CortexGraph's name of
// a model is one that a server may know, but no file.
var meaningKeys = []key{
	{name: "search.meaning", def: auto, also: []alias{{name: "CORTEXGRAPH_ENABLE_EMBEDDINGS", read: onOff(auto, off)}},
		field: func(c *Config) value { return trust{&c.Search.Meaning, 0, 1} },
		help:  "What weight vectors have in the ranking beside words: `auto` lets the model sit an exam and trusts it by its score, which is 0 for one that knows nothing (`words`, which knows spelling alone, counts a quarter); a number forces the weight; `off` makes no vectors at all."},
	{name: "search.meaning_wait", def: "250ms",
		field: func(c *Config) value { return duration{&c.Search.MeaningWait, 0, 10 * time.Second} },
		help:  "How long a search waits for the vector of its query; after that it is by words alone, and says so."},
	{name: "embedding.providers", def: "llama,http,go",
		field: func(c *Config) value {
			return names{&c.Embedding.Providers, "provider", []string{"llama", "http", "go", "words"}}
		},
		help: "Who makes vectors: the first one that is configured and works. `llama` runs the file `embedding.model` by the libraries of llama.cpp (`embedding.engine`) in a process of its own, `http` is a server of this machine at `embedding.url`, `go` runs that file in emberd itself, and `words` needs neither, but knows only how words are spelt and nothing of what they mean."},
	{name: "embedding.model", def: none,
		field: func(c *Config) value { return model{&c.Embedding.Model} },
		help:  "Model for `llama` and `go`, in GGUF form, such as all-MiniLM-L6-v2 in Q8_0: a file, named with a `/` or its `.gguf`, or by its name alone one of `embedding.folder`, as `emberd model list` has it. Nothing is downloaded unless `emberd model install` is told to."},
	{name: "embedding.engine", def: auto,
		field: func(c *Config) value { return native{&c.Embedding.Engine} },
		help:  "Libraries of llama.cpp for `llama`: `auto` is the installed engine in use, if there is one (`emberd engine list`), `none` is none, a name is another installed one, and a path with a `/` is a directory that has them."},
	{name: "embedding.folder", def: auto, underHome: true,
		field: func(c *Config) value { return place{&c.Embedding.Folder} },
		help:  "Directory of installed models and, in `engines`, of engines. `auto` is a folder `emberd-models` in the platform's place for data. What is in it can be installed again."},
	{name: "embedding.url", def: none,
		field: func(c *Config) value { return ownServer{&c.Embedding.URL} },
		help:  "Server for `http`, on this machine, with OpenAI's `/v1/embeddings`, as llama-server, Ollama and LM Studio have it: `http://127.0.0.1:11434`, `unix:///path`."},
	{name: "embedding.url_model", def: none, also: []alias{{name: "CORTEXGRAPH_EMBED_MODEL"}},
		field: func(c *Config) value { return optional{&c.Embedding.URLModel, false} },
		help:  "Name that the server knows the model by; a server that has but one needs none."},
	{name: "embedding.key_file", def: none,
		field: func(c *Config) value { return optional{&c.Embedding.KeyFile, true} },
		help:  "File with the server's key, if it wants one."},
	{name: "embedding.max_tokens", def: "256",
		field: func(c *Config) value { return integer{&c.Embedding.MaxTokens, 16, 8192} },
		help:  "Tokens of which one vector is made at most; longer texts get several. Another number makes all vectors anew."},
	{name: "embedding.query_prefix", def: none,
		field: func(c *Config) value { return optional{&c.Embedding.QueryPrefix, false} },
		help:  "What the model wants before a question, such as `query:` or `search_query:`."},
	{name: "embedding.passage_prefix", def: none,
		field: func(c *Config) value { return optional{&c.Embedding.PassagePrefix, false} },
		help:  "What the model wants before a text that is searched, such as `passage:` or `search_document:`. Another one makes all vectors anew."},
	{name: "embedding.cpu_share", def: "0.5",
		field: func(c *Config) value { return number{&c.Embedding.CPUShare, 0.01, 1} },
		help:  "Share of one processor that making vectors in the background may take."},
	{name: "embedding.unload_after", def: "10m",
		field: func(c *Config) value { return duration{&c.Embedding.UnloadAfter, time.Second, 30 * day} },
		help:  "Time without use after which a model leaves memory."},
	{name: "embedding.store", def: "state",
		field: func(c *Config) value { return choice{&c.Embedding.Store, []string{"state", "data"}} },
		help:  "Where vectors are kept: `data` may be synced, and spares other devices the work."},
}

var careKeys = []key{
	{name: "review.blend_ratio", def: "0.3", also: []alias{{name: "CORTEXGRAPH_REVIEW_BLEND_RATIO"}},
		field: func(c *Config) value { return number{&c.Review.BlendRatio, 0, 1} },
		help:  "Share of memories due for review that is mixed into answers."},
	{name: "review.danger_min", def: "0.15", also: []alias{{name: "CORTEXGRAPH_REVIEW_DANGER_ZONE_MIN"}},
		field: func(c *Config) value { return number{&c.Review.DangerMin, 0, 1} },
		help:  "Lowest decay score that is due for review."},
	{name: "review.danger_max", def: "0.35", also: []alias{{name: "CORTEXGRAPH_REVIEW_DANGER_ZONE_MAX"}},
		field: func(c *Config) value { return number{&c.Review.DangerMax, 0, 1} },
		help:  "Highest decay score that is due for review."},
	{name: "review.inbox", def: auto,
		field: func(c *Config) value { return list{&c.Review.Inbox} },
		help:  "Note of the vault in which decisions about memories are made by ticking boxes, or `none`. `auto` is `Inbox.md` in `vault.promoted_folder`."},
	{name: "review.decide_after", def: "30d",
		field: func(c *Config) value { return duration{&c.Review.DecideAfter, 0, 3650 * day} },
		help:  "Time after which a review item that nobody decides is closed, and its memories stay as they are; 0 is never."},
	{name: "review.beads", def: "false",
		field: func(c *Config) value { return boolean{&c.Review.Beads} },
		help:  "Whether review items are mirrored as issues of the program `bd` on PATH. It is told ids, labels, who claimed and what was decided, and no text."},
	{name: "review.beads_dir", def: none,
		field: func(c *Config) value { return optional{&c.Review.BeadsDir, true} },
		help:  "Folder that `bd` is run in, so that it finds its tracker. `none` is the folder that the daemon was started in."},
	{name: "reinforce.auto", def: "true", also: []alias{{name: "CORTEXGRAPH_AUTO_REINFORCE"}},
		field: func(c *Config) value { return boolean{&c.AutoReinforce} },
		help:  "Whether observed use in an answer strengthens memories."},
	{name: "recall.enabled", def: "true", also: []alias{{name: "CORTEXGRAPH_AUTO_RECALL_ENABLED"}},
		field: func(c *Config) value { return boolean{&c.Recall.Enabled} },
		help:  "Whether a conversation recalls memories on its topics."},
	{name: "recall.mode", def: "silent", also: []alias{{name: "CORTEXGRAPH_AUTO_RECALL_MODE"}},
		field: func(c *Config) value { return choice{&c.Recall.Mode, []string{"silent", "subtle", "interactive"}} },
		help:  "Whether recalled memories are only reinforced, mentioned or shown."},
	{name: "recall.relevance", def: "0.3", also: []alias{{name: "CORTEXGRAPH_AUTO_RECALL_RELEVANCE_THRESHOLD"}},
		field: func(c *Config) value { return number{&c.Recall.Relevance, 0, 1} },
		help:  "Least relevance of a recalled memory."},
	{name: "recall.max_results", def: "3", also: []alias{{name: "CORTEXGRAPH_AUTO_RECALL_MAX_RESULTS"}},
		field: func(c *Config) value { return integer{&c.Recall.MaxResults, 1, 10} },
		help:  "Most memories recalled at once."},
	{name: "recall.min_interval", def: "5m", also: []alias{{name: "CORTEXGRAPH_AUTO_RECALL_MIN_INTERVAL", read: in("s")}},
		field: func(c *Config) value { return duration{&c.Recall.MinInterval, 0, day} },
		help:  "Least time between two recalls."},
	{name: "similarity.duplicate", def: "0.88", also: []alias{{name: "CORTEXGRAPH_SEMANTIC_HI"}},
		field: func(c *Config) value { return number{&c.Similarity.Duplicate, 0, 1} },
		help:  "Similarity from which `emberd cluster --duplicates` tells two memories as a pair."},
	{name: "add.threshold", def: "0.85",
		field: func(c *Config) value { return number{&c.Known.Add, 0, 1} },
		help:  "Similarity from which what is added reinforces a memory that says it already."},
	{name: "verify.related", def: "0.6",
		field: func(c *Config) value { return number{&c.Known.Related, 0, 1} },
		help:  "Similarity from which something known has to do with a claim."},
	{name: "verify.confirmed", def: "0.85",
		field: func(c *Config) value { return number{&c.Known.Confirmed, 0, 1} },
		help:  "Similarity above which something known confirms a claim."},
	{name: "reinforce.threshold", def: "0.75",
		field: func(c *Config) value { return number{&c.Known.Reinforce, 0, 1} },
		help:  "Similarity from which a memory is the one that a text reinforces."},
	{name: "cluster.threshold", def: "0.83", also: []alias{{name: "CORTEXGRAPH_CLUSTER_THRESHOLD"}, {name: "CORTEXGRAPH_CLUSTER_LINK_THRESHOLD"}},
		field: func(c *Config) value { return number{&c.Cluster.Threshold, 0, 1} },
		help:  "Similarity from which two memories belong to one cluster."},
	{name: "cluster.min_size", def: "2", also: []alias{{name: "CORTEXGRAPH_MIN_CLUSTER_SIZE"}},
		field: func(c *Config) value { return integer{&c.Cluster.MinSize, 2, 1000} },
		help:  "Fewest memories that make a cluster."},
	{name: "cluster.max_size", def: "12", also: []alias{{name: "CORTEXGRAPH_CLUSTER_MAX_SIZE"}},
		field: func(c *Config) value { return integer{&c.Cluster.MaxSize, 2, 1000} },
		help:  "Most memories in a cluster."},
	{name: "consolidation.interval", def: "1h", also: []alias{{name: "CORTEXGRAPH_CONSOLIDATION_INTERVAL", read: in("s")}},
		field: func(c *Config) value { return duration{&c.Consolidation.Interval, minute, 30 * day} },
		help:  "Time between two runs of the agents, if anything has changed, and the least time between two looks for memories that are due to fade or to be promoted."},
	{name: "consolidation.agents", def: "true",
		field: func(c *Config) value { return boolean{&c.Consolidation.Agents} },
		help:  "Whether the agents run by themselves; `emberd consolidate` runs them all the same."},
	{name: "consolidation.auto_merge", def: "false",
		field: func(c *Config) value { return boolean{&c.Consolidation.AutoMerge} },
		help:  "Whether the agents merge clusters without review."},
	{name: "consolidation.auto_merge_at", def: "0.85",
		field: func(c *Config) value { return number{&c.Consolidation.AutoMergeAt, 0, 1} },
		help:  "Cohesion from which a cluster may be merged without review."},
	{name: "consolidation.review_at", def: "0.65",
		field: func(c *Config) value { return number{&c.Consolidation.ReviewAt, 0, 1} },
		help:  "Cohesion from which a cluster is filed for review; below it its memories stay apart."},
	{name: "consolidation.rate", def: "60",
		field: func(c *Config) value { return integer{&c.Consolidation.Rate, 1, 100_000} },
		help:  "Most things that each agent does in any minute; what is more waits for its next run."},
	{name: "consolidation.min_shared_entities", def: "2",
		field: func(c *Config) value { return integer{&c.Consolidation.MinShared, 1, 100} },
		help:  "Fewest entities that two memories share for the agents to relate them."},
	{name: "consolidation.min_confidence", def: "0.5",
		field: func(c *Config) value { return number{&c.Consolidation.MinConfidence, 0, 1} },
		help:  "Least confidence in a relation that the agents make."},
}

var cleanupKeys = []key{
	{name: "cleanup.enabled", def: "true",
		field: func(c *Config) value { return boolean{&c.Cleanup.Enabled} },
		help:  "Whether a cleanup may change anything. Otherwise `emberd cleanup` only reports."},
	{name: "cleanup.schedule", def: "off",
		field: func(c *Config) value {
			return choice{&c.Cleanup.Schedule, []string{"off", "daily", "weekly", "monthly"}}
		},
		help: "How often the keeper cleans up all collections by itself, looking at what changed since. Each run makes a backup, is one entry of the journal, and is rolled back when less is found than before."},
	{name: "cleanup.threshold", def: "0.85",
		field: func(c *Config) value { return number{&c.Cleanup.Threshold, 0, 1} },
		help:  "Similarity from which memories are of one cluster in a cleanup."},
	{name: "cleanup.delete_below", def: "0.3",
		field: func(c *Config) value { return number{&c.Cleanup.DeleteBelow, 0, 0.5} },
		help:  "Quality below which a cleanup moves a memory to the trash."},
	{name: "cleanup.merge_at", def: "0.8",
		field: func(c *Config) value { return number{&c.Cleanup.MergeAt, 0, 1} },
		help:  "Least cohesion of a cluster that a cleanup merges."},
	{name: "cleanup.max_deletions", def: "0.15",
		field: func(c *Config) value { return number{&c.Cleanup.MaxDeletions, 0, 1} },
		help:  "Most memories that one run moves to the trash, as a part of those that it may touch."},
	{name: "cleanup.rollback_at", def: "0.2",
		field: func(c *Config) value { return number{&c.Cleanup.RollbackAt, 0, 1} },
		help:  "Part of its precision or recall that search may lose before a run is rolled back."},
	{name: "cleanup.queries", def: none,
		field: func(c *Config) value { return optional{&c.Cleanup.Queries, true} },
		help:  "File of searches, one a line, whose answers have to stay through a cleanup. They are asked beside those that it makes of the memories."},
	{name: "cleanup.llm", def: "false",
		field: func(c *Config) value { return boolean{&c.Cleanup.LLM} },
		help:  "Whether the endpoint of `llm.url` judges the quality of memories beside the rules, and rewrites some. It is sent their texts. It can spare a memory and never condemn one."},
	{name: "cleanup.max_calls", def: "100",
		field: func(c *Config) value { return integer{&c.Cleanup.MaxCalls, 1, 10_000} },
		help:  "Most questions that one run asks the endpoint."},
}

var agentKeys = []key{
	{name: "mcp.tools", def: "agent",
		field: func(c *Config) value {
			return choice{&c.MCP.Tools, []string{"agent", "all", "cortexgraph", "reference"}}
		},
		help: "Tools that `emberd mcp`, and `/mcp` of the daemon, show to a client: few for an agent, all there are, those of CortexGraph, or those of the protocol's own memory server."},
	{name: "token_file", def: none,
		field: func(c *Config) value { return optional{&c.TokenFile, true} },
		help:  "File with a capability token (`emberd token create`), which commands and `emberd mcp` show the daemon; nobody else may be able to read it. Without one they may do everything."},
	{name: "listen", def: none,
		field: func(c *Config) value { return loopback{&c.Listen} },
		help:  "Address of this machine alone at which the daemon serves `/mcp` beside its socket, to who has the token in the file `mcp-token` under `state`: `127.0.0.1:7330`."},
}

// position returns the index of the named key in the table, or -1.
func position(name string) int {
	return slices.IndexFunc(keys, func(k key) bool { return k.name == name })
}
