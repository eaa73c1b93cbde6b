package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/api"
	"emberd/internal/cli"
	"emberd/internal/testutil/clitest"
	"emberd/memory"
	"emberd/op"
)

// canaries64 are words that nothing else has, by where the memory has them; each is looked
// for by its stem, too, as indexes have it.
var canaries64 = map[string]string{
	"content": "xylovanth", "edited": "ostrafend", "tag": "quorbital", "entity": "mervexia", "context": "plumdrake", "source": "vexoline",
	"meta": "drobnitz", "quote": "krellium", "key": "jubbatron", "evidence": "wimplequat", "relation": "florgent", "item": "snarvelk", "shared item": "grindlop",
	"damaged": "blorvask",
}

// purging64 is a machine with a vault, and the memory that is to go.
type purging64 struct {
	*machine
	ctx   context.Context
	vault string
	id    memory.ID
}

func call64[Req, Res any](p *purging64, o op.Op[Req, Res], req *Req) *Res {
	p.Helper()
	res, err := o.Call(p.ctx, p.client, req)
	if err != nil {
		p.Fatalf("%s: %v", o.Name, err)
	}
	return res
}

// live has the memory go through what memories go through, and everything that keeps
// something of them see it.
func (p *purging64) live() {
	c := canaries64
	other := call64(p, op.Save, &op.SaveRequest{Content: "the harbour light is green"}).Memory.ID
	p.id = call64(p, op.Save, &op.SaveRequest{Content: "The " + c["content"] + " is kept in the cellar. It must never be moved.", Tags: []string{c["tag"]}, Entities: []string{c["entity"]},
		Context: c["context"], Source: c["source"], Meta: map[string]json.RawMessage{"m": quoted63(c["meta"])}, IdempotencyKey: c["key"],
		Provenance: op.Provenance{Quote: c["quote"]}}).Memory.ID
	id := string(p.id)
	call64(p, op.Edit, &op.EditRequest{ID: id, Content: new("The " + c["content"] + " and the " + c["edited"] + " are kept in the cellar. They must never be moved.")})
	call64(p, op.Reinforce, &op.ReinforceRequest{ID: id, Evidence: c["evidence"]})
	call64(p, op.Relate, &op.RelateRequest{From: string(other), To: id, Type: memory.Related, Kind: c["relation"]})
	call64(p, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{id}, Evidence: c["item"]})
	call64(p, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(other), id}, Evidence: c["shared item"]})
	call64(p, op.Search, &op.SearchRequest{Query: c["content"] + " cellar"})
	call64(p, op.Promote, &op.PromoteRequest{ID: id})
	call64(p, op.Edit, &op.EditRequest{ID: id, AddTags: []string{"old"}})
	for len(call64(p, op.Archive, &op.ArchiveRequest{ID: id}).Archived) == 0 {
		time.Sleep(10 * time.Millisecond) // while the vault is being read
	}
	call64(p, op.Rekindle, &op.RekindleRequest{Query: id})
	call64(p, op.Health, &op.HealthRequest{})
	call64(p, op.AgentsRun, &op.AgentsRunRequest{})
	call64(p, op.Cleanup, &op.CleanupRequest{Collection: "all", Mode: op.CleanupFull})
	call64(p, op.BackupCreate, &op.BackupCreateRequest{})
	call64(p, op.Compact, &op.CompactRequest{})
	if err := p.daemon.stop(syscall.SIGTERM); err != nil { // which writes a snapshot
		p.Fatal(err)
	}
	p.damage(`{"v":1,"q":99,"op":"put","id":"` + id + `","d":{"content":"the ` + c["damaged"] + `"},"c":"00000000"}`)
	p.start()
	call64(p, op.Forget, &op.ForgetRequest{ID: id})
	call64(p, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{id}})
}

// damage adds a line to the log, of which a start keeps a copy in the quarantine.
func (p *purging64) damage(line string) {
	p.Helper()
	files, err := filepath.Glob(filepath.Join(p.data(), "stm", "*", "s-*.jsonl"))
	if err != nil || len(files) == 0 {
		p.Fatalf("log files %v, %v", files, err)
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(line + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		p.Fatal(err)
	}
}

// holding lists the canaries that the files below the folders have, plain, in base64 or
// within a compressed file.
func (p *purging64) holding(folders ...string) map[string]string {
	found := make(map[string]string)
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(name)
			if z, failed := gzip.NewReader(bytes.NewReader(b)); failed == nil {
				b, _ = io.ReadAll(z) // a backup
			}
			lower := bytes.ToLower(b)
			for _, word := range canaries64 {
				for i := range 3 { // of the ways base64 has a word, by where it begins
					coded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", i) + word))
					if bytes.Contains(b, []byte(strings.Trim(coded, "=")[2+i:len(coded)-4])) {
						found[word] = name
					}
				}
				if bytes.Contains(lower, []byte(word[:len(word)-2])) {
					found[word] = name
				}
			}
			return err
		})
		if err != nil {
			p.Fatal(err)
		}
	}
	return found
}

// TestCase64PurgeLeavesNoByte purges a memory that has been everywhere, and looks for its
// words in every file of data and state.
func TestCase64PurgeLeavesNoByte(t *testing.T) {
	t.Parallel()
	p := newPurging64(t, filepath.Join(clitest.ShortDir(t), "h"))
	data, state := p.data(), filepath.Join(p.home, "state")
	p.live()
	before := p.holding(data, state)
	for _, word := range canaries64 {
		if before[word] == "" {
			t.Errorf("%s is nowhere before the purge, so that this proves nothing", word)
		}
	}
	if p.holding(filepath.Join(state, "quarantine"))[canaries64["damaged"]] == "" {
		t.Error("the damaged line is not in the quarantine")
	}
	ledger := filepath.Join(state, "audit.json")
	if b, err := os.ReadFile(ledger); err != nil || !bytes.Contains(b, []byte(p.id)) {
		t.Errorf("the ledger does not name the memory before the purge (%v)", err)
	}
	res := call64(p, op.Purge, &op.PurgeRequest{ID: string(p.id), Backups: true})
	if b, err := os.ReadFile(ledger); err != nil || bytes.Contains(b, []byte(p.id)) {
		t.Errorf("the ledger still names the memory (%v)", err)
	}
	for _, left := range res.Left { // it is told of notes, and the user deletes them
		if left.Kind == "note" {
			if err := os.Remove(filepath.Join(p.vault, left.Place)); err != nil {
				t.Error(err)
			}
		}
	}
	p.wantClean(data, state)
	if said, err := os.ReadFile(p.home + ".log"); err != nil || bytes.Contains(said, []byte(canaries64["content"])) {
		t.Errorf("what the daemon said has a word of the memory (%v)", err)
	}
}

// wantClean waits until the index has followed the vault.
func (p *purging64) wantClean(folders ...string) {
	p.Helper()
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left := p.holding(folders...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			for word, name := range left {
				p.Errorf("%s still has %q", name, word)
			}
			return
		}
	}
}

func newPurging64(t *testing.T, home string) *purging64 {
	p := &purging64{machine: &machine{T: t, home: home}, ctx: t.Context(), vault: home + ".notes"}
	if err := os.MkdirAll(p.vault, 0o700); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.client = api.NewClient(filepath.Join(home, "emberd.sock"), nil)
	t.Cleanup(func() {
		p.client.Close()
		_ = p.daemon.cmd.Process.Kill()
	})
	return p
}

func (p *purging64) start() {
	p.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	if p.daemon, err = startDaemon(p.Context(), exe, p.home, p.home+".log", cli.ForeignFree(os.Environ()), "--vault", p.vault); err != nil {
		p.Fatal(err)
	}
}

// TestCase64OnTwoDevices shares the data folder between two homes. A purge on one leaves
// nothing of what that device wrote, the other says what it still has, and purges that when told.
func TestCase64OnTwoDevices(t *testing.T) {
	t.Parallel()
	dir := clitest.ShortDir(t)
	desk := newPurging64(t, filepath.Join(dir, "desk"))
	if err := os.MkdirAll(filepath.Join(dir, "lap"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(desk.data(), filepath.Join(dir, "lap", "data")); err != nil {
		t.Fatal(err)
	}
	lap := newPurging64(t, filepath.Join(dir, "lap"))
	word := canaries64["content"]
	desk.id = call64(desk, op.Save, &op.SaveRequest{Content: "The " + word + " is in the cellar"}).Memory.ID
	lap.awaits(lap.ctx, desk.id, "The "+word+" is in the cellar")
	call64(lap, op.Edit, &op.EditRequest{ID: string(desk.id), Content: new("The " + word + " is in the attic")})
	desk.awaits(desk.ctx, desk.id, "The "+word+" is in the attic")
	call64(lap, op.BackupCreate, &op.BackupCreateRequest{})

	res := call64(desk, op.Purge, &op.PurgeRequest{ID: string(desk.id), Backups: true})
	var kinds strings.Builder
	for _, left := range res.Left {
		kinds.WriteString(left.Kind + " ")
	}
	if !strings.Contains(kinds.String(), "device") {
		t.Errorf("the desk tells of %s, and of no other device", kinds.String())
	}
	own := filepath.Join(desk.data(), "stm", call64(desk, op.Status, &op.StatusRequest{}).Device)
	desk.wantClean(own, filepath.Join(desk.home, "state"))

	lap.awaits(lap.ctx, desk.id, "")
	warned := func() bool {
		return slices.ContainsFunc(call64(lap, op.Status, &op.StatusRequest{}).Warnings, func(w string) bool {
			return strings.Contains(w, "1 backup ") && strings.Contains(w, "emberd forget --permanently --backups "+string(desk.id))
		})
	}
	for !warned() {
		time.Sleep(10 * time.Millisecond)
	}
	call64(lap, op.Purge, &op.PurgeRequest{ID: string(desk.id), Backups: true})
	desk.wantClean(desk.data(), filepath.Join(desk.home, "state"), filepath.Join(lap.home, "state"))
	if warned() {
		t.Error("the lap still warns of a backup that is gone")
	}
}
