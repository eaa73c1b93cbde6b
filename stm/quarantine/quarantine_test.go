package quarantine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
	"emberd/memory"
	"emberd/stm/device"
	"emberd/stm/quarantine"
	"emberd/stm/record"
)

const (
	own     = "k7q2mzxa"
	segment = "s-00000042.jsonl"
)

// home is where a device writes that was called b3k9w2pq before.
func home(t *testing.T) *device.Home {
	t.Helper()
	dev, _ := record.ParseDevice(own)
	return &device.Home{Data: t.TempDir(), State: t.TempDir(), FS: durable.OS{}, Device: dev,
		Former: []string{"b3k9w2pq"}, Now: func() time.Time { return time.Date(2024, 11, 3, 12, 0, 0, 0, time.UTC) }}
}

func open(t *testing.T, h *device.Home) *quarantine.Lines {
	t.Helper()
	lines, err := quarantine.Open(h)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func logFile(h *device.Home, dev string) string { return filepath.Join(h.Data, "stm", dev, segment) }

func list(t *testing.T, lines *quarantine.Lines) (names []string) {
	t.Helper()
	all, err := lines.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		names = append(names, l.Name)
	}
	if n, err := quarantine.Count(lines.FS, lines.State); err != nil || n != len(names) {
		t.Errorf("counted %d (%v), listed %q", n, err, names)
	}
	return names
}

func TestCopiesAreOfFilesThatThisDeviceWrote(t *testing.T) {
	h := home(t)
	lines := open(t, h)
	if got := list(t, lines); len(got) > 0 {
		t.Errorf("a new folder holds %q", got)
	}
	lines.Keep(logFile(h, own), 1234, []byte("damaged\n"))
	lines.Keep(logFile(h, own), 1234, []byte("damaged otherwise\n"))
	lines.Keep(logFile(h, own), 999, []byte("damaged\n"))
	lines.Keep(logFile(h, "b3k9w2pq"), 7, []byte("damaged\n"))
	lines.Keep(logFile(h, "zzzzzzzz"), 7, []byte("damaged\n"))
	want := []string{"b3k9w2pq-" + segment + "@7", segment + "@999", segment + "@1234"}
	if got := list(t, lines); !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	got, err := lines.Named(segment + "@1234")
	if err != nil || string(got.Text) != "damaged\n" || got.Hindrance == "" {
		t.Errorf("the first copy is %+v (%v)", got, err)
	}
}

func TestADecisionOutlivesTheProcess(t *testing.T) {
	h := home(t)
	lines := open(t, h)
	lines.Keep(logFile(h, own), 1, []byte("damaged\n"))
	lines.Keep(logFile(h, own), 9, []byte("unfinished"))
	for _, at := range []string{"@1", "@9"} {
		if err := lines.Drop(segment + at); err != nil {
			t.Fatal(err)
		}
	}
	if got := lines.Since(); got != 1 { // recovery does not count an unfinished line as damaged
		t.Errorf("%d damaged lines were decided about, want 1", got)
	}
	if err := lines.Drop(segment + "@1"); memory.CodeOf(err) != memory.NotFound {
		t.Errorf("dropped twice: %v", err)
	}
	lines = open(t, h)
	has := lines.Has([]byte("damaged\n")) && lines.Has([]byte("unfinished")) && !lines.Has([]byte("something else\n"))
	if got := list(t, lines); !has || len(got) > 0 || lines.Since() != 0 || len(lines.Hashes()) != 2 {
		t.Errorf("after a start %q is left, of %d decisions", got, len(lines.Hashes()))
	}
}

// The example beside the encoder is what it writes.
func TestExampleOfADecision(t *testing.T) {
	h := home(t)
	lines := open(t, h)
	lines.Keep(logFile(h, own), 1234, []byte("damaged\n"))
	if err := lines.Drop(segment + "@1234"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(h.QuarantineDir(), "decided.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("decisions.go")
	if err != nil {
		t.Fatal(err)
	}
	got = regexp.MustCompile(`[0-9a-f]{16,}`).ReplaceAll(got, []byte("5f70bf18…"))
	if !strings.Contains(string(source), "//\t"+string(got)) {
		t.Errorf("decisions.go has no comment with\n%s", got)
	}
}

func TestDropMootKeepsWhatTheLogHolds(t *testing.T) {
	h := home(t)
	lines := open(t, h)
	if err := os.MkdirAll(h.OwnDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logFile(h, own), []byte("first\ndamaged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines.Keep(logFile(h, own), 6, []byte("damaged\n"))
	lines.Keep(logFile(h, own), 0, []byte("damaged\n"))
	lines.Keep(filepath.Join(h.OwnDir(), "s-00000041.jsonl"), 6, []byte("damaged\n"))
	lines.DropMoot()
	if got := list(t, lines); !slices.Equal(got, []string{segment + "@6"}) {
		t.Errorf("left are %q", got)
	}
}

func TestTextsAreGivenUpByTheirDeletion(t *testing.T) {
	h := home(t)
	lines := open(t, h)
	key, deleted := memory.DeriveID([]byte("a")).Bytes(), record.Stamp{T: 1 << 16, Dev: h.Device}
	if err := lines.GiveUp(map[[16]byte]record.Stamp{key: deleted}); err != nil {
		t.Fatal(err)
	}
	lines = open(t, h)
	if !lines.GaveUp(key, deleted) || lines.GaveUp(key, record.Stamp{T: 2 << 16, Dev: h.Device}) {
		t.Error("not the deletion that was given up")
	}
}
