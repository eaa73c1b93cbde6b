package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/testutil/clitest"
	"emberd/internal/testutil/oldhome"
)

// homes is the folder of the homes that earlier versions of emberd made.
var homes = filepath.Join("..", "..", "testdata", "homes")

// TestHomes opens the home of every earlier version with this one: it says of it what that version
// said, and everything that depends on what is stored still works.
func TestHomes(t *testing.T) {
	t.Parallel()
	kept, err := filepath.Glob(filepath.Join(homes, "*.tar.gz"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("there are no homes in %s: %v", homes, err)
	}
	for _, archive := range kept {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			h := unpackHome(t, archive)
			h.checkConfig(t)
			h.start(t)
			h.wait(t, "all memories and notes have vectors", func() bool {
				out, err := h.command("status", "--full").Output()
				return err == nil && bytes.Contains(out, []byte("45 of 45"))
			})
			h.checkVectors(t)
			h.checkAnswers(t)
			h.checkFiles(t)
			h.checkTokens(t)
			h.checkChanges(t)
			h.stop(t)
			h.checkBackups(t)
		})
	}
}

// memoryID is the ID that the script gave the memory n.
func memoryID(n string) string {
	return "0199b000-0000-7000-8000-" + strings.Repeat("0", 12-len(n)) + n
}

// A home is an unpacked copy of a home. It is for one goroutine.
type home struct {
	top     string
	program string // "emberd" is that of this source
	daemon  *exec.Cmd
}

func unpackHome(t *testing.T, archive string) *home {
	t.Helper()
	top := clitest.ShortDir(t)
	h := &home{top: top, program: "emberd"}
	oldhome.Unpack(t, archive, top)
	model, err := os.ReadFile(filepath.Join(homes, "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.path("model.gguf"), model, 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// path is that of a file of the home.
func (h *home) path(elem ...string) string {
	return filepath.Join(slices.Concat([]string{h.top, "home"}, elem)...)
}

// command is emberd with the variables of a user who has nothing but this home.
func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.top, "TZ=UTC", "EMBERD_HOME=" + h.path(),
		"GORACE=atexit_sleep_ms=10"}
	return cmd
}

// run returns what a command prints; it must succeed.
func (h *home) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, h.command(args...))
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, said.String())
	}
	return string(out)
}

func (h *home) start(t *testing.T) {
	t.Helper()
	var said bytes.Buffer
	h.daemon = h.command("serve")
	h.daemon.Stderr = &said
	if err := h.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if h.daemon != nil {
			_ = h.daemon.Process.Kill()
			_ = h.daemon.Wait()
		}
	})
	h.wait(t, "the daemon answers", func() bool { return h.command("status").Run() == nil })
}

func (h *home) stop(t *testing.T) {
	t.Helper()
	d := h.daemon
	h.daemon = nil
	if err := d.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := d.Wait(); err != nil {
		t.Fatalf("the daemon ended: %v\n%s", err, d.Stderr)
	}
}

// wait waits until a condition holds, for two minutes at most. It asks less and less often,
// since a minute of programs started in vain would slow other tests down.
func (h *home) wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for pause := 100 * time.Millisecond; !holds(); pause = min(3*pause/2, 5*time.Second) {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s\n%s", what, h.daemon.Stderr)
		case <-time.After(pause):
		}
	}
}

// checkConfig checks that the config file is read, with every value that it has.
func (h *home) checkConfig(t *testing.T) {
	t.Helper()
	for key, want := range map[string]string{
		"vault.promoted_folder": "Kept", "history.keep": "3650d",
		"embedding.model": h.path("model.gguf"),
	} {
		if got := h.run(t, "config", key); !strings.Contains(got, want) {
			t.Errorf("emberd config %s: got\n%s\nwant %s", key, got, want)
		}
	}
}

// volatile are the members of answers that say how things are at the moment, or how they are
// drawn, the terms of a sum that a later version may weigh otherwise, with how many texts are near
// enough to be found, and the revision of a memory with a note, in which what was read of the note
// counts no more.
var volatile = []string{"age_days", "total", "score", "rank", "snippet", "terms", "relevance", "share", "near", "decay",
	"bounded",
	"floor", "rev", "next_cursor", "created", "modified"}

// checkVectors wants vectors of this version alone once all are made, and purges that know where they are.
func (h *home) checkVectors(t *testing.T) {
	t.Helper()
	if folders, err := filepath.Glob(h.path("state", "vectors", "*")); err != nil || len(folders) != 1 {
		t.Errorf("vectors are in %q (%v), want one folder", folders, err)
	}
	if out := output(t, h.command("status", "--full")); strings.Contains(out, "could not be completed") {
		t.Errorf("status says:\n%s", out)
	}
}

// checkAnswers asks what the version that made the home was asked, and wants of each answer
// what that version said. More than that may be in it.
func (h *home) checkAnswers(t *testing.T) {
	t.Helper()
	asked, err := os.Open(filepath.Join(homes, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Close()
	for lines := bufio.NewScanner(asked); lines.Scan(); {
		name, command, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		data := h.kept(t, name)
		if data == "" {
			continue // the version was not asked that
		}
		cmd := h.command()
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "emberd " + command}
		want, got := decode(t, data), decode(t, output(t, cmd))
		if path, what := lacks(got, want); what != "" {
			t.Errorf("emberd %s: %s: %s", command, cmp.Or(path, "."), what)
		}
	}
}

// kept returns what the version that made the home answered, or "" if it was not asked.
func (h *home) kept(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.top, "want", name+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// decode returns the values of a text that has several, one after the other.
func decode(t *testing.T, text string) (values []any) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return values
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		values = append(values, v)
	}
}

// lacks returns the part of want that is missing in got, with the path to it, or "" for nothing. Objects
// may have more members, lists more elements in any order.
func lacks(got, want any) (path, what string) {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return "", "is not an object"
		}
		for key, value := range want {
			if _, factor := value.(float64); slices.Contains(volatile, key) || factor && key == "stage" {
				continue // a stage was a factor of the rank once
			}
			if path, what := lacks(got[key], value); what != "" {
				return "." + key + path, what
			}
		}
		return "", ""
	case []any:
		got, _ := got.([]any)
		for _, element := range want {
			if !slices.ContainsFunc(got, func(v any) bool { _, what := lacks(v, element); return what == "" }) {
				return "[]", lacking(got, element)
			}
		}
		return "", ""
	case float64:
		if got, ok := got.(float64); ok && math.Abs(got-want) < 1e-6 {
			return "", ""
		}
	default:
		if got == want {
			return "", ""
		}
	}
	return "", "got " + text(got) + ", want " + text(want)
}

// lacking says what list lacks of an element that it does not have: of the one of the same ID,
// if there is one, the member that differs.
func lacking(list []any, element any) string {
	want, _ := element.(map[string]any)
	for _, v := range list {
		got, ok := v.(map[string]any)
		if !ok {
			continue
		}
		for _, key := range []string{"id", "tx", "name"} {
			if got[key] != nil && got[key] == want[key] {
				path, what := lacks(got, want)
				return text(got[key]) + path + ": " + what
			}
		}
	}
	return "there is none such as " + text(element)
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// checkFiles checks that the log, the notes and the backups are whole, and that no file has what was
// purged.
func (h *home) checkFiles(t *testing.T) {
	t.Helper()
	for command, want := range map[string]string{
		"log check":   "no problems",
		"vault check": "",
		"backup list": "checksums correct",
	} {
		got, err := h.command(strings.Fields(command)...).CombinedOutput()
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("emberd %s: %v\n%s\nwant %q", command, err, got, want)
		}
	}
	err := filepath.WalkDir(h.path(), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, []byte("Xylophone")) {
			t.Errorf("%s has a text that was purged", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkTokens checks that the tokens of the home are accepted, and see no more than they did.
func (h *home) checkTokens(t *testing.T) {
	t.Helper()
	for name, want := range map[string][]string{"reader": {"1", "6"}, "worker": {"1", "2", "6", "15", "17"}} {
		out := h.run(t, "list", "--all", "--status", "all", "--json", "--set", "token_file="+h.path(name+".secret"))
		for _, n := range want {
			if !strings.Contains(out, memoryID(n)) {
				t.Errorf("the token %s does not see the memory %s", name, n)
			}
		}
		if strings.Contains(out, memoryID("9")) {
			t.Errorf("the token %s sees a memory out of its scopes", name)
		}
	}
	out, err := h.command("forget", memoryID("1"), "--set", "token_file="+h.path("reader.secret")).CombinedOutput()
	if err == nil {
		t.Errorf("a token that only reads has forgotten a memory: %s", out)
	}
}

// checkChanges undoes an edit that was made before the log was compacted, and brings back what
// is in the trash and in the archive.
func (h *home) checkChanges(t *testing.T) {
	t.Helper()
	h.run(t, "undo", "--force", h.entryOf(t, memoryID("15"), "moved to Wednesday"))
	h.run(t, "trash", "restore", memoryID("12"), memoryID("35"))
	h.run(t, "rekindle", memoryID("4"))
	for n, want := range map[string]string{
		"15": "moved to day 4.", "12": "first draft", "35": "Filler 35", "4": "The oven is lit an hour ahead.",
	} {
		if got := h.run(t, "show", memoryID(n), "--no-track"); !strings.Contains(got, want) {
			t.Errorf("the memory %s says\n%s\nwant %q", n, got, want)
		}
	}
}

// entryOf returns the change by which a memory came to say text.
func (h *home) entryOf(t *testing.T, id, text string) string {
	t.Helper()
	var history struct {
		Versions []struct {
			Tx     string `json:"tx"`
			Fields []struct {
				Name string `json:"name"`
				To   any    `json:"to"`
			} `json:"fields"`
		} `json:"versions"`
	}
	if err := json.Unmarshal([]byte(h.run(t, "history", id, "--all", "--json")), &history); err != nil {
		t.Fatal(err)
	}
	for _, v := range history.Versions {
		for _, f := range v.Fields {
			if to, _ := f.To.(string); f.Name == "content" && strings.Contains(to, text) {
				return v.Tx
			}
		}
	}
	t.Fatalf("no version of %s says %q: %+v", id, text, history)
	return ""
}

// checkBackups restores the newest backup into a folder of its own, and compares it with the
// export of the version that made it.
func (h *home) checkBackups(t *testing.T) {
	t.Helper()
	backups, err := filepath.Glob(h.path("state", "backups", "*.tar.gz"))
	if err != nil || len(backups) < 2 {
		t.Fatalf("got %d backups, want 2: %v", len(backups), err)
	}
	to := filepath.Join(h.top, "back")
	h.run(t, "backup", "restore", slices.Max(backups), "--home", to)
	got := decode(t, h.run(t, "export", "--state", "--home", to))
	if path, what := lacks(got, decode(t, h.kept(t, "export"))[0]); what != "" {
		t.Errorf("the restored backup: %s: %s", path, what)
	}
}
