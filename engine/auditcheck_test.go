package engine_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/engine"
	"emberd/engine/admin"
	"emberd/internal/durable"
	"emberd/internal/ledger"
	"emberd/memory"
	"emberd/op"
)

// disk is what the folders of a house have, by path.
type disk map[string][]byte

func (h *house) disk(t testing.TB) disk {
	t.Helper()
	out := make(disk)
	for _, dir := range []string{h.Data, h.State} {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				out[name], err = os.ReadFile(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// put makes the folders what they were.
func (d disk) put(t testing.TB, h *house) {
	t.Helper()
	for name := range h.disk(t) {
		if _, ok := d[name]; !ok {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range d {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// kill leaves the folders as they are now, and opens the next engine on them.
func (h *house) kill(t testing.TB, e *engine.Engine, left disk) *engine.Engine {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	left.put(t, h)
	return h.open(t)
}

func checkAudit(t testing.TB, e *engine.Engine) *op.AuditCheck {
	t.Helper()
	return do(t, e, op.Audit, &op.AuditRequest{Check: true}).Check
}

// life is a house with what happened in it.
type life struct {
	*house
	e   *engine.Engine
	ids []memory.ID
	n   int
}

// step does one thing that happens to a memory daemon.
func (l *life) step(t testing.TB, what string, pick int) {
	t.Helper()
	who := []memory.Actor{anAgent, another, withCard, theUser, {Via: "http", Client: "bad \xff\xfe name/1", PID: 7}}[pick%5]
	l.clock.advance(time.Duration(pick%70) * time.Second)
	id := ""
	if len(l.ids) > 0 {
		id = string(l.ids[pick%len(l.ids)])
	} else if slices.Contains([]string{"edit", "forget", "show", "purge"}, what) {
		return
	}
	switch what {
	case "save":
		l.n++
		l.ids = append(l.ids, asked(t, l.e, who, op.Save, &op.SaveRequest{Content: fmt.Sprintf("The kettle leaks at seam %d", l.n)}).Memory.ID)
	case "edit":
		asked(t, l.e, who, op.Edit, &op.EditRequest{ID: id, AddTags: []string{fmt.Sprintf("seam%d", pick)}})
	case "relate":
		if len(l.ids) > 1 { // which fails the second time
			_, _ = op.Relate.Call(op.WithCaller(t.Context(), who), l.e, &op.RelateRequest{From: string(l.ids[0]),
				To: string(l.ids[len(l.ids)-1]), Type: memory.Related})
		}
	case "show":
		asked(t, l.e, who, op.Show, &op.ShowRequest{ID: id})
	case "search":
		asked(t, l.e, who, op.Search, &op.SearchRequest{Query: "kettle"})
	case "forget and undo":
		if id != "" {
			asked(t, l.e, who, op.Undo, &op.UndoRequest{Tx: asked(t, l.e, who, op.Forget, &op.ForgetRequest{ID: id}).Tx})
		}
	case "forget", "purge":
		if what == "purge" {
			do(t, l.e, op.Purge, &op.PurgeRequest{ID: id})
		} else {
			asked(t, l.e, who, op.Forget, &op.ForgetRequest{ID: id})
		}
		l.ids = slices.DeleteFunc(l.ids, func(m memory.ID) bool { return string(m) == id })
	case "compact":
		do(t, l.e, op.Compact, &op.CompactRequest{})
	case "months":
		l.clock.advance(100 * 24 * time.Hour)
	case "flush":
		if err := l.e.Ledger.Flush(); err != nil {
			t.Fatal(err)
		}
	case "restart":
		l.e = l.restart(t, l.e)
	case "crash":
		l.e = l.kill(t, l.e, l.disk(t))
	case "crash, and device.json is lost":
		left := l.disk(t)
		delete(left, filepath.Join(l.State, "device.json"))
		l.e = l.kill(t, l.e, left)
	case "crash in a flush":
		name := filepath.Join(l.State, admin.LedgerFile)
		before, had := l.disk(t)[name]
		l.step(t, "flush", pick)
		left := l.disk(t)
		if left[name] = before; !had {
			delete(left, name)
		}
		l.e = l.kill(t, l.e, left)
	case "check":
		if c := checkAudit(t, l.e); len(c.Problems) > 0 {
			t.Fatalf("nobody touched anything, and the check says\n%s", strings.Join(c.Problems, "\n"))
		}
	}
}

var steps = []string{"save", "save", "edit", "relate", "show", "search", "search", "forget and undo", "forget", "purge",
	"compact", "months", "flush", "restart", "crash", "crash in a flush",
	"crash, and device.json is lost", "check"}

// Whatever emberd itself does to its files, and wherever it is killed, is no problem.
func TestAnAuditOfWhatNobodyTouchedHasNoProblems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := newHouse(t)
		l := &life{house: h, e: h.open(t)}
		defer func() {
			if err := l.e.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		var did []string
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			what := rapid.SampledFrom(steps).Draw(rt, "step")
			pick := rapid.IntRange(0, 100).Draw(rt, "pick")
			did = append(did, what)
			l.step(t, what, pick)
		}
		if c := checkAudit(t, l.e); len(c.Problems) > 0 {
			rt.Fatalf("after %s the check says\n%s", strings.Join(did, ", "), strings.Join(c.Problems, "\n"))
		}
	})
}

// reads changes the reads of audit.json, and its number of the next one.
func (d disk) reads(t testing.TB, h *house, change func(reads []ledger.Read, seq *int64) []ledger.Read) {
	t.Helper()
	name := filepath.Join(h.State, admin.LedgerFile)
	var f map[string]json.RawMessage
	var reads []ledger.Read
	var seq int64
	for _, err := range []error{json.Unmarshal(d[name], &f), json.Unmarshal(f["reads"], &reads), json.Unmarshal(f["seq"], &seq)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	reads = change(reads, &seq)
	f["seq"] = fmt.Appendf(nil, "%d", seq)
	f["reads"], _ = json.Marshal(reads)
	d[name], _ = json.Marshal(f)
}

// changes changes the lines of the log that change memories, which get new checksums.
func (d disk) changes(t testing.TB, h *house, n int, change func(line string) string) {
	t.Helper()
	var names []string
	for name := range d {
		if strings.HasPrefix(name, h.Data) && strings.HasSuffix(name, ".jsonl") {
			names = append(names, name)
		}
	}
	numbers := make(map[string]bool)
	for _, name := range names {
		for line := range strings.Lines(string(d[name])) {
			if strings.Contains(line, `"do":"`) {
				numbers[numberOf.FindString(line)] = true
			}
		}
	}
	number := slices.Sorted(maps.Keys(numbers))[n%len(numbers)]
	for _, name := range names {
		var out strings.Builder
		for line := range strings.Lines(string(d[name])) {
			if strings.Contains(line, `"do":"`) && numberOf.FindString(line) == number { // all copies
				line = change(line)
			}
			out.WriteString(line)
		}
		d[name] = []byte(out.String())
	}
}

// summed gives a line its checksum.
func summed(line string) string {
	body, _, _ := strings.Cut(line, `,"c":"`)
	return fmt.Sprintf("%s,\"c\":\"%08x\"}\n", body, crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)))
}

var (
	stampOf  = regexp.MustCompile(`"(t|tx)":"([0-9a-f]{12})-`)
	numberOf = regexp.MustCompile(`"q":[0-9]+`)
	actorOf  = regexp.MustCompile(`"by":\{[^}]*\}`)
	pidOf    = regexp.MustCompile(`"pid":[0-9]+`)
)

const theForger = `"by":{"via":"mcp","uid":0,"pid":99,"client":"zed/3","token":"home"}`

// Attack: each changes what a stopped emberd left, without the key of the chain.
var tampers = map[string]func(t testing.TB, d disk, h *house, n int){
	"a read removed": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read {
			return slices.Delete(r, n%len(r), n%len(r)+1)
		})
	},
	"the last reads removed, and the head set back": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, seq *int64) []ledger.Read {
			*seq = r[n%len(r)].Seq
			return r[:n%len(r)]
		})
	},
	"the first reads removed": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read { return r[1+n%(len(r)-1):] })
	},
	"all reads numbered anew": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, seq *int64) []ledger.Read {
			for i := range r {
				r[i].Seq += *seq
			}
			*seq += *seq
			return r
		})
	},
	"a read numbered anew": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, seq *int64) []ledger.Read {
			one := r[n%len(r)]
			one.Seq, *seq = *seq, *seq+1
			return append(slices.Delete(r, n%len(r), n%len(r)+1), one)
		})
	},
	"a forged read": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, seq *int64) []ledger.Read {
			*seq++
			return append(r, ledger.Read{Seq: *seq - 1, At: r[0].At, By: ledger.Caller{Kind: ledger.Token, Name: "home"}, What: "search"})
		})
	},
	"another process": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read { r[n%len(r)].PID++; return r })
	},
	"another time": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read {
			r[n%len(r)].At = r[n%len(r)].At.Add(time.Minute)
			return r
		})
	},
	"another caller": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read { r[n%len(r)].By.Name = "home"; return r })
	},
	"memories cut from a read": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read {
			i := slices.IndexFunc(r, func(r ledger.Read) bool { return len(r.IDs) > 0 })
			r[i].IDs = r[i].IDs[1:]
			return r
		})
	},
	"memories added to a read": func(t testing.TB, d disk, h *house, n int) {
		d.reads(t, h, func(r []ledger.Read, _ *int64) []ledger.Read {
			r[n%len(r)].IDs = append(r[n%len(r)].IDs, memory.DeriveID([]byte{byte(n)}))
			return r
		})
	},
	"no audit.json": func(_ testing.TB, d disk, h *house, _ int) { delete(d, filepath.Join(h.State, admin.LedgerFile)) },
	"a damaged audit.json": func(_ testing.TB, d disk, h *house, _ int) {
		d[filepath.Join(h.State, admin.LedgerFile)] = []byte("{")
	},
	"another caller of a change": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string { return summed(actorOf.ReplaceAllString(line, theForger)) })
	},
	"another caller, and other stamps": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string {
			return summed(actorOf.ReplaceAllString(stampOf.ReplaceAllString(line, `"$1":"000000000001-`), theForger))
		})
	},
	"another caller, other stamps and number": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string {
			line = numberOf.ReplaceAllString(stampOf.ReplaceAllStringFunc(line, func(s string) string {
				return s[:len(s)-2] + "f-"
			}), `"q":100000`)
			return summed(actorOf.ReplaceAllString(line, theForger))
		})
	},
	"another process of a change": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string {
			return summed(strings.Replace(pidOf.ReplaceAllString(line, `"uid":0`), `"by":{`, `"by":{"pid":98,`, 1))
		})
	},
	"another verb": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string { return summed(strings.Replace(line, `"do":"`, `"do":"x`, 1)) })
	},
	"a change left out": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(string) string { return "" })
	},
	"a change forged, with the next number": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string {
			forged := stampOf.ReplaceAllString(numberOf.ReplaceAllString(line, `"q":1000`), `"$1":"0fffffffffff-`)
			return line + summed(actorOf.ReplaceAllString(forged, theForger))
		})
	},
	"a change forged, with a number that is taken": func(t testing.TB, d disk, h *house, n int) {
		d.changes(t, h, n, func(line string) string {
			forged := stampOf.ReplaceAllStringFunc(line, func(s string) string { return s[:len(s)-2] + "f-" })
			return line + summed(actorOf.ReplaceAllString(forged, theForger))
		})
	},
}

// lived is a house with two processes, the last of which ended in order, and its disk.
func lived(t testing.TB) (*house, disk) {
	t.Helper()
	h := newHouse(t)
	l := &life{house: h, e: h.open(t)}
	for i, what := range []string{"save", "save", "search", "edit", "show", "restart", "save", "search", "purge", "show",
		"forget and undo", "search", "compact", "restart", "edit", "search", "show", "save"} {
		l.step(t, what, 3*i+1)
	}
	l.step(t, "check", 0)
	if err := l.e.Close(); err != nil {
		t.Fatal(err)
	}
	return h, h.disk(t)
}

// Whatever is done to audit.json or the log without the key is a problem, and still is after the
// next restart.
func TestAnAuditTellsOfEveryTampering(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	for name, tamper := range tampers {
		n := rand.IntN(100)
		after := make(disk, len(before))
		for file, text := range before {
			after[file] = slices.Clone(text)
		}
		tamper(t, after, h, n)
		after.put(t, h)
		e := h.open(t)
		first := checkAudit(t, e)
		if len(first.Problems) == 0 {
			t.Errorf("%s (%d): the check finds nothing, and notes %q", name, n, first.Notes)
		}
		e = h.restart(t, e)
		again := checkAudit(t, e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if len(again.Problems) == 0 {
			t.Errorf("%s (%d): after a restart the check does not find any more %q", name, n, first.Problems)
		}
	}
}

// With a key that is none nothing can be checked, which is a problem and no refusal to answer.
func TestAnAuditWithASpoiltKey(t *testing.T) {
	t.Parallel()
	h, _ := lived(t)
	if err := os.WriteFile(filepath.Join(h.State, "audit", "key"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := checkAudit(t, h.open(t))
	if len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "does not contain a key of 32 bytes in hexadecimal") {
		t.Errorf("the problems are %q", found.Problems)
	}
}

// What a kill kept from the chain is noted, once, and no problem; from then on it is sealed.
func TestAnAuditAfterAKill(t *testing.T) {
	t.Parallel()
	h, _ := lived(t)
	e := h.open(t)
	asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot was written before the kill"})
	e = h.kill(t, e, h.disk(t))
	c := checkAudit(t, e)
	if len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "1 change was missing from the audit log") {
		t.Errorf("after a kill: problems %q, notes %q", c.Problems, c.Notes)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	left := h.disk(t)
	for name, text := range left {
		if strings.HasSuffix(name, ".jsonl") && strings.HasPrefix(name, h.Data) {
			var out strings.Builder
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "before the kill") {
					line = summed(actorOf.ReplaceAllString(line, theForger))
				}
				out.WriteString(line)
			}
			left[name] = []byte(out.String())
		}
	}
	left.put(t, h)
	if c := checkAudit(t, h.open(t)); len(c.Problems) == 0 {
		t.Errorf("changed after it was sealed: notes %q", c.Notes)
	}
}

// A restored backup is noted, and what it lacks is no problem.
func TestAnAuditAfterARestore(t *testing.T) {
	t.Parallel()
	h, before := lived(t)
	e := h.open(t)
	asked(t, e, withCard, op.Save, &op.SaveRequest{Content: "The pot is not in the backup"})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	now := h.disk(t)
	for name := range now {
		if strings.HasPrefix(name, h.Data) {
			delete(now, name)
		}
	}
	for name, text := range before {
		if strings.HasPrefix(name, h.Data) {
			now[name] = text
		}
	}
	now.put(t, h)
	if err := ledger.Restored(durable.OS{}, filepath.Join(h.State, "audit"), h.clock.Now); err != nil {
		t.Fatal(err)
	}
	c := checkAudit(t, h.open(t))
	if len(c.Problems) > 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "a backup was restored") {
		t.Errorf("after a restore: problems %q, notes %q", c.Problems, c.Notes)
	}
}
