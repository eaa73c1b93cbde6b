package merge_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "emberd/internal/testutil/racescale"
	"emberd/internal/text/merge"
)

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, base, a, b, want string // want "!" is a conflict
	}{
		{"two sentences of one line", "The broker is RabbitMQ. It has two queues. The port is 5672.",
			"The broker is Kafka. It has two queues. The port is 5672.",
			"The broker is RabbitMQ. It has two queues. The port is 9092.",
			"The broker is Kafka. It has two queues. The port is 9092."},
		{"two sentences with none between", "The broker is RabbitMQ. The port is 5672.",
			"The broker is Kafka. The port is 5672.", "The broker is RabbitMQ. The port is 9092.",
			"The broker is Kafka. The port is 9092."},
		{"two lines with one between", "one\ntwo\nthree", "ONE\ntwo\nthree", "one\ntwo\nTHREE", "ONE\ntwo\nTHREE"},
		{"a line at either end", "one\ntwo", "zero\none\ntwo", "one\ntwo\nthree", "zero\none\ntwo\nthree"},
		{"the same change", "one\ntwo", "one\n2", "one\n2", "one\n2"},
		{"the same change among others", "one\ntwo\nthree\nfour\nfive", "1\ntwo\n3\nfour\nfive", "one\ntwo\n3\nfour\n5",
			"1\ntwo\n3\nfour\n5"},
		{"one sentence", "The port is 5672.", "The port is 5673.", "The port is 9092.", "!"},
		{"two lines in one place", "one", "one\ntwo", "one\n2", "!"},
		{"a line that the other side deleted", "one\ntwo\nthree", "one\nthree", "one\nTWO\nthree", "!"},
		{"from nothing", "", "one", "two", "!"},
		{"the last line feed", "one\ntwo\nthree", "one\ntwo\nthree\n", "ONE\ntwo\nthree", "ONE\ntwo\nthree\n"},
		{"Hindi", "नदी गहरी है। पुल पुराना है। नाव नई है।", "नदी चौड़ी है। पुल पुराना है। नाव नई है।",
			"नदी गहरी है। पुल पुराना है। नाव लाल है।", "नदी चौड़ी है। पुल पुराना है। नाव लाल है।"},
	} {
		merged, can := merge.Texts(c.base, c.a, c.b)
		if !can {
			merged += "!"
		}
		if merged != c.want {
			t.Errorf("%s: %q, want %q", c.what, merged, c.want)
		}
	}
}

// words are few, so that lines and sentences repeat.
func text(t *rapid.T, label string) string {
	sentence := rapid.SampledFrom([]string{"One.", "Two!", "three", "", "# Four", "- five", "日本。", "\u00e9"})
	between := rapid.SampledFrom([]string{" ", "\n", "\n\n", "\r\n", "  "})
	var out strings.Builder
	for i := range rapid.IntRange(0, 12).Draw(t, label) {
		if i > 0 {
			out.WriteString(between.Draw(t, "between"))
		}
		out.WriteString(sentence.Draw(t, "sentence"))
	}
	return out.String()
}

// A merge with a side that changed nothing, or the same, is the other side; the order of the sides does not
// matter; and a second merge with a side has nothing left to do.
func TestRulesOfAMerge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, a, b := text(t, "base"), text(t, "a"), text(t, "b")
		is := func(what, want, x, y, z string) {
			if got, can := merge.Texts(x, y, z); !can || got != want {
				t.Fatalf("%s: %q, %v, want %q", what, got, can, want)
			}
		}
		is("twice the same", a, base, a, a)
		is("only the first side", a, base, a, base)
		is("only the second side", b, base, base, b)
		merged, can := merge.Texts(base, a, b)
		other, same := merge.Texts(base, b, a)
		if merged != other || can != same {
			t.Fatalf("%q, %v one way and %q, %v the other", merged, can, other, same)
		}
		if !can && merged != "" {
			t.Fatalf("a text %q of a conflict", merged)
		}
	})
}

// Different sentences that two sides replace are all in the merge, even if there is nothing between them.
func TestAMergeHasTheWordsOfBothSides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var base []string
		for i := range rapid.IntRange(1, 12).Draw(t, "sentences") {
			base = append(base, fmt.Sprintf("Sentence %d.", i))
		}
		a, b := slices.Clone(base), slices.Clone(base)
		for i := range base {
			switch rapid.IntRange(0, 5).Draw(t, "who") {
			case 0:
				a[i] = fmt.Sprintf("Sentence %d by Anna.", i)
			case 1:
				b[i] = fmt.Sprintf("Sentence %d by Bert.", i)
			}
		}
		between := rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "between")
		join := func(s []string) string { return strings.Join(s, between) }
		merged, can := merge.Texts(join(base), join(a), join(b))
		if !can {
			t.Fatalf("no merge of %q and %q", a, b)
		}
		want := slices.Clone(base)
		for i := range want {
			if want[i] = a[i]; a[i] == base[i] {
				want[i] = b[i]
			}
		}
		if merged != join(want) {
			t.Fatalf("%q, want %q", merged, join(want))
		}
	})
}

// By line the result is git's, whatever was replaced, removed and added.
func TestLinesIsWhatGitMerges(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is missing; install the package of that name")
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		base := make([]string, rapid.IntRange(0, 20).Draw(t, "lines"))
		for i := range base {
			base[i] = fmt.Sprintf("line %d", i)
		}
		a, b := edited(t, base, "A"), edited(t, base, "B")
		want, clean := byGit(t, git, dir, asFile(a), asFile(base), asFile(b))
		got, can := merge.Lines(asFile(base), asFile(a), asFile(b))
		if can != clean || can && got != want {
			t.Fatalf("%q, %v; git has %q, %v\nbase %q\na %q\nb %q", got, can, want, clean, base, a, b)
		}
	})
}

// edited changes some lines in such a way that there is one shortest list of the changes. Some changes
// are the same on both sides.
func edited(t *rapid.T, base []string, side string) (out []string) {
	for i, line := range base {
		by := rapid.SampledFrom([]string{side, "both"}).Draw(t, "by")
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0:
			out = append(out, fmt.Sprintf("line %d by %s", i, by))
		case 1: // removed
		case 2:
			out = append(out, fmt.Sprintf("before %d by %s", i, by), line)
		default:
			out = append(out, line)
		}
	}
	return out
}

func TestChanged(t *testing.T) {
	t.Parallel()
	for want, texts := range [][2]string{{"One. Two.", "One. Two."}, 2: {"One. Two.", "One. Three."}, 4: {"One.", "Two. One!"}} {
		if got := merge.Changed(texts[0], texts[1]); got != want && texts[0] != "" {
			t.Errorf("%q: %d, want %d", texts, got, want)
		}
	}
}

func asFile(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func byGit(t *rapid.T, git, dir, a, base, b string) (merged string, clean bool) {
	args := []string{"merge-file", "-p"}
	for name, content := range map[string]string{"a": a, "base": base, "b": b} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "base", "b"} {
		args = append(args, filepath.Join(dir, name))
	}
	out, err := exec.Command(git, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() < 128 {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), true
}
