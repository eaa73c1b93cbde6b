package chain

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
)

// filled is the folder of a chain of two processes with ten lines each, and its segments.
func filled(t *testing.T) (dir string, segments []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "audit")
	for process := range 2 {
		c := New(durable.OS{}, dir, time.Now)
		for i := range 5 {
			err := c.Append(func() []Line {
				return []Line{{Kind: "write", What: "save", By: "token:work", Tx: fmt.Sprint(process, i), IDs: []string{c.Digest("a")}},
					{Kind: "read", What: "search", By: "claimed:cursor", Read: int64(i)}}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(segments) != 2 {
		t.Fatalf("segments %v, %v; want two", segments, err)
	}
	return dir, segments
}

func checked(t *testing.T, dir string) *Report {
	t.Helper()
	r, err := New(durable.OS{}, dir, time.Now).Check()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines are those of a file, for change, which returns those that take their place.
func rewrite(t *testing.T, name string, change func([][]byte) [][]byte) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Join(change(slices.Collect(bytes.Lines(text))), nil)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAChainThatNobodyTouchedHolds(t *testing.T) {
	dir, _ := filled(t)
	r := checked(t, dir)
	if len(r.Problems) > 0 || len(r.Lines) != 20 || r.Lines[0].By != "token:work" || r.Lines[19].Kind != "read" {
		t.Errorf("%d lines hold, and %q", len(r.Lines), r.Problems)
	}
	if r := checked(t, filepath.Join(t.TempDir(), "none")); len(r.Lines)+len(r.Problems) > 0 {
		t.Errorf("no chain has %+v", r)
	}
	info, err := os.Stat(filepath.Join(dir, "key"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the key: %v, %v; want mode 0600", info.Mode(), err)
	}
}

var macOf = regexp.MustCompile(`"mac":"[0-9a-f]{64}"`)

// sealed is a line as somebody writes it who knows the format and not the key.
func sealed(last, line []byte) []byte {
	forger := &Chain{key: make([]byte, 32)}
	body := line[:len(line)-macLength]
	return macOf.ReplaceAll(line, fmt.Appendf(nil, `"mac":"%x"`, forger.mac(last, body)))
}

// Attack 11: whatever is done to the files without the key is named, the first line first.
// goOn is another daemon that writes a line.
func goOn(t *testing.T, dir string) {
	t.Helper()
	c := New(durable.OS{}, dir, time.Now)
	if err := c.Append(func() []Line { return []Line{{Kind: "read"}} }); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTampering(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string, segments []string)
		want   string
	}{
		"another token, with a checksum": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[0], func(l [][]byte) [][]byte {
				l[3] = sealed(nil, bytes.Replace(l[3], []byte("token:work"), []byte("token:home"), 1))
				return l
			})
		}, "line 4 of 00000001.jsonl (number 4, "},
		"another token, and the old checksum": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[1], func(l [][]byte) [][]byte {
				l[1] = bytes.Replace(l[1], []byte("token:work"), []byte("token:home"), 1)
				return l
			})
		}, "line 2 of 00000002.jsonl (number 13, "},
		"a dropped line": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[0], func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) })
		}, "line 5 of the chain is missing before line 5 of 00000001.jsonl"},
		"two lines swapped": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[0], func(l [][]byte) [][]byte { l[4], l[5] = l[5], l[4]; return l })
		}, "line 5 of the chain is missing before line 5 of 00000001.jsonl"},
		"the tail cut off": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[1], func(l [][]byte) [][]byte { return l[:len(l)-3] })
		}, "lines 20 to 22 of the chain are missing at the end: the chain ended with line 22"},
		"the end of a segment cut off": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[0], func(l [][]byte) [][]byte { return l[:len(l)-1] })
		}, "line 11 of the chain is missing before line 1 of 00000002.jsonl"},
		"half a line at the end": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[1], func(l [][]byte) [][]byte { l[len(l)-1] = l[len(l)-1][:50]; return l })
		}, "line 22 of the chain is missing at the end"},
		"the last segment removed": {func(t *testing.T, _ string, segments []string) {
			if err := os.Remove(segments[1]); err != nil {
				t.Fatal(err)
			}
		}, "lines 12 to 22 of the chain are missing at the end"},
		"the first segment removed": {func(t *testing.T, _ string, segments []string) {
			if err := os.Remove(segments[0]); err != nil {
				t.Fatal(err)
			}
		}, "lines 1 to 11 of the chain are missing at the beginning"},
		"a line put in": {func(t *testing.T, _ string, segments []string) {
			rewrite(t, segments[0], func(l [][]byte) [][]byte { return slices.Insert(l, 5, l[4]) })
		}, "line 6 of 00000001.jsonl is out of order"},
		"the tail cut off, and the head set back": {func(t *testing.T, dir string, segments []string) {
			rewrite(t, segments[1], func(l [][]byte) [][]byte { return l[:len(l)-3] })
			rewrite(t, filepath.Join(dir, "head"), func(l [][]byte) [][]byte {
				return [][]byte{sealed(nil, bytes.Replace(l[0], []byte(`"n":22`), []byte(`"n":19`), 1))}
			})
		}, "the head of the chain was changed"},
		"the head removed": {func(t *testing.T, dir string, _ []string) {
			if err := os.Remove(filepath.Join(dir, "head")); err != nil {
				t.Fatal(err)
			}
		}, "cannot read the head of the chain (open "},
		"another key": {func(t *testing.T, dir string, _ []string) {
			if err := os.WriteFile(filepath.Join(dir, "key"), bytes.Repeat([]byte("0"), 64), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "the head of the chain was changed"},
		"no key": {func(t *testing.T, dir string, _ []string) {
			if err := os.Remove(filepath.Join(dir, "key")); err != nil {
				t.Fatal(err)
			}
		}, "the key of the audit log is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, segments := filled(t)
			tt.change(t, dir, segments)
			r := checked(t, dir)
			if len(r.Problems) == 0 || !strings.HasPrefix(r.Problems[0], tt.want) {
				t.Errorf("found %q, want first %q", r.Problems, tt.want)
			}
			// It stays known when the next daemons go on, each of which says it once.
			var known []string
			for range 3 {
				goOn(t, dir)
				r = checked(t, dir)
				if len(r.Problems) == 0 || len(r.Lines) == 0 || r.Lines[len(r.Lines)-1].Kind != "read" {
					t.Errorf("afterwards %d lines hold and the problems are %q", len(r.Lines), r.Problems)
				}
				if known != nil && !slices.Equal(r.Problems, known) {
					t.Errorf("one more daemon makes %q of the problems %q", r.Problems, known)
				}
				known = r.Problems
			}
		})
	}
}

// Attack: a file that is too large is not read, and named.
func TestHugeFilesAreNotRead(t *testing.T) {
	for name, want := range map[string]string{"00000001.jsonl": "00000001.jsonl", "head": "head", "key": "key"} {
		dir, _ := filled(t)
		if err := os.Truncate(filepath.Join(dir, name), 20<<30); err != nil { // sparse
			t.Fatal(err)
		}
		r, err := New(durable.OS{}, dir, time.Now).Check()
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprint(r.Problems)
		}
		if !strings.Contains(said, want) || !strings.Contains(said, "too large") {
			t.Errorf("%s of 20 GiB: %s", name, said)
		}
	}
}

// A line that a crash tore off before it was acknowledged is no tampering.
func TestATornLineThatWasNotAcknowledged(t *testing.T) {
	dir, segments := filled(t)
	f, err := os.OpenFile(segments[1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":23,"at":"20`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c := New(durable.OS{}, dir, time.Now)
	if err := c.Append(func() []Line { return []Line{{Kind: "read"}} }); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r := checked(t, dir); len(r.Problems) > 0 || len(r.Lines) != 21 {
		t.Errorf("%d lines hold, and %q", len(r.Lines), r.Problems)
	}
}

// The chain holds although its oldest segments are removed, and stays bounded.
func TestTrimming(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	c := New(durable.OS{}, dir, time.Now)
	ids := slices.Repeat([]string{"0123456789abcdef"}, 100)
	for range 60 {
		err := c.Append(func() []Line { return slices.Repeat([]Line{{Kind: "read", What: "search", IDs: ids}}, 100) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	r := checked(t, dir)
	if len(r.Problems) > 0 || len(r.Lines) == 0 || len(r.Lines) >= 6000 || r.segments[0] == "00000001.jsonl" {
		t.Errorf("%d lines hold in %v, and %q", len(r.Lines), r.segments, r.Problems)
	}
	total := int64(0)
	for _, name := range r.segments {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > maxTotal+2*maxSegment {
		t.Errorf("the segments have %d bytes", total)
	}
	if err := os.Remove(filepath.Join(dir, r.segments[0])); err != nil {
		t.Fatal(err)
	}
	if r := checked(t, dir); len(r.Problems) == 0 || !strings.Contains(r.Problems[0], "missing at the beginning") {
		t.Errorf("without its first segment: %q", r.Problems)
	}
}
