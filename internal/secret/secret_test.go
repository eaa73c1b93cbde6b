package secret

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestScanFindsEachKindOfCredential(t *testing.T) {
	for i, c := range credentials {
		t.Run(c.rule+"/"+c.words, func(t *testing.T) {
			text, want := c.in(seeded(uint64(i)), "Für Zoë: ", " (rotate in March)")
			got := Scan(text)
			if len(got) != 1 {
				t.Fatalf("Scan(%q) = %v, want one finding", text, got)
			}
			f := got[0]
			if f.Rule != c.rule || f.Type != c.words {
				t.Errorf("found %q by rule %s, want %q by rule %s", f.Type, f.Rule, c.words, c.rule)
			}
			if secret := text[f.Start:f.End]; secret != want {
				t.Errorf("secret is %q, want %q", secret, want)
			}
		})
	}
}

func TestEveryRuleHasACredential(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range credentials {
		tried[c.rule] = true
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

// innocent are texts that hold no secret although they look a little like it;
// ‹h40› stands for 40 random hexadecimal digits.
var innocent = map[string]string{
	"prose":                "We talked about the secret garden, a token of friendship and the password reset page.",
	"prose with a colon":   "The secret: patience. The key takeaway: auth is hard, password: strongly encouraged",
	"spoken algorithm":     "the API key is OAuth2-based and the token is RS256-signed-JWT, the secret is SHA256-hashed",
	"spoken action":        "I changed the password to something-stronger and the token is base64-encoded",
	"commit":               "Fixed in commit ‹h40›, see also ‹h7›",
	"commit in a token":    "token_commit: ‹h40›",
	"sha256":               "sha256:‹h64›  release.tar.gz",
	"md5":                  "d8:‹h32› *image.iso",
	"uuid":                 "memory ‹h8›-‹h4›-4‹h3›-a‹h3›-‹h12› was merged",
	"uuid as token":        "request token: ‹h8›-‹h4›-4‹h3›-a‹h3›-‹h12›",
	"path":                 "secret file: /etc/ssl/private/server-2024.key and ~/.ssh/id_ed25519",
	"path in assignment":   `token_file = "/var/run/secrets/kubernetes.io/token2"`,
	"data URI":             "![](data:image/png;base64,iVBORw0KGgo‹b60›/EAAA‹b80›/AKIA‹x16›/sk_live_‹a24›)",
	"isbn":                 "ISBN 978-3-16-148410-0 and ISBN-10: 0-306-40615-2",
	"phone":                "Call +49 (0)30 1234567-89 or 555-0199 after 18:00",
	"go code":              "token := parser.NewToken(kind, 42)\nsecret, err := store.Secret(ctx, id)\nif password == \"\" {",
	"go camel case":        "dec.tokenState = tokenArrayValue\npriv.PrivateKey = marshalPKCS1PrivateKey",
	"call with digits":     "secretKey = deriveKey2FromSeed32(seed)",
	"python code":          `api_key = os.environ["OPENAI_API_KEY"]`,
	"javascript code":      "const token = await getAccessTokenSilently({ audience: API_V2_URL });",
	"shell variable":       `export GITHUB_TOKEN=${GITHUB_TOKEN_2024} PASSWORD="$DB_PASSWORD_V1"`,
	"template":             "password: {{ .Values.db.password1 }}\ntoken: <your token here>",
	"workflow expression":  "token: ${{ secrets.GITHUB_TOKEN1 }}",
	"stars":                "password: ********1a and api_key=xxxxxxxxxxxx1Xx9",
	"your token":           "GITHUB_TOKEN=ghp_" + "yourTokenHere12345abcdefghijklmnopqrstuv",
	"example key":          "AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7EXAMPLE",
	"example secret":       "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
	"zeros":                "ghp_" + strings.Repeat("0", 36) + " sk-ant-" + strings.Repeat("x", 40),
	"counting":             "npm_" + "0123456789abcdefghijklmnopqrstuvwxyz",
	"url dummy":            "postgres://user:password@localhost:5432/db and https://host:8080/path@2x.png",
	"mail":                 "Write to https://example.com or mailto:jane@example.com",
	"public key":           "-----BEGIN PUBLIC KEY-----\n‹b64›\n‹b64›\n-----END PUBLIC KEY-----",
	"key header only":      "A file that starts with -----BEGIN RSA PRIVATE KEY----- is PKCS 1, the others are PKCS 8.",
	"hash of password":     `"password_hash": "$2b$12$‹a22›‹a31›"`,
	"token type":           `"token_type": "bearer-v2-2024-x1y2"`,
	"identifier with mark": "hf_hub_download_with_retries_and_timeouts_2024(repo)",
	"css":                  ".sk-fading-circle .sk-circle-12 { animation-delay: -0.1s }",
	"vendor in prose":      "Slack: discussed the 2024-roadmap-for-search-and-ranking with the Discord people",
	"vendor link":          "Sentry: https://sentry.io/organizations/acme/issues/4501239876/",
	"module version":       "github.com/rogpeppe/go-internal v1.16.0 h1:‹b43›=",
	"bearer":               "She is the bearer of good news2day",
}

func TestScanLeavesInnocentTextAlone(t *testing.T) {
	for name, spec := range innocent {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				text := fill(seeded(seed), spec)
				if got := Scan(text); got != nil {
					t.Fatalf("Scan(%q) = %v, want nothing", text, got)
				}
			}
		})
	}
}

func TestScanOrdersFindings(t *testing.T) {
	rng := seeded(1)
	text := fill(rng, "b glpat-‹a20› a ghp_‹a36› c npm_‹a36›")
	var rules []string
	for _, f := range Scan(text) {
		rules = append(rules, f.Rule)
	}
	if got, want := strings.Join(rules, " "), "gitlab-token github-token alphanumeric-token"; got != want {
		t.Errorf("rules in order of position: %s, want %s", got, want)
	}
}

func TestShapeOfTokenBeatsWordsAroundIt(t *testing.T) {
	text := fill(seeded(2), `export GITHUB_TOKEN="ghp_‹a36›"`)
	got := Scan(text)
	if len(got) != 1 || got[0].Rule != "github-token" {
		t.Errorf("Scan = %v, want the github-token rule alone", got)
	}
}

func TestPlantedTokenIsFoundWhereItStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prose := rapid.StringMatching(`([a-zäöü]{1,9}[ ,.] ){0,30}`)
		before, after := prose.Draw(t, "before"), prose.Draw(t, "after")
		token := fill(seeded(rapid.Uint64().Draw(t, "seed")), "ghp_‹a36›")
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
		rng := seeded(seed)
		for _, word := range []string{"your", "YOUR", "YoUr", "xxxx", "Xxxx", "DuMmy", "insert"} {
			text := fill(rng, "ghp_‹a16›"+word+"‹a16›")
			if got := Scan(text); len(got) != 1 {
				t.Errorf("Scan(%q) = %v, want the token", text, got)
			}
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
	token := fill(seeded(5), " ghp_‹a36›")
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
	"pwd=\"aжжжжжжжжжжжжжжжжжжжжжжжж",
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
	for i, c := range credentials {
		text, _ := c.in(seeded(uint64(i)), "note: ", ".")
		f.Add(text)
	}
	for _, text := range innocent {
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
