package oracle

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"emberd/internal/secret"
)

// decoys make texts that resemble a secret and hold none, as people save them.
var decoys = map[string]func(*rand.Rand) string{
	"commit hash": func(r *rand.Rand) string { return "fixed in " + hexadecimal(r, 20) + ", reverted later" },
	"sha256 sum":  func(r *rand.Rand) string { return hexadecimal(r, 32) + "  backup.tar.zst" },
	"image digest": func(r *rand.Rand) string {
		return "image: registry.local/app@sha256:" + hexadecimal(r, 32)
	},
	"md5 of a file": func(r *rand.Rand) string { return "MD5 (notes.txt) = " + hexadecimal(r, 16) },
	"uuid":          func(r *rand.Rand) string { return "memory " + uuid(r) + " was promoted" },
	"uuid as key":   func(r *rand.Rand) string { return `{"key": "` + uuid(r) + `", "secret": false}` },
	"data URI": func(r *rand.Rand) string {
		return "![chart](data:image/png;base64," + base64.StdEncoding.EncodeToString(random(r, 600)) + ")"
	},
	"base64 lines": func(r *rand.Rand) string {
		s := base64.StdEncoding.EncodeToString(random(r, 171))
		return "attachment:\n" + s[:76] + "\n" + s[76:152] + "\n" + s[152:]
	},
	"go.sum line": func(r *rand.Rand) string {
		return "github.com/acme/tool v1.4.2 h1:" + base64.StdEncoding.EncodeToString(random(r, 32))
	},
	"subresource integrity": func(r *rand.Rand) string {
		return `"integrity": "sha512-` + base64.StdEncoding.EncodeToString(random(r, 64)) + `"`
	},
	"public ssh key": func(r *rand.Rand) string {
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + base64.StdEncoding.EncodeToString(random(r, 36)) + " zoe@laptop"
	},
	"phone":       func(r *rand.Rand) string { return fmt.Sprintf("call +49 30 %08d after six", r.IntN(1e8)) },
	"isbn":        func(r *rand.Rand) string { return fmt.Sprintf("ISBN 978-3-%05d-%03d-1", r.IntN(1e5), r.IntN(1e3)) },
	"path":        func(r *rand.Rand) string { return "token file: /run/user/1000/app-" + hexadecimal(r, 8) + "/token" },
	"placeholder": func(r *rand.Rand) string { return "GITHUB_TOKEN=ghp_" + strings.Repeat("x", 30+r.IntN(10)) },
	"variable":    func(r *rand.Rand) string { return fmt.Sprintf("API_KEY=${SERVICE_%d_API_KEY}", r.IntN(100)) },
	"template":    func(r *rand.Rand) string { return fmt.Sprintf("password: {{ .Values.db%d.password }}", r.IntN(100)) },
	"code": func(r *rand.Rand) string {
		return fmt.Sprintf("token := lexer.next%dToken(input[%d:])\npassword = getPass(user)", r.IntN(10), r.IntN(100))
	},
	"prose": func(r *rand.Rand) string {
		return fmt.Sprintf("The secret of the %d tokens is to keep the key: practise daily, password or not", r.IntN(100))
	},
}

func random(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.UintN(256))
	}
	return b
}

func hexadecimal(rng *rand.Rand, n int) string { return hex.EncodeToString(random(rng, n)) }

func uuid(rng *rand.Rand) string {
	h := hexadecimal(rng, 16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func TestPrecisionOnDecoys(t *testing.T) {
	const perDecoy, wantedPrecision = 200, 0.999
	d := oracle(t)
	total, ours, theirs := 0, 0, 0
	for name, decoy := range decoys {
		rng := rand.New(rand.NewPCG(2, uint64(len(name))))
		for range perDecoy {
			text := decoy(rng)
			total++
			if found := secret.Scan(text); len(found) > 0 {
				ours++
				t.Logf("false alarm on %s: %v in %q", name, found, text)
			}
			if len(d.DetectString(text)) > 0 {
				theirs++
			}
		}
	}
	t.Logf("false alarms on %d decoys: %d (gitleaks: %d)", total, ours, theirs)
	if clean := 1 - float64(ours)/float64(total); clean < wantedPrecision {
		t.Errorf("%.4f of the decoys pass, want at least %v", clean, wantedPrecision)
	}
}

// TestConversationsAreClean scans real conversations, which hold no secrets: the
// turns of the LoCoMo benchmark, one JSON object with a text per line.
func TestConversationsAreClean(t *testing.T) {
	path := os.Getenv("EMBERD_LOCOMO")
	if path == "" {
		t.Skip("set EMBERD_LOCOMO to a memories.jsonl of LoCoMo to run this")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	turns, alarms := 0, 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var turn struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &turn); err != nil {
			t.Fatalf("line %d: %v", turns+1, err)
		}
		turns++
		if found := secret.Scan(turn.Text); len(found) > 0 {
			alarms++
			t.Logf("false alarm on line %d: %v", turns, found)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("false alarms on %d turns: %d", turns, alarms)
	if turns == 0 || alarms > 1 {
		t.Errorf("%d false alarms on %d turns, want at most 1 on at least one turn", alarms, turns)
	}
}
