package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
)

// syncAudit runs commands one after the other beside a traced daemon.
type syncAudit struct {
	*testing.T
	w    *witness
	d    *daemonProcess
	vars map[string]string
}

// No command that changes something is answered before all that it wrote is synced: in the data folder, and in the
// vault. Each line is a command; a name in front of = keeps the ID that its output has.
func TestNoAnswerBeforeTheSync(t *testing.T) {
	t.Parallel()
	a := &syncAudit{T: t, w: newWitness(1, filepath.Join(clitest.ShortDir(t), "h")), vars: map[string]string{}}
	vault := filepath.Join(t.TempDir(), "vault")
	if err := os.Mkdir(vault, 0o700); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(table, []byte("text,tags\nThe ferry to Oban leaves at nine,sea\nA kettle of tea,home\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.vars["TABLE"] = table
	d, err := startDaemon(t.Context(), a.w.binary(t), a.w.home, a.w.home+".log", cli.ForeignFree(os.Environ()),
		"--vault", vault)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.cmd.Process.Kill() })
	a.d = d
	trace := attach(t, d, "-y", "-s", "300", "-e",
		"trace=write,pwrite64,writev,sendmsg,sendto,fdatasync,fsync,renameat,renameat2,rename")
	steps := []string{
		"A=save The broker is RabbitMQ", "B=save The broker is Kafka", "C=save Ann likes tea --core",
		"W=save The moon is made of rock --source web:https://example.org", "save --if-new The broker is RabbitMQ",
		"edit $A The broker is RabbitMQ now", "edit $A --tag queue", "edit $W --confirm", "L=graph relate $A related $C",
		"graph unrelate $L", "lifecycle reinforce --id $A", "forget $C", "undo",
		"E=save The kiln is cold in winter", "forget $E", "trash restore $E", "edit $E --tag kiln --tag clay", "health merge $A $B --keep id1",
		"promote $A --force", "D=save The quay is closed in May", "lifecycle archive $D", "rekindle $D", "import csv $TABLE", "R=review create $A",
		"review claim $R", "review close $R keep", "forget $B --permanently --yes", "lifecycle run",
		"config primary-device here", "doctor log compact",
	}
	for _, step := range steps {
		a.run(step)
	}
	if err := d.stop(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	said, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	got := auditSyncs(string(said), filepath.Join(a.w.home, "data"), vault)
	t.Logf("%d commands, %d answers, %d files synced after a write", len(steps), got.answers, got.synced)
	if got.answers < len(steps) || got.synced < len(steps) {
		t.Error("fewer than the commands")
	}
	for _, l := range got.late {
		t.Error(l)
	}
}

// run runs a command, and keeps the ID in its output.
func (a *syncAudit) run(step string) {
	a.Helper()
	name, words, keeps := strings.Cut(step, "=")
	if !keeps || strings.Contains(name, " ") {
		name, words = "", step
	}
	args := strings.Fields(os.Expand(words, func(v string) string { return a.vars[v] }))
	cmd := exec.CommandContext(a.Context(), a.w.binary(a.T), append(args, "--home", a.w.home)...)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.Errorf("%s: %v\n%s", step, err, out)
	}
	if id := printedID.FindSubmatch(out); name != "" && id != nil {
		a.vars[name] = string(bytes.Join(id[1:], nil))
	}
}

var (
	printedID  = regexp.MustCompile(`(?s)^.*\b(re[lv]-[0-9a-f]{8})|\b([0-9a-f]{8})\b`)
	tracedCall = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(?:\d+<([^>]*)>)?(.*)$`)
)

// syncs is what a trace shows: answers, syncs of files that had been written to, and answers that came before one.
type syncs struct {
	answers, synced int
	late            []string
}

// auditSyncs reads a trace. Only files under the folders count. Lines of uses alone are synced within a second, as
// documented. The answer to a question about the daemon's status, with which a start is awaited, acknowledges nothing.
func auditSyncs(trace string, folders ...string) (got syncs) {
	dirty, syncing := map[string]string{}, map[string]string{}
	for line := range strings.Lines(trace) {
		m := tracedCall.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		thread, call, path, rest := m[1], m[2], m[3], m[4]
		switch {
		case call == "fsync" || call == "fdatasync":
			if path != "" {
				syncing[thread] = path
			}
			if file := syncing[thread]; strings.Contains(rest, "= 0") && dirty[file] != "" {
				got.synced++
				delete(dirty, file)
			}
		case strings.Contains(rest, `{\"health\":`):
		case strings.HasPrefix(path, "socket:") || strings.HasPrefix(path, "UNIX"):
			got.answers++
			for _, name := range slices.Sorted(maps.Keys(dirty)) {
				got.late = append(got.late, fmt.Sprintf("answered before %s was synced\n%s%s", name, dirty[name], line))
			}
			clear(dirty)
		case slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f+"/") }) &&
			strings.Contains(call, "write") && !strings.Contains(rest, `\"op\":\"use\"`):
			dirty[path] = line
		}
	}
	return got
}

// An answer before a sync is seen, also where the trace tells of a call in two lines.
func TestAuditOfSyncs(t *testing.T) {
	t.Parallel()
	const wrote, answered = "7 write(5</d/a.jsonl>, \"x\", 1) = 1\n", "7 write(6<UNIX-STREAM:[1]>, \"y\", 1) = 1\n"
	for _, c := range []struct {
		name, trace           string
		answers, synced, late int
	}{
		{"synced", wrote + "7 fdatasync(5</d/a.jsonl>) = 0\n" + answered, 1, 1, 0},
		{"never synced", wrote + answered, 1, 0, 1},
		{"synced too late", wrote + "7 fsync(5</d/a.jsonl> <unfinished ...>\n" + strings.Replace(answered, "7", "8", 1) +
			"7 <... fsync resumed>) = 0\n", 1, 0, 1},
		{"synced in two lines", wrote + "7 fsync(5</d/a.jsonl> <unfinished ...>\n7 <... fsync resumed>) = 0\n" + answered,
			1, 1, 0},
		{"the sync failed", wrote + "7 fdatasync(5</d/a.jsonl>) = -1 EIO\n" + answered, 1, 0, 1},
		{"a status", wrote + "7 write(6<UNIX-STREAM:[1]>, \"HTTP/1.1 200 OK\\r\\n\\r\\n{\\\"health\\\":\\\"ok\\\"\", 9) = 9\n", 0, 0, 0},
		{"elsewhere", strings.Replace(wrote, "/d/", "/e/", 1) + answered, 1, 0, 0},
	} {
		if got := auditSyncs(c.trace, "/d"); got.answers != c.answers || got.synced != c.synced || len(got.late) != c.late {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
