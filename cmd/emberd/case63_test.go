package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/cli/data"
	"emberd/internal/secret"
	"emberd/internal/testutil/secrettest"
	"emberd/memory"
	"emberd/op"
)

// What a way in did with a text.
const (
	keptText   = "kept"   // it is stored
	secretText = "secret" // refused for what looks like a credential
	otherwise  = "other"  // refused for its length, or what else that field cannot hold
)

// specimen63 is a text of the corpus. Secret is the part that must not be anywhere, "" of
// one that only looks like it.
type specimen63 struct{ kind, text, secret string }

// corpus63 is made anew for every way in, so that what is found tells where it came in.
func corpus63(way int) (all []specimen63) {
	for i, c := range secrettest.Credentials {
		text, token := c.In(secrettest.Seeded(uint64(1000*way+i)), "note: ", "")
		all = append(all, specimen63{c.Words, text, token})
	}
	for i, name := range slices.Sorted(maps.Keys(secrettest.Innocent)) {
		all = append(all, specimen63{name, secrettest.Fill(secrettest.Seeded(uint64(1000*way+500+i)), secrettest.Innocent[name]), ""})
	}
	return all
}

// TestCase63 sends credentials and what only looks like them every way in of the real
// daemon, prints what was refused as a table, and looks for what was refused in every file,
// what the daemon said and what it says when it crashes.
func TestCase63NoWayInForCredentials(t *testing.T) {
	t.Parallel()
	w := newWays63(t)
	var gone []specimen63
	var table strings.Builder
	missed, alarms := 0, 0
	for i, way := range w.all() {
		texts := corpus63(i)
		if os.Getenv("EMBERD_PROOF") == "" {
			texts = some63(texts, i)
		}
		n := map[string]int{}
		for j, fate := range way.send(texts) {
			s := texts[j]
			n[fate+strconv.FormatBool(s.secret != "")]++
			switch {
			case s.secret != "" && fate == keptText:
				if missed++; len(secret.Scan(s.text)) > 0 { // a hole; what the rules do not know is a miss everywhere
					t.Errorf("%s took a %s", way.name, s.kind)
				}
			case s.secret != "" && fate == secretText:
				gone = append(gone, s)
			case fate == secretText:
				if alarms++; len(secret.Scan(s.text)) == 0 {
					t.Errorf("%s refused %s: %q", way.name, s.kind, s.text)
				}
			}
		}
		fmt.Fprintf(&table, "| %s | %d of %d | %d of %d |\n", way.name, n["secrettrue"], n["secrettrue"]+n["kepttrue"], n["secretfalse"], n["secretfalse"]+n["keptfalse"])
	}
	t.Logf("what was refused of credentials, and of what only looks like them:\n%s", table.String())
	if recall, precision := float64(len(gone))/float64(len(gone)+missed), float64(len(gone))/float64(len(gone)+alarms); recall < 0.99 || precision < 0.99 {
		t.Errorf("recall %.4f, precision %.4f, want at least 0.99 of both", recall, precision)
	} else {
		t.Logf("recall %.4f, precision %.4f", recall, precision)
	}
	w.crash()
	w.wantNowhere(gone)
}

// some63 are as many of the corpus as the suite has time for, others for each way.
func some63(all []specimen63, way int) (some []specimen63) {
	for i := way % 9; i < len(all); i += 9 {
		some = append(some, all[i])
	}
	return some
}

type way63 struct {
	name string
	send func([]specimen63) []string
}

// ways63 are the ways into one daemon.
type ways63 struct {
	*testing.T
	home   string
	daemon *daemonProcess
	client *api.Client
	agent  *agent
	shell  memory.ID // a memory that is edited and related
	pebble memory.ID
}

func newWays63(t *testing.T) *ways63 {
	home, d := startHome(t)
	w := &ways63{T: t, home: home, daemon: d, client: api.NewClient(filepath.Join(home, "emberd.sock"), nil)}
	t.Cleanup(w.client.Close)
	w.agent = startAgent(t, home)
	w.shell, w.pebble = w.saved("a shell"), w.saved("a pebble")
	return w
}

func (w *ways63) saved(text string) memory.ID {
	res, err := op.Save.Call(w.Context(), w.client, &op.SaveRequest{Content: text})
	if err != nil {
		w.Fatal(err)
	}
	return res.Memory.ID
}

// all are the ways, each by what holds the text.
func (w *ways63) all() []way63 {
	ways := slices.Concat(w.saves(), w.others(), w.tools())
	return append(ways,
		way63{"import jsonl", w.imported("import jsonl", func(_ int, s string) any { return map[string]any{"content": s} })},
		way63{"import chroma", w.imported("import chroma", func(i int, s string) any { return map[string]any{"id": fmt.Sprint("row ", i), "document": s} })},
		way63{"import qdrant", w.imported("import qdrant", func(i int, s string) any {
			return map[string]any{"id": i, "payload": map[string]any{"content": "a point", "file_path": s}}
		})},
		way63{"import cortexgraph", w.imported("import cortexgraph", func(i int, s string) any {
			return map[string]any{"id": fmt.Sprintf("4b%06x-0000-4000-8000-000000000001", i), "content": s, "created_at": 1759833600, "last_used": 1759833600}
		})},
		way63{"import reference", w.imported("import reference", func(i int, s string) any {
			return map[string]any{"type": "entity", "name": fmt.Sprint("thing ", i), "entityType": "thing", "observations": []string{s}}
		})})
}

// saves are the fields of a save, alone and in a batch.
func (w *ways63) saves() (out []way63) {
	for _, f := range []struct {
		name string
		put  func(*op.SaveRequest, string)
	}{
		{"content", func(r *op.SaveRequest, s string) { r.Content = s }},
		{"context", func(r *op.SaveRequest, s string) { r.Context = s }},
		{"source", func(r *op.SaveRequest, s string) { r.Source = s }},
		{"tags", func(r *op.SaveRequest, s string) { r.Tags = []string{"ok", s} }},
		{"entities", func(r *op.SaveRequest, s string) { r.Entities = []string{s} }},
		{"meta", func(r *op.SaveRequest, s string) { r.Meta = map[string]json.RawMessage{"a": quoted63(s)} }},
		{"category", func(r *op.SaveRequest, s string) { r.Category = s }},
		{"type", func(r *op.SaveRequest, s string) { r.Type = s }},
		{"section", func(r *op.SaveRequest, s string) { r.Section = s }},
		{"session_id", func(r *op.SaveRequest, s string) { r.SessionID = s }},
		{"collection", func(r *op.SaveRequest, s string) { r.Collection = s }},
		{"project", func(r *op.SaveRequest, s string) { r.Project = s }},
		{"file", func(r *op.SaveRequest, s string) { r.File = s }},
		{"quote", func(r *op.SaveRequest, s string) { r.Quote = s }},
		{"Idempotency-Key", func(r *op.SaveRequest, s string) { r.IdempotencyKey = s }},
	} {
		out = append(out, w.each("save "+f.name, func(ctx context.Context, s string) error {
			req := &op.SaveRequest{Content: "a feather"}
			f.put(req, s)
			_, err := op.Save.Call(ctx, w.client, req)
			return err
		}))
	}
	return append(out, w.each("save_batch", func(ctx context.Context, s string) error {
		res, err := op.SaveBatch.Call(ctx, w.client, &op.SaveBatchRequest{Items: []op.SaveRequest{{Content: s}}})
		if err == nil && res.Results[0].Error != nil {
			err = memory.Errorf(res.Results[0].Error.Code, "%s", res.Results[0].Error.Detail)
		}
		return err
	}))
}

// others are the operations that keep words of a caller, save for saves.
func (w *ways63) others() []way63 {
	id := string(w.shell)
	edit := func(put func(*op.EditRequest, string)) func(context.Context, string) error {
		return func(ctx context.Context, s string) error {
			req := &op.EditRequest{ID: id}
			put(req, s)
			_, err := op.Edit.Call(ctx, w.client, req)
			return err
		}
	}
	relate := func(put func(*op.RelateRequest, string)) func(context.Context, string) error {
		return func(ctx context.Context, s string) error {
			req := &op.RelateRequest{From: id, To: string(w.saved("a stone")), Type: memory.Related}
			put(req, s)
			_, err := op.Relate.Call(ctx, w.client, req)
			return err
		}
	}
	review := func(put func(*op.ReviewCreateRequest, string)) func(context.Context, string) error {
		return func(ctx context.Context, s string) error {
			req := &op.ReviewCreateRequest{MemoryIDs: []string{string(w.saved("a leaf"))}}
			put(req, s)
			_, err := op.ReviewCreate.Call(ctx, w.client, req)
			return err
		}
	}
	return []way63{
		w.each("edit content", edit(func(r *op.EditRequest, s string) { r.Content = &s })),
		w.each("edit tags", edit(func(r *op.EditRequest, s string) { r.Tags = &[]string{s} })),
		w.each("edit project", edit(func(r *op.EditRequest, s string) { r.Project = &s })),
		w.each("edit meta", edit(func(r *op.EditRequest, s string) { r.Meta = map[string]json.RawMessage{"a": quoted63(s)} })),
		w.each("add", func(ctx context.Context, s string) error {
			_, err := op.Add.Call(ctx, w.client, &op.AddRequest{Content: s})
			return err
		}),
		w.each("reinforce new_evidence", func(ctx context.Context, s string) error {
			_, err := op.Reinforce.Call(ctx, w.client, &op.ReinforceRequest{ID: id, Evidence: s})
			return err
		}),
		w.each("relate kind", relate(func(r *op.RelateRequest, s string) { r.Kind = s })),
		w.each("relate metadata", relate(func(r *op.RelateRequest, s string) { r.Metadata = map[string]json.RawMessage{"a": quoted63(s)} })),
		w.each("review create evidence", review(func(r *op.ReviewCreateRequest, s string) { r.Evidence = s })),
		w.each("review create action", review(func(r *op.ReviewCreateRequest, s string) { r.Action = s })),
		w.each("review create labels", review(func(r *op.ReviewCreateRequest, s string) { r.Labels = []string{s} })),
		w.each("review claim by", w.decided(func(ctx context.Context, item, s string) error {
			_, err := op.ReviewClaim.Call(ctx, w.client, &op.ReviewClaimRequest{ID: item, By: s})
			return err
		})),
		w.each("review close reason", w.decided(func(ctx context.Context, item, s string) error {
			_, err := op.ReviewClose.Call(ctx, w.client, &op.ReviewCloseRequest{ID: item, Reason: s})
			return err
		})),
		w.each("import of records", func(ctx context.Context, s string) error {
			res, err := op.Import.Call(ctx, w.client, &op.ImportRequest{Foreign: true, Records: []op.Record{{ID: memory.DeriveID([]byte(s)),
				Fields: map[string]json.RawMessage{"content": quoted63("a twig"), "unknown": quoted63(s), "created_at": quoted63("2026-01-02T03:04:05Z")}}}})
			if err == nil && res.Results[0].Error != nil {
				err = memory.Errorf(res.Results[0].Error.Code, "%s", res.Results[0].Error.Detail)
			}
			return err
		}),
	}
}

// decided asks something about a new review item.
func (w *ways63) decided(do func(ctx context.Context, item, s string) error) func(context.Context, string) error {
	return func(ctx context.Context, s string) error {
		res, err := op.ReviewCreate.Call(ctx, w.client, &op.ReviewCreateRequest{MemoryIDs: []string{string(w.saved("a nut"))}})
		if err != nil {
			return err
		}
		return do(ctx, res.Item.ID, s)
	}
}

// tools are those of the profiles that take a text.
func (w *ways63) tools() (out []way63) {
	call := func(tool, args string) {
		out = append(out, way63{"MCP " + tool, func(texts []specimen63) (fates []string) {
			for i, s := range texts {
				text, failed, err := w.agent.call(tool, strings.NewReplacer("TEXT", string(quoted63(s.text)), "NAME", fmt.Sprint(tool, i), "ID", string(w.shell)).Replace(args))
				if err != nil {
					w.Fatal(err)
				}
				fates = append(fates, fateOf63(w.T, s, failed, text))
			}
			return fates
		}})
	}
	call("memory_add", `{"content":TEXT}`)
	call("memory_edit", `{"id":"ID","context":TEXT}`)
	call("save_memory", `{"content":TEXT}`)
	call("save", `{"content":TEXT}`)
	call("create_entities", `{"entities":[{"name":"NAME","entityType":"thing","observations":[TEXT]}]}`)
	call("create_entities", `{"entities":[{"name":TEXT,"entityType":"thing","observations":[]}]}`)
	return out
}

// each sends texts one by one.
func (w *ways63) each(name string, send func(context.Context, string) error) way63 {
	return way63{name, func(texts []specimen63) (fates []string) {
		for _, s := range texts {
			err := send(w.Context(), s.text)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if typed := memory.CodeOf(err) == memory.Secret; err != nil && typed != strings.Contains(said, "looks like a credential") {
				w.Errorf("%s: the code is %s: %s", name, memory.CodeOf(err), said)
			}
			fates = append(fates, fateOf63(w.T, s, err != nil, said))
		}
		return fates
	}}
}

// fateOf63 judges an answer, which never has the credential.
func fateOf63(t *testing.T, s specimen63, failed bool, said string) string {
	if !failed {
		return keptText
	}
	if s.secret != "" && strings.Contains(said, longest63(s.secret)) {
		t.Errorf("an answer holds a %s: %s", s.kind, said)
	}
	if strings.Contains(said, "looks like a credential") {
		return secretText
	}
	return otherwise
}

// imported sends texts as lines of a file.
func (w *ways63) imported(command string, line func(int, string) any) func([]specimen63) []string {
	return func(texts []specimen63) []string {
		var file bytes.Buffer
		for i, s := range texts {
			file.Write(append(quoted63(line(i, s.text)), '\n'))
		}
		name := filepath.Join(w.TempDir(), "memories.jsonl")
		if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
			w.Fatal(err)
		}
		exe, err := os.Executable()
		if err != nil {
			w.Fatal(err)
		}
		cmd := exec.Command(exe, append(strings.Fields(command), "--json", "--home", w.home, name)...)
		cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
		said, _ := cmd.Output() // its exit code tells of lines, too
		var report data.ImportReport
		if err := json.Unmarshal(said, &report); err != nil || report.Lines != len(texts) {
			w.Fatalf("%s told of %d lines (%v): %.300s", command, report.Lines, err, said)
		}
		fates := slices.Repeat([]string{keptText}, len(texts))
		for _, e := range report.Errors {
			fates[e.Line-1] = fateOf63(w.T, texts[e.Line-1], true, e.Detail)
		}
		return fates
	}
}

func quoted63(s any) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}

// longest63 is the longest line of a credential, as it is in JSON, too.
func longest63(token string) (longest string) {
	for _, line := range strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune("\n\"\\", r) }) {
		if len(line) > len(longest) && !strings.HasPrefix(line, "-----") {
			longest = line
		}
	}
	return longest
}

// crash has the daemon write what it writes when it crashes.
func (w *ways63) crash() {
	if err := w.agent.in.Close(); err != nil {
		w.Error(err)
	}
	_ = w.daemon.stop(syscall.SIGQUIT) // the error is that it crashed
	said, err := os.ReadFile(w.home + ".log")
	if err != nil || !bytes.Contains(said, []byte("goroutine ")) {
		w.Errorf("the crash left no stacks in its log (%v): %.200s", err, said)
	}
}

// wantNowhere greps every file.
func (w *ways63) wantNowhere(gone []specimen63) {
	files := 0
	err := filepath.WalkDir(filepath.Dir(w.home), func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(name)
		lower := bytes.ToLower(b)
		for _, s := range gone {
			if part := []byte(longest63(s.secret)); bytes.Contains(b, part) || bytes.Contains(lower, bytes.ToLower(part)) {
				w.Errorf("%s holds a %s that was refused", name, s.kind)
			}
		}
		return err
	})
	if err != nil || files < 3 {
		w.Errorf("%d files were looked through: %v", files, err)
	}
}
