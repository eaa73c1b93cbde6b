package secret

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/internal/testutil/secrettest"
)

func TestScanFindsEachKindOfCredential(t *testing.T) {
	for i, c := range secrettest.Credentials {
		t.Run(c.Rule+"/"+c.Words, func(t *testing.T) {
			text, want := c.In(secrettest.Seeded(uint64(i)), "Für Zoë: ", " (rotate in March)")
			got := Scan(text)
			if len(got) != 1 {
				t.Fatalf("Scan(%q) = %v, want one finding", text, got)
			}
			f := got[0]
			if f.Rule != c.Rule || f.Type != c.Words {
				t.Errorf("found %q by rule %s, want %q by rule %s", f.Type, f.Rule, c.Words, c.Rule)
			}
			if secret := text[f.Start:f.End]; secret != want {
				t.Errorf("secret is %q, want %q", secret, want)
			}
		})
	}
}

func TestEveryRuleHasACredential(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range secrettest.Credentials {
		tried[c.Rule] = true
	}
	seen := map[string]bool{}
	for _, r := range allRules() {
		if !tried[r.id] {
			t.Errorf("rule %s has no credential in the table of this test", r.id)
		}
		if seen[r.id] {
			t.Errorf("rule id %s is used twice", r.id)
		}
		seen[r.id] = true
	}
	if len(seen) > maxRules {
		t.Errorf("%d rules, want at most %d", len(seen), maxRules)
	}
}

func TestEveryMarkIsLookedFor(t *testing.T) {
	for _, r := range allRules() {
		for _, m := range r.marks {
			m.rule = &r
			for _, first := range cases(m, 0) {
				for _, second := range cases(m, 1) {
					h := rules().heads[head(first, second)]
					tried := func(o mark) bool { return o.literal == m.literal && o.rule != nil && o.rule.id == r.id }
					if h == 0 || !slices.ContainsFunc(rules().buckets[h].marks, tried) {
						t.Errorf("%s: %q is not looked for where it begins with %c%c", r.id, m.literal, first, second)
					}
				}
			}
		}
	}
}

func TestScanLeavesInnocentTextAlone(t *testing.T) {
	for name, spec := range secrettest.Innocent {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				text := secrettest.Fill(secrettest.Seeded(seed), spec)
				if got := Scan(text); got != nil {
					t.Fatalf("Scan(%q) = %v, want nothing", text, got)
				}
			}
		})
	}
}

func TestScanOrdersFindings(t *testing.T) {
	rng := secrettest.Seeded(1)
	text := secrettest.Fill(rng, "b glpat-‹a20› a ghp_‹a36› c npm_‹a36›")
	var rules []string
	for _, f := range Scan(text) {
		rules = append(rules, f.Rule)
	}
	if got, want := strings.Join(rules, " "), "gitlab-token github-token alphanumeric-token"; got != want {
		t.Errorf("rules in order of position: %s, want %s", got, want)
	}
}

func TestShapeOfTokenBeatsWordsAroundIt(t *testing.T) {
	text := secrettest.Fill(secrettest.Seeded(2), `export GITHUB_TOKEN="ghp_‹a36›"`)
	got := Scan(text)
	if len(got) != 1 || got[0].Rule != "github-token" {
		t.Errorf("Scan = %v, want the github-token rule alone", got)
	}
}

func TestPlantedTokenIsFoundWhereItStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prose := rapid.StringMatching(`([a-zäöü]{1,9}[ ,.] ){0,30}`)
		before, after := prose.Draw(t, "before"), prose.Draw(t, "after")
		token := secrettest.Fill(secrettest.Seeded(rapid.Uint64().Draw(t, "seed")), "ghp_‹a36›")
		text := before + token + " " + after
		got := Scan(text)
		if len(got) != 1 || got[0].Start != len(before) || got[0].End != len(before)+len(token) {
			t.Fatalf("Scan = %v, want bytes %d to %d", got, len(before), len(before)+len(token))
		}
		if p, want := Position(text, got[0]), utf8.RuneCountInString(before)+1; p != want {
			t.Fatalf("position = %d, want %d", p, want)
		}
	})
}

func TestRandomTokenIsNoPlaceholderForALuckyWordInIt(t *testing.T) {
	for seed := range uint64(200) {
		rng := secrettest.Seeded(seed)
		for _, word := range []string{"your", "YOUR", "YoUr", "xxxx", "Xxxx", "DuMmy", "insert"} {
			text := secrettest.Fill(rng, "ghp_‹a16›"+word+"‹a16›")
			if got := Scan(text); len(got) != 1 {
				t.Errorf("Scan(%q) = %v, want the token", text, got)
			}
		}
	}
}

// Its letters are drawn, so that some tokens have no digit and some a word for a placeholder.
func TestEveryTokenOfEmberdIsFound(t *testing.T) {
	for _, token := range []string{
		"emberd_TXYABSIBLYKIXAXVUQKLXBADHNVSWDTATRUQTCYPFEV4EDGGMXV6", "emberd_MLOGLPACUJQWFVRZBJZPTBJSEQJTNWDBHPSRFJDLIUBEGPCSOJAR",
		"emberd_BGXTKNEPBMYOURT7ETGVLDNHAUTKOKKNVUMMMRYUXFCJVTAMWCQK", "emberd_7632JCONPPFLGHXXXXBMIXDPGAQMBCGYVMZEII3SLYDBLQRIPGIY",
	} {
		if got := Scan("it shows " + token); len(got) != 1 || got[0].Rule != "emberd-token" {
			t.Errorf("Scan(%q) = %v, want the token", token, got)
		}
	}
}

func TestMaskedShowsAtMostAQuarter(t *testing.T) {
	const stars = "****************"
	for secret, want := range map[string]string{
		"":                     stars,
		"abc":                  stars,
		"hunter22":             "hu" + stars,
		"pässwörd-lang":        "päs" + stars,
		"0123456789abcdefghij": "0123" + stars,
	} {
		if got := Masked(secret, Finding{End: len(secret)}); got != want {
			t.Errorf("Masked(%q) = %q, want %q", secret, got, want)
		}
	}
}

func TestHostileTextIsScannedWhole(t *testing.T) {
	token := secrettest.Fill(secrettest.Seeded(5), " ghp_‹a36›")
	scan := func(unit string, size int) {
		text := strings.Repeat(unit, size/len(unit)) + token
		got := Scan(text)
		checkFindings(t, text, got)
		if len(got) == 0 || got[len(got)-1].End != len(text) {
			t.Errorf("after %d bytes of %q the token at the end is not found", size, unit)
		}
	}
	for _, unit := range hostile {
		scan(unit, 200<<10)
	}
	for _, r := range allRules() {
		scan(r.marks[0].literal, 32<<10)
	}
}

// hostile are texts that, repeated, make a rule read as much as it can.
var hostile = []string{
	"a", "A", "=", "ey", "eyJ.", "://:@", "data: x: ", "kind: secret data: ", "-----BEGIN PRIVATE KEY-----",
	"A: -----BEGIN PRIVATE KEY-----\n", "password=", "pwd", "curl -u a:", "--user", "token:=\"", "glpat-", "Slack=",
	"pwd=\"aжжжжжжжжжжжжжжжжжжжжжжжж", "zebra ", "zoo\n", "able acid also\n", "login as ", "visa 4539148803436467 ", "5KJ", "-a",
}

// checkFindings verifies what holds for the findings of any text.
func checkFindings(t *testing.T, text string, findings []Finding) {
	t.Helper()
	borders := map[int]bool{len(text): true}
	for i := range text {
		borders[i] = true
	}
	last := 0
	for _, f := range findings {
		if f.Start < last || f.End <= f.Start || f.End > len(text) {
			t.Fatalf("finding %+v: out of order or bounds after %d in %d bytes", f, last, len(text))
		}
		if !borders[f.Start] || !borders[f.End] {
			t.Fatalf("finding %+v does not lie on borders of characters", f)
		}
		if f.Type == "" || f.Rule == "" {
			t.Fatalf("finding %+v lacks words", f)
		}
		secret := text[f.Start:f.End]
		masked := Masked(text, f)
		if tail := secret[len(secret)/2:]; strings.Trim(tail, "*") != "" && strings.Contains(masked, tail) {
			t.Fatalf("masked form %q shows the end of %q", masked, secret)
		}
		last = f.End
	}
}

func FuzzScan(f *testing.F) {
	for i, c := range secrettest.Credentials {
		text, _ := c.In(secrettest.Seeded(uint64(i)), "note: ", ".")
		f.Add(text)
	}
	for _, text := range secrettest.Innocent {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		findings := Scan(text)
		checkFindings(t, text, findings)
	})
}

// prose is 300 bytes of what people save, without a credential.
const prose = "Caroline said the camping trip is moved to the second week of July because the lake house is taken; " +
	"Melanie will bring the tent, the stove and her old guitar. They want to try the northern trail, which needs " +
	"a permit from the ranger station, and be back by Sunday evening for the pottery class in town. ok"

func BenchmarkScanProse(b *testing.B) {
	b.SetBytes(int64(len(prose)))
	b.ReportAllocs()
	for b.Loop() {
		if Scan(prose) != nil {
			b.Fatal("prose holds no credential")
		}
	}
}

func BenchmarkScanHostile(b *testing.B) {
	const size = 200 << 10
	for _, unit := range hostile {
		b.Run(unit, func(b *testing.B) {
			text := strings.Repeat(unit, size/len(unit))
			b.SetBytes(size)
			for b.Loop() {
				Scan(text)
			}
		})
	}
}
