package oracle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"emberd/internal/secret"

	"github.com/rs/zerolog"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"
)

var (
	update = flag.Bool("update", false, "rewrite the golden list of chosen rules")
	misses = flag.Bool("misses", false, "print each generated text that Scan misses")
)

const (
	goldenFile   = "testdata/rules.golden"
	perRule      = 40
	maxDraws     = 40 * perRule
	wantedRecall = 0.95
)

// carriers are sentences a token is pasted into; the first %s is the word that
// some rules of gitleaks want to see nearby, the second the token.
var carriers = []string{
	"For %s use %s from now on",
	"%s: staging key below\n%s\nrotate it in March",
	"Caroline sent me the %s thing, here it is: %s",
	"export %s_KEY=%s",
	`{"%s_value": "%s", "ttl": 3600}`,
	"- %s in the CI settings: '%s'",
	"%s\t%s",
}

func oracle(t *testing.T) *detect.Detector {
	t.Helper()
	logging.Logger = logging.Logger.Level(zerolog.Disabled)
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatalf("load the default rules of gitleaks: %v", err)
	}
	return d
}

func chosen(d *detect.Detector) []string {
	var ids []string
	for id, rule := range d.Config.Rules {
		if highConfidence(rule) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestChosenRulesAreTheGoldenOnes(t *testing.T) {
	got := strings.Join(chosen(oracle(t)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("high-confidence rules differ from %s; run with -update and read the diff\ngot:\n%s", goldenFile, got)
	}
}

// sample is a text with a token in it that gitleaks itself reports.
type sample struct {
	text       string
	start, end int // where gitleaks sees the secret
}

// samples returns up to perRule texts in which gitleaks sees a secret by this
// rule.
func samples(t *testing.T, d *detect.Detector, rule config.Rule, seed uint64) []sample {
	t.Helper()
	re, err := syntax.Parse(rule.Regex.String(), syntax.Perl)
	if err != nil {
		t.Fatalf("parse rule %s: %v", rule.RuleID, err)
	}
	g := generator{rng: rand.New(rand.NewPCG(1, seed)), source: rule.Regex.String()}
	word := strings.Trim(rule.Keywords[0], "-_.")
	var found []sample
	for i := 0; i < maxDraws && len(found) < perRule; i++ {
		token := strings.Trim(g.text(re), " \t\r\n")
		text := fmt.Sprintf(carriers[i%len(carriers)], word, token)
		for _, f := range d.DetectString(text) {
			if f.RuleID == rule.RuleID {
				start := strings.LastIndex(text, f.Secret)
				found = append(found, sample{text, start, start + len(f.Secret)})
				break
			}
		}
	}
	return found
}

// caught reports whether one of our findings touches the secret of s.
func caught(s sample) bool {
	return slices.ContainsFunc(secret.Scan(s.text), func(f secret.Finding) bool {
		return f.Start < s.end && s.start < f.End
	})
}

func TestRecallOnGeneratedTokens(t *testing.T) {
	d := oracle(t)
	total, found := 0, 0
	for i, id := range chosen(d) {
		all := samples(t, d, d.Config.Rules[id], uint64(i))
		if len(all) == 0 {
			t.Errorf("rule %s: no generated text is flagged by gitleaks", id)
			continue
		}
		hits := 0
		for _, s := range all {
			if caught(s) {
				hits++
			} else if *misses {
				t.Logf("%s missed in %q", id, s.text)
			}
		}
		t.Logf("%-45s %d of %d", id, hits, len(all))
		total, found = total+len(all), found+hits
	}
	recall := float64(found) / float64(total)
	t.Logf("recall %.4f: %d of %d generated tokens", recall, found, total)
	if recall < wantedRecall {
		t.Errorf("recall = %.4f, want at least %v", recall, wantedRecall)
	}
}
