package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNormalizeTag(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"invalid tag!", "invalid_tag"},
		{"v3.0", "v3-0"},
		{"#hash", "hash"},
		{"a//b", "a/b"},
		{"a.b c", "a-b_c"},
		{"  Project/Alpha ", "project/alpha"},
		{"日本語", "日本語"},
		{"Ärger", "ärger"},
		{"безопасность", "безопасность"},
		{"हिन्दी", "हिन्दी"},
	} {
		got, err := NormalizeTag(c.in)
		if err != nil || got != c.want {
			t.Errorf("NormalizeTag(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestNormalizeEntity(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"node.js", "node-js"},
		{"a/b", "a_b"},
		{"Claude AI", "Claude AI"},
		{"  東京 ", "東京"},
	} {
		got, err := NormalizeEntity(c.in)
		if err != nil || got != c.want {
			t.Errorf("NormalizeEntity(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestNormalizingTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := NormalizeTag(rapid.String().Draw(t, "tag"))
		if err != nil {
			return
		}
		twice, err := NormalizeTag(once)
		if err != nil || twice != once {
			t.Fatalf("NormalizeTag(%q) = %q, %v", once, twice, err)
		}
	})
}

func TestRefusals(t *testing.T) {
	many := func(n int) []string {
		var s []string
		for i := range n {
			s = append(s, fmt.Sprintf("tag%d", i))
		}
		return s
	}
	tags := func(in []string) error { _, err := NormalizeTags(in); return err }
	ents := func(in []string) error { _, err := NormalizeEntities(in); return err }
	id := func(s string) error { _, err := ParseID(s); return err }
	stage := func(s string) error { _, err := ParseStage(s); return err }
	for _, c := range []struct {
		name string
		err  error
		code Code
		says string
	}{
		{"empty", CheckContent(""), Invalid, "missing content; pass the text to save"},
		{"blank", CheckContent(" \n\t"), Invalid, "missing content; pass the text to save"},
		{"long", CheckContent(strings.Repeat("x", MaxContent+1)), TooLarge, "too many characters in content: 50001 (limit 50000)"},
		{"many bytes", CheckContent(strings.Repeat("世", 70_000)), TooLarge, "(limit 204800, 200 KiB)"},
		{"not UTF-8", CheckContent("ab\xffcd"), Invalid, "at byte 2"},
		{"source", CheckText("source", strings.Repeat("s", 501), MaxSource), TooLarge, "too many characters in source: 501 (limit 500)"},
		{"51 tags", tags(many(51)), TooLarge, "too many tags: 51"},
		{"tag of signs", tags([]string{"!!!"}), Invalid, `invalid tag "!!!"; use at least one letter or digit`},
		{"tag of 101", tags([]string{strings.Repeat("x", 101)}), TooLarge, "101 characters (limit 100)"},
		{"101 entities", ents(many(101)), TooLarge, "(limit 100)"},
		{"id", id("nope"), Invalid, `invalid memory ID "nope"; copy a UUID`},
		{"id in braces", id("{0192f3a1-b2c3-7000-8000-000000000000}"), Invalid, "; copy a UUID"},
		{"stage", stage("deleted"), Invalid, "use active, demoted, archived or rehydratable"},
		{"range", CheckRange("strength", 2.1, 0, 2), Invalid, "strength 2.1 is out of range (0 to 2)"},
	} {
		if CodeOf(c.err) != c.code || !strings.Contains(fmt.Sprint(c.err), c.says) {
			t.Errorf("%s: got %q (%s), want %s saying %q", c.name, c.err, CodeOf(c.err), c.code, c.says)
		}
	}
}

func TestAtTheBounds(t *testing.T) {
	if err := CheckContent(strings.Repeat("x", MaxContent)); err != nil {
		t.Error(err)
	}
	if err := CheckContent("\u0000 is a character"); err != nil {
		t.Error(err)
	}
	if err := CheckRange("strength", 2, 0, 2); err != nil {
		t.Error(err)
	}
	if got, err := NormalizeTags([]string{"A", "a", "b"}); err != nil || len(got) != 2 {
		t.Errorf("NormalizeTags = %v, %v; want a and b", got, err)
	}
}

func TestIDs(t *testing.T) {
	a, err := NewID()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseID(strings.ToUpper(string(a))); err != nil || got != a {
		t.Errorf("ParseID of the upper-case form = %q, %v; want %q", got, err, a)
	}
	if got := IDFromBytes(a.Bytes()); got != a {
		t.Errorf("through bytes: %q, want %q", got, a)
	}
	if x, y := DeriveID([]byte("x")), DeriveID([]byte("y")); x == y || x != DeriveID([]byte("x")) {
		t.Errorf("DeriveID is not a function of its seed: %s, %s", x, y)
	}
	if got := ID("0192f3a1-b2c3-7000-8000-0123456789ab").Short(); got != "456789ab" {
		t.Errorf("Short = %q", got)
	}
}

func TestErrorsKeepCodeAndCause(t *testing.T) {
	err := fmt.Errorf("save: %w", Errorf(DiskFull, "write: %w", fs.ErrPermission))
	if !errors.Is(err, ErrDiskFull) || errors.Is(err, ErrBusy) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("errors.Is is wrong for %v", err)
	}
	if CodeOf(err) != DiskFull || CodeOf(nil) != "" || CodeOf(fs.ErrExist) != Internal {
		t.Error("CodeOf is wrong")
	}
}

func TestWhatIsCold(t *testing.T) {
	for stage, want := range map[Stage]bool{Active: false, Demoted: false, Archived: true, Rehydratable: true, "": false} {
		if got := stage.Cold(); got != want {
			t.Errorf("Cold of %q = %v, want %v", stage, got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	now := time.Now()
	for want, m := range map[string]Memory{
		"active":   {Stage: Demoted},
		"archived": {Stage: Rehydratable},
		"promoted": {Stage: Archived, PromotedTo: "Memories/x.md", PromotedAt: now},
	} {
		if got := m.Status(); got != want {
			t.Errorf("Status of %+v = %q, want %q", m, got, want)
		}
	}
}
