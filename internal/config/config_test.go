package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// setup is a machine with a user ada, a config file and an environment.
type setup struct {
	flags []string
	env   []string
	file  string // content; none when empty
	home  string
	goos  string
}

func (s setup) source(t *testing.T) Source {
	t.Helper()
	src := Source{Flags: s.flags, Env: s.env, Home: s.home, GOOS: s.goos, UserHome: "/home/ada"}
	if src.GOOS == "" {
		src.GOOS = "linux"
	}
	if s.file != "" {
		src.ConfigFile = filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(src.ConfigFile, []byte(s.file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

func (s setup) load(t *testing.T) *Config {
	t.Helper()
	c, err := Load(s.source(t))
	if err != nil {
		t.Fatalf("Load(%+v): %v", s, err)
	}
	return c
}

// faults returns the lines of the error that loading must give, with the
// directory of the config file cut off.
func (s setup) faults(t *testing.T) []string {
	t.Helper()
	src := s.source(t)
	c, err := Load(src)
	if err == nil {
		t.Fatalf("Load(%+v) gave no error", s)
	}
	if c != nil {
		t.Errorf("Load(%+v) returned a Config beside its error", s)
	}
	text := strings.ReplaceAll(err.Error(), filepath.Dir(src.ConfigFile)+"/", "")
	return strings.Split(text, "\n")
}

func (s setup) wantFaults(t *testing.T, want ...string) {
	t.Helper()
	if got := s.faults(t); !slices.Equal(got, want) {
		t.Errorf("faults:\n got  %s\n want %s", strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

func explain(t *testing.T, c *Config, key string) Setting {
	t.Helper()
	s, err := c.Explain(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaultsAreTyped(t *testing.T) {
	c := setup{}.load(t)
	want := &Config{
		File: "/home/ada/.config/emberd/config.yaml",
		Data: "/home/ada/.local/share/emberd", State: "/home/ada/.local/state/emberd",
		Socket:          "/home/ada/.local/state/emberd/run/emberd.sock",
		CortexGraphPath: "/home/ada/.config/cortexgraph/jsonl",
		LogLevel:        "info", Tools: "agent", Form: "auto", PageListen: "127.0.0.1:0", SecretsDetect: "block", Sandbox: "auto", RekindleMode: "auto",
		Vault:     Vault{nil, "Memories", "Memories/Archive", "Memories/Index.md", "Memories/Core.md", nil, "shared", true, false},
		Hooks:     Hooks{"shadow", true, false, 900, 300, nil},
		Decay:     Decay{"power_law", 72 * time.Hour, math.Ln2 / (72 * time.Hour).Seconds(), 0.6},
		Promote:   Promote{0.65, 5, 72 * time.Hour, 1, true},
		Lifecycle: Lifecycle{7 * day, 30 * day, 90 * day, nil},
		Search:    Search{0.7, 0.03, -1, 250 * time.Millisecond},
		Review:    Review{0.3, 0.15, 0.35, "Memories/Inbox.md", false, ""},
		Embedding: Embedding{Providers: []string{"llama", "http", "go", "static"}, MaxTokens: 256, Store: "state", CPUShare: 0.5,
			Engine: "auto", Folder: "/home/ada/.local/share/emberd-models"},
		Known:           Known{Add: 0.85, Related: 0.6, Confirmed: 0.85, Reinforce: 0.75},
		Cluster:         Cluster{0.83, 2},
		Consolidation:   Consolidation{time.Hour, false, 0.85, 0.65, 60, 2, 0.5},
		Cleanup:         Cleanup{true, "off", 0.85, 0.3, 0.8, 0.15, 0.2, "", false},
		Duplicate:       0.88,
		ForgetThreshold: 0.05, AutoReinforce: true,
		HistoryKeep: 90 * day, TrashKeep: 30 * day, Backup: Backup{7, 4, 2048},
	}
	got, wanted := slices.Concat(tableOf(c), numberKeys(c)), slices.Concat(tableOf(want), numberKeys(want))
	for i, k := range got {
		if got, want := k.value.text(), wanted[i].value.text(); got != want {
			t.Errorf("%s: got %s, want %s", k.name, got, want)
		}
	}
	if c.File != want.File || c.FileRead {
		t.Errorf("config file: got %s, read %t; want %s, not read", c.File, c.FileRead, want.File)
	}
}

func TestPrecedence(t *testing.T) {
	const key = "cluster.threshold"
	places := []struct {
		origin Origin
		from   string
		value  string
		set    func(*setup)
	}{
		{FromFlag, "--set cluster.threshold", "0.1", func(s *setup) { s.flags = append(s.flags, key+"=0.1") }},
		{FromEnv, "EMBERD_CLUSTER_THRESHOLD", "0.2", func(s *setup) { s.env = append(s.env, "EMBERD_CLUSTER_THRESHOLD=0.2") }},
		{FromEnv, "CORTEXGRAPH_CLUSTER_THRESHOLD", "0.3", func(s *setup) { s.env = append(s.env, "CORTEXGRAPH_CLUSTER_THRESHOLD=0.3") }},
		{FromEnv, "CORTEXGRAPH_CLUSTER_LINK_THRESHOLD", "0.4", func(s *setup) { s.env = append(s.env, "CORTEXGRAPH_CLUSTER_LINK_THRESHOLD=0.4") }},
		{FromFile, "config.yaml:2", "0.5", func(s *setup) { s.file = "# mine\ncluster.threshold: 0.5\n" }},
		{FromDefault, "default", "0.83", func(*setup) {}},
	}
	for set := range 1 << len(places) {
		var s setup
		strongest := len(places) - 1
		for i, p := range slices.Backward(places) {
			if set&(1<<i) != 0 {
				p.set(&s)
				strongest = i
			}
		}
		want, got := places[strongest], explain(t, s.load(t), key)
		if got.Value != want.value || got.Origin != want.origin || !strings.HasSuffix(got.From, want.from) {
			t.Errorf("%+v: got %s from %s %s, want %s from %s %s",
				s, got.Value, got.Origin, got.From, want.value, want.origin, want.from)
		}
	}
}

func TestExplainNamesWhatWasOverruled(t *testing.T) {
	s := setup{
		flags: []string{"log.level=debug", "log.level=error"},
		env:   []string{"LOG_LEVEL=warning", "EMBERD_LOG_LEVEL=info"},
		file:  "log:\n  level: warn\n",
	}
	c := s.load(t)
	got := explain(t, c, "log.level")
	if c.LogLevel != "error" || got.Value != "error" {
		t.Errorf("got level %s, listed as %s; want error, the last flag", c.LogLevel, got.Value)
	}
	want := []string{"EMBERD_LOG_LEVEL", "LOG_LEVEL", c.File + ":2"}
	if !slices.Equal(got.Overrules, want) {
		t.Errorf("overrules: got %q, want %q", got.Overrules, want)
	}
}

func TestOnlyTheWinnerIsChecked(t *testing.T) {
	s := setup{
		flags: []string{"log.level=warn"},
		env:   []string{"LOG_LEVEL=trace", "CORTEXGRAPH_DETECT_SECRETS=perhaps", "EMBERD_SECRETS_DETECT=off"},
		file:  "log.level: loud\n",
	}
	if c := s.load(t); c.LogLevel != "warn" || c.SecretsDetect != "off" {
		t.Errorf("got level %s and secrets %s, want warn and off", c.LogLevel, c.SecretsDetect)
	}
}

func TestEmptyVariablesAreNotSet(t *testing.T) {
	s := setup{env: []string{"EMBERD_LOG_LEVEL=", "EMBERD_NONSENSE=", "LOG_LEVEL= ", "EMBERD_CLUSTER_MIN_SIZE=7", "EMBERD_CLUSTER_MIN_SIZE=8"}}
	c := s.load(t)
	if c.LogLevel != "info" {
		t.Errorf("log.level: got %s, want the default", c.LogLevel)
	}
	if c.Cluster.MinSize != 7 {
		t.Errorf("cluster.min_size: got %d, want 7, the first of two equal names", c.Cluster.MinSize)
	}
}

func TestUnknownNamesComeWithTheNearestKnownOne(t *testing.T) {
	setup{flags: []string{"decay.modle=x"}}.wantFaults(t,
		`--set: setting "decay.modle" not found; did you mean decay.model?`)
	setup{flags: []string{"half_life=3d"}}.wantFaults(t,
		`--set: setting "half_life" not found; did you mean decay.half_life?`)
	setup{flags: []string{"LOG.LEVEL=info"}}.wantFaults(t,
		`--set: setting "LOG.LEVEL" not found; did you mean log.level?`)
	setup{flags: []string{"colour=x"}}.wantFaults(t,
		`--set: setting "colour" not found; to list all settings, run: emberd config`)
	setup{flags: []string{"decay=x", "verbose"}}.wantFaults(t,
		`--set: decay is a group of settings and has no value; use a setting of this group, such as decay.model`,
		`invalid --set "verbose"; use KEY=VALUE`)
	setup{env: []string{"EMBERD_SERCH_MEANING=3", "EMBERD_HOM=/x", "EMBERD_TEST_HELPER=1", "CORTEXGRAPH_NO_SUCH=1"}}.wantFaults(t,
		`unknown environment variable "EMBERD_HOM"; did you mean EMBERD_HOME?`,
		`unknown environment variable "EMBERD_SERCH_MEANING"; did you mean EMBERD_SEARCH_MEANING?`)
	setup{file: "serach:\n  meaning: 3\nvaults:\nvualts:\n"}.wantFaults(t,
		`config.yaml:2: setting "serach.meaning" not found; did you mean search.meaning?`,
		`config.yaml:4: setting "vualts" not found; did you mean vaults?`)
	if _, err := (setup{}).load(t).Explain("trash.kep"); err == nil || !strings.HasSuffix(err.Error(), "did you mean trash.keep?") {
		t.Errorf("Explain(trash.kep): got %v, want an error that names trash.keep", err)
	}
}

func TestAFileOfAnotherProgramIsReportedBriefly(t *testing.T) {
	got := setup{file: "x" + strings.Join(strings.Fields(alphabet), ": 1\nx") + ": 1\n"}.faults(t)
	want := "config.yaml:21: emberd did not check 6 more entries because of too many errors; make sure that this is a config file of emberd"
	if len(got) != 21 || got[20] != want {
		t.Errorf("got %d faults, the last one %q; want 21, the last one %q", len(got), got[len(got)-1], want)
	}
}

const alphabet = "a b c d e f g h i j k l m n o p q r s t u v w x y z"

func TestBadValuesNameKeyBoundAndPlace(t *testing.T) {
	s := setup{
		flags: []string{"decay.beta=11", "promote.use_count=ten", "data=", "vault.promoted_folder=../up", "review.beads=maybe",
			"tuning=verify.related=2"},
		env: []string{
			"EMBERD_PROMOTE_AUTO=maybe", "EMBERD_TRASH_KEEP=3", "EMBERD_DECAY_LAMBDA=NaN", "CORTEXGRAPH_PL_HALFLIFE_DAYS=3d",
			"CORTEXGRAPH_CONSOLIDATION_INTERVAL=-1", "CORTEXGRAPH_DETECT_SECRETS=2", "LOG_LEVEL=trace",
			"EMBERD_EMBEDDING_URL_MODEL=a\x1bb",
		},
		file: "sandbox: [on]\nsocket: $NOWHERE/s\nvaults: [/a, /b, /a]\n",
	}
	s.wantFaults(t,
		`--set data: must be a path, or auto, not ""`,
		`config.yaml:2: socket $NOWHERE/s: variable NOWHERE is not set; set it, or write the full path`,
		`config.yaml:3: vaults must be one folder, not 3; for each other vault, run another daemon with its own folder: emberd serve --home DIR`,
		`--set vault.promoted_folder: must be a folder inside the vault, as a relative path, without names that begin with a dot or are invalid on some systems, not "../up"`,
		`LOG_LEVEL: log.level must be debug, info, warn or error, not "trace"; EMBERD_LOG_LEVEL overrides it`,
		`config.yaml:1: sandbox must be auto, on or off, not "on"`,
		`EMBERD_TRASH_KEEP: trash.keep must be a time from 1d to 3650d, such as 72h or 3d, not "3"`,
		`CORTEXGRAPH_DETECT_SECRETS: secrets.detect must be true or false (or yes/no, on/off, 1/0), not "2"; EMBERD_SECRETS_DETECT overrides it`,
		`CORTEXGRAPH_PL_HALFLIFE_DAYS: decay.half_life must be a number of days, not "3d"; EMBERD_DECAY_HALF_LIFE overrides it`,
		`EMBERD_DECAY_LAMBDA: decay.lambda must be a number from 1e-12 to 1, or auto, not "NaN"`,
		`--set decay.beta: must be a number from 0 to 5, not "11"`,
		`--set promote.use_count: must be a whole number from 1 to 1000000, not "ten"`,
		`EMBERD_PROMOTE_AUTO: promote.auto must be true or false (or yes/no, on/off, 1/0), not "maybe"`,
		`EMBERD_EMBEDDING_URL_MODEL: embedding.url_model must be one line of valid UTF-8 without control characters`,
		`--set review.beads: must be true, false, or a path that contains /, not "maybe"`,
		`CORTEXGRAPH_CONSOLIDATION_INTERVAL: consolidation.interval must be a time from 1m to 30d, such as 72h or 3d, not "-1s"; EMBERD_CONSOLIDATION_INTERVAL overrides it`,
		`--set tuning: verify.related must be a number from 0 to 1, not "2"`,
	)
}

func TestListsOfMemories(t *testing.T) {
	for _, c := range []struct{ flag, index, core string }{
		{"vault.index_note=none", "", "Memories/Core.md"},
		{"vault.core_note=Home/Who I am.md", "Memories/Index.md", "Home/Who I am.md"},
		{"vault.promoted_folder=Long Term", "Long Term/Index.md", "Long Term/Core.md"},
		{"vault.index_note=auto", "Memories/Index.md", "Memories/Core.md"},
	} {
		if got := (setup{flags: []string{c.flag}}).load(t).Vault; got.IndexNote != c.index || got.CoreNote != c.core {
			t.Errorf("%s: %q and %q, want %q and %q", c.flag, got.IndexNote, got.CoreNote, c.index, c.core)
		}
	}
	want := "must be a note whose name ends in .md, inside the vault, as a relative path, without names that begin with a dot or are invalid on some systems, or auto, or none"
	for _, bad := range []string{"Index", "Index.txt", ".md", "/Index.md", "a/.hidden/Index.md", ""} {
		setup{flags: []string{"vault.index_note=" + bad}}.wantFaults(t, fmt.Sprintf("--set vault.index_note: %s, not %q", want, bad))
	}
	setup{flags: []string{"vault.index_note=memories/core.md"}}.wantFaults(t,
		"vault.index_note memories/core.md (--set vault.index_note) and vault.core_note Memories/Core.md (default) must be different notes")
}

func TestContradictionsNameBothSides(t *testing.T) {
	setup{
		file: "tuning: [review.danger_min=0.5]\nlifecycle: {demote_after: 60d}\nvault.archive_folder: Memories\n",
	}.wantFaults(t,
		`lifecycle.demote_after 60d (config.yaml:2) must not exceed lifecycle.archive_after 30d (default)`,
		`review.danger_min 0.5 (config.yaml:1) must not exceed review.danger_max 0.35 (default)`,
		`vault.promoted_folder Memories (default) must not be inside vault.archive_folder Memories (config.yaml:3), because searches exclude that folder by default`,
	)
	setup{flags: []string{"forget.threshold=0.9", "lifecycle.archive_after=99d", "trash.keep=40d", "history.keep=35d"}}.wantFaults(t,
		`trash.keep 40d (--set trash.keep) must not exceed history.keep 35d (--set history.keep)`,
		`forget.threshold 0.9 (--set forget.threshold) must not exceed promote.threshold 0.65 (default)`,
		`lifecycle.archive_after 99d (--set lifecycle.archive_after) must not exceed lifecycle.rehydratable_after 90d (default)`,
	)
}

func TestTuning(t *testing.T) {
	for _, s := range []setup{
		{flags: []string{"tuning=verify.confirmed=0.9, consolidation.rate = 5"}},
		{env: []string{"EMBERD_TUNING=verify.confirmed=0.9,consolidation.rate=5"}},
		{file: "tuning: [verify.confirmed=0.9, consolidation.rate=5]\n"},
		{file: "tuning: verify.confirmed=0.9,consolidation.rate=5\n"},
	} {
		c := s.load(t)
		if c.Known.Confirmed != 0.9 || c.Consolidation.Rate != 5 || c.Known.Related != 0.6 {
			t.Errorf("%+v: got %+v and rate %d", s, c.Known, c.Consolidation.Rate)
		}
		if got := explain(t, c, "tuning").Value; got != "verify.confirmed=0.9,consolidation.rate=5" {
			t.Errorf("%+v: listed as %s", s, got)
		}
	}
	setup{flags: []string{"tuning=verify.confirm=0.9"}}.wantFaults(t,
		`--set tuning: contains the unknown name "verify.confirm"; did you mean verify.confirmed?`)
	setup{flags: []string{"tuning=cleanup.delete_below=0.6"}}.wantFaults(t,
		`--set tuning: cleanup.delete_below must be a number from 0 to 0.5, not "0.6"`)
	setup{flags: []string{"tuning=0.9"}}.wantFaults(t,
		`--set tuning: must be a list such as verify.confirmed=0.9, not "0.9"`)
}

func TestTrackerOfReviewItems(t *testing.T) {
	for text, want := range map[string]Review{
		"true": {Beads: true}, "off": {}, "/srv/tracker": {Beads: true, BeadsDir: "/srv/tracker"}, "~/t": {Beads: true, BeadsDir: "/home/ada/t"},
	} {
		if got := (setup{flags: []string{"review.beads=" + text}}).load(t).Review; got.Beads != want.Beads || got.BeadsDir != want.BeadsDir {
			t.Errorf("review.beads=%s: got %t and %q", text, got.Beads, got.BeadsDir)
		}
	}
}

func TestAgesOfACategory(t *testing.T) {
	category, after, err := ParseAges(" decision = 30d / 90d/365d")
	if want := [3]time.Duration{30 * day, 90 * day, 365 * day}; category != "decision" || after != want || err != nil {
		t.Errorf("ParseAges = %q, %v, %v; want decision and %v", category, after, err, want)
	}
	for _, bad := range []string{"decision", "=1d/2d/3d", "a=1d/2d", "a=3d/2d/9d", "a=1s/2d/3d", "a=x/2d/3d"} {
		setup{flags: []string{"lifecycle.categories=" + bad}}.wantFaults(t, fmt.Sprintf(`--set lifecycle.categories: must be a list such as decision=30d/90d/365d: for each category, the increasing times after which its memories become demoted, archived and rehydratable, not %q`, bad))
	}
}

func TestEndpointOfTheModel(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:8080", "https://chat.example.org/v1", "unix:///run/llm.sock"} {
		if got := (setup{flags: []string{"llm.url=" + good}}).load(t).LLM.URL; got != good {
			t.Errorf("llm.url = %q, want %q", got, good)
		}
	}
	for _, bad := range []string{"localhost:8080", "ftp://host", "http://", "unix://host/path", "unix:", "http://[::1", "127.0.0.1"} {
		setup{flags: []string{"llm.url=" + bad}}.wantFaults(t, fmt.Sprintf(`--set llm.url: must be http://host:port, https://host, unix:///path, or none, not %q`, bad))
	}
	setup{flags: []string{"llm.url=https://me:pass@host"}}.wantFaults(t, `--set llm.url: must not contain a user name; write the API key to a file, and set llm.key_file to the path of the file`)
}

func TestServerOfVectorsIsOnThisMachine(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:11434", "http://localhost:1234/v1", "http://[::1]:8080", "unix:///run/embed.sock", "http+unix:///run/embed.sock"} {
		if got := (setup{flags: []string{"embedding.url=" + good}}).load(t).Embedding.URL; got != good {
			t.Errorf("embedding.url = %q, want %q", got, good)
		}
	}
	for _, bad := range []string{"localhost:8080", "https://127.0.0.1", "unix://host/path", "unix:", "http://", "http://[::1", "http://127.0.0.1:1?key=x", "http://127.0.0.1:99999", "http://127.0.0.1:0"} {
		setup{flags: []string{"embedding.url=" + bad}}.wantFaults(t,
			fmt.Sprintf("--set embedding.url: must be http://127.0.0.1:PORT, unix:///path, or none, not %q", bad))
	}
	for _, elsewhere := range []string{"http://192.168.1.2:11434", "http://api.example.org/v1", "http://localhost.example.org", "https://api.example.org/v1"} {
		_, host, _ := strings.Cut(elsewhere, "://")
		host = strings.TrimSuffix(strings.TrimSuffix(host, ":11434"), "/v1")
		setup{flags: []string{"embedding.url=" + elsewhere}}.wantFaults(t,
			fmt.Sprintf("--set embedding.url: must be a server on this machine: %s is another machine, and emberd sends texts only to this machine", host))
	}
	setup{flags: []string{"embedding.url=http://me:pass@127.0.0.1"}}.wantFaults(t, "--set embedding.url: must not contain a user name; write the API key to a file, and set embedding.key_file to the path of the file")
}

func TestProvidersOfVectors(t *testing.T) {
	for text, want := range map[string][]string{"go": {"go"}, " words , http ": {"words", "http"}, "HTTP": {"http"}, "": nil, "none": nil} {
		if got := (setup{flags: []string{"embedding.providers=" + text}}).load(t).Embedding.Providers; !slices.Equal(got, want) {
			t.Errorf("embedding.providers=%s: %q, want %q", text, got, want)
		}
	}
	setup{flags: []string{"embedding.providers=http,wrods"}}.wantFaults(t,
		`--set embedding.providers: contains the unknown provider "wrods"; did you mean words?`)
	setup{flags: []string{"embedding.providers=go,http,go"}}.wantFaults(t, "--set embedding.providers: names go twice")
}

func TestWeightOfMeaning(t *testing.T) {
	for _, tt := range []struct {
		text   string
		weight float64
		shown  string
	}{{"auto", -1, "auto"}, {"off", 0, "off"}, {"0", 0, "off"}, {"0.4", 0.4, "0.4"}, {"OFF", 0, "off"}} {
		c := setup{flags: []string{"search.meaning=" + tt.text}}.load(t)
		if s := explain(t, c, "search.meaning"); c.Search.Meaning != tt.weight || s.Value != tt.shown {
			t.Errorf("search.meaning=%s: weight %g, shown as %s; want %g and %s", tt.text, c.Search.Meaning, s.Value, tt.weight, tt.shown)
		}
	}
	for _, bad := range []string{"-1", "1.5", "NaN", "on"} {
		setup{flags: []string{"search.meaning=" + bad}}.wantFaults(t,
			fmt.Sprintf("--set search.meaning: must be a number from 0 to 1, or auto, or off, not %q", bad))
	}
}

func TestEffectiveListsTheWholeTable(t *testing.T) {
	c := setup{env: []string{"LTM_VAULT_PATH=/v", "EMBERD_VAULT_IGNORE=Templates", "EMBERD_VAULT_AGENT_FOLDERS=Agents,/", "EMBERD_HOOKS_OFF_PROJECTS=diary",
		"EMBERD_LIFECYCLE_CATEGORIES=decision=30d/90d/365d",
		"EMBERD_TUNING=verify.related=0.5"}}.load(t)
	list := c.Effective()
	if len(list) != len(keys()) {
		t.Fatalf("got %d settings, want %d", len(list), len(keys()))
	}
	for i, s := range list {
		if s.Key != keys()[i].name || s.Help == "" || s.Accepts == "" || s.From == "" || s.Variables[0] != keys()[i].env() {
			t.Errorf("row %d is incomplete: %+v", i, s)
		}
		if s.Value == "" || s.Value == auto && s.Key != "rekindle.mode" && s.Key != "search.meaning" && s.Key != "embedding.engine" && s.Key != "sandbox" && s.Key != "mcp.form" {
			t.Errorf("%s: got value %q, want what is in force", s.Key, s.Value)
		}
	}
	list[0].Variables[0] = "changed"
	if again := c.Effective(); again[0].Variables[0] == "changed" {
		t.Error("changing the listing changed the Config")
	}
}
