package config

import (
	"math"
	"slices"
	"testing"
)

// foreignVariables returns one row for each variable of CortexGraph: its key,
// the key's default, and a value with what it becomes.
func foreignVariables() []foreignVariable {
	return []foreignVariable{
		// The API page.
		{"CORTEXGRAPH_STORAGE_PATH", "import.cortexgraph_path", "/home/ada/.config/cortexgraph/jsonl", "~/cg/$SUB", "/home/ada/cg/jsonl"},
		{"CORTEXGRAPH_DECAY_MODEL", "decay.model", "power_law", "two_component", "two_component"},
		{"CORTEXGRAPH_PL_HALFLIFE_DAYS", "decay.half_life", "3d", "1.5", "36h"},
		// The page rounds to 2.673e-6; a lambda that nobody set follows the half-life.
		{"CORTEXGRAPH_DECAY_LAMBDA", "decay.lambda", "2.6741789373454678e-06", "2.673e-6", "2.673e-06"},
		{"CORTEXGRAPH_DECAY_BETA", "decay.beta", "0.6", "0.8", "0.8"},
		{"CORTEXGRAPH_FORGET_THRESHOLD", "forget.threshold", "0.05", "0.02", "0.02"},
		{"CORTEXGRAPH_PROMOTE_THRESHOLD", "promote.threshold", "0.65", "0.7", "0.7"},
		{"CORTEXGRAPH_PROMOTE_USE_COUNT", "promote.use_count", "5", "4", "4"},
		{"CORTEXGRAPH_ENABLE_EMBEDDINGS", "search.meaning", "auto", "no", "off"},
		{"LTM_VAULT_PATH", "vaults", "", "~/Notes: private", "/home/ada/Notes: private"},
		{"CORTEXGRAPH_AUTO_REINFORCE", "reinforce.auto", "true", "0", "false"},
		{"CORTEXGRAPH_CONSOLIDATION_INTERVAL", "consolidation.interval", "1h", "90", "1m30s"},
		{"CORTEXGRAPH_CLUSTER_THRESHOLD", "cluster.threshold", "0.83", "0.9", "0.9"},
		{"CORTEXGRAPH_MIN_CLUSTER_SIZE", "cluster.min_size", "2", "3", "3"},

		// Those that only its code knows.
		{"CORTEXGRAPH_EMBED_MODEL", "embedding.url_model", "none", "e5", "e5"},
		{"CORTEXGRAPH_CLUSTER_LINK_THRESHOLD", "cluster.threshold", "0.83", "0.8", "0.8"},
		{"CORTEXGRAPH_DETECT_SECRETS", "secrets.detect", "block", "false", "off"},
		{"LTM_PROMOTED_FOLDER", "vault.promoted_folder", "Memories", "Long Term/", "Long Term"},
		{"SEARCH_LTM_WEIGHT", "search.ltm_weight", "0.7", "0.5", "0.5"},
		{"LOG_LEVEL", "log.level", "info", "CRITICAL", "error"},
	}
}

type foreignVariable struct{ variable, key, def, value, want string }

func TestEveryVariableOfCortexGraph(t *testing.T) {
	var covered []string
	for _, tt := range foreignVariables() {
		covered = append(covered, tt.variable)
		def := explain(t, setup{}.load(t), tt.key)
		if def.Value != tt.def {
			t.Errorf("%s: got default %s, want %s", tt.key, def.Value, tt.def)
		}
		got := explain(t, setup{env: []string{tt.variable + "=" + tt.value, "SUB=jsonl"}}.load(t), tt.key)
		if got.Value != tt.want || got.From != tt.variable {
			t.Errorf("%s=%s: got %s = %s from %s, want %s", tt.variable, tt.value, tt.key, got.Value, got.From, tt.want)
		}
	}
	for _, k := range keys() {
		for _, a := range k.also {
			if !slices.Contains(covered, a.name) {
				t.Errorf("%s is read for %s but has no row here", a.name, k.name)
			}
		}
	}
}

func TestTuningRecipes(t *testing.T) {
	const oneDay, oneWeek = math.Ln2 / 86400, math.Ln2 / 604800
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-3*want }
	tests := []struct {
		name string
		env  []string
		ok   func(c *Config) bool
	}{
		{"fast decay", []string{"CORTEXGRAPH_PL_HALFLIFE_DAYS=1.0"},
			func(c *Config) bool { return c.Decay.HalfLife == day && near(c.Decay.Lambda, oneDay) }},
		{"fast decay, exponential", []string{"CORTEXGRAPH_DECAY_MODEL=exponential", "CORTEXGRAPH_DECAY_LAMBDA=8.02e-6"},
			func(c *Config) bool {
				return c.Decay.Model == "exponential" && c.Decay.Lambda == 8.02e-6 && near(c.Decay.Lambda, oneDay)
			}},
		{"slow decay", []string{"CORTEXGRAPH_PL_HALFLIFE_DAYS=7.0"},
			func(c *Config) bool { return c.Decay.HalfLife == 7*day && near(c.Decay.Lambda, oneWeek) }},
		{"slow decay, exponential", []string{"CORTEXGRAPH_DECAY_MODEL=exponential", "CORTEXGRAPH_DECAY_LAMBDA=1.145e-6"},
			func(c *Config) bool { return c.Decay.Lambda == 1.145e-6 && near(c.Decay.Lambda, oneWeek) }},
		{"an explicit lambda wins over the half-life", []string{"EMBERD_DECAY_HALF_LIFE=7d", "CORTEXGRAPH_DECAY_LAMBDA=8.02e-6"},
			func(c *Config) bool { return c.Decay.Lambda == 8.02e-6 && c.Decay.HalfLife == 7*day }},
		{"lambda handed back to the half-life", []string{"EMBERD_DECAY_LAMBDA=auto", "CORTEXGRAPH_DECAY_LAMBDA=8.02e-6"},
			func(c *Config) bool { return near(c.Decay.Lambda, oneDay/3) }},
		{"aggressive promotion", []string{"CORTEXGRAPH_PROMOTE_THRESHOLD=0.5", "CORTEXGRAPH_PROMOTE_USE_COUNT=3"},
			func(c *Config) bool { return c.Promote.Threshold == 0.5 && c.Promote.UseCount == 3 }},
		{"conservative forgetting", []string{"CORTEXGRAPH_FORGET_THRESHOLD=0.01"},
			func(c *Config) bool { return c.ForgetThreshold == 0.01 }},
	}
	for _, tt := range tests {
		if c := (setup{env: tt.env}).load(t); !tt.ok(c) {
			t.Errorf("%s: %q gave decay %+v, promote %+v, forget %g", tt.name, tt.env, c.Decay, c.Promote, c.ForgetThreshold)
		}
	}
}
