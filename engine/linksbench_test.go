package engine_test

import (
	"fmt"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/vault/frontmatter"
	"emberd/vault/markdown"
)

// BenchmarkLinks has a vault of 10,000 notes, of which 2,000 are those of memories with shared entities and as many
// relations. It measures the pass that links all of them, an ordinary one after ten relations, and one that has
// nothing to do, and counts what they wrote. Run it once: -benchtime 1x.
func BenchmarkLinks(b *testing.B) {
	const notes, memories = 10_000, 2_000
	for _, mode := range []core.EntityLinks{core.LinkShared, core.LinkExisting} {
		b.Run(string(mode), func(b *testing.B) {
			for range b.N {
				d, ids := linkedVault(b, mode, notes, memories)
				pass := func(which string) *op.VaultLinksResult {
					begun, used := time.Now(), processorTime(b)
					res := do(b, d.Engine, op.VaultLinks, &op.VaultLinksRequest{})
					b.ReportMetric(time.Since(begun).Seconds(), "s/"+which)
					b.ReportMetric((processorTime(b) - used).Seconds(), "cpu-s/"+which)
					return res
				}
				d.advance(time.Hour)
				first := pass("first")
				if first.Written < memories/2 {
					b.Errorf("the first pass wrote %+v", first)
				}
				for i := range 10 {
					do(b, d.Engine, op.Relate, &op.RelateRequest{From: string(ids[2*i]), To: string(ids[1000+i]), Type: memory.Contradicts})
				}
				d.advance(time.Hour)
				some := pass("ordinary")
				d.advance(time.Hour)
				if again := pass("nothing"); again.Written > 0 || again.Total > 0 {
					b.Errorf("a second pass wrote %d notes", again.Written)
				}
				most, all, unresolved := d.countLinks(ids)
				b.ReportMetric(float64(first.Written), "notes/first")
				b.ReportMetric(float64(some.Written), "notes/ordinary")
				b.ReportMetric(float64(most), "links/most")
				b.ReportMetric(float64(all)/memories, "links/note")
				b.ReportMetric(float64(unresolved), "unresolved")
				if most > 5 || mode == core.LinkExisting && unresolved > 0 {
					b.Errorf("a note has %d links, %d of all lead nowhere", most, unresolved)
				}
				ok(b, d.Close())
			}
		})
	}
}

// processorTime returns what this process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	ok(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// linkedVault makes a vault of so many notes, some of which are those of memories.
func linkedVault(b *testing.B, mode core.EntityLinks, notes, memories int) (*desk, []memory.ID) {
	b.Helper()
	plain := make(map[string]string)
	for i := range notes - memories {
		plain[fmt.Sprintf("Topics/%02d/Topic %04d.md", i%50, i)] = fmt.Sprintf("# Topic %04d\n\nA note, see [[Topic %04d]].\n", i, i/2)
	}
	h := promotingHouse(b, plain)
	h.Logger, h.LinkEntities = nil, mode
	d := &desk{house: h, t: b}
	d.Engine = h.open(b)
	var ids []memory.ID
	for len(ids) < memories {
		req := new(op.SaveBatchRequest)
		for range op.MaxBatch {
			n := len(ids) + len(req.Items)
			req.Items = append(req.Items, op.SaveRequest{Content: fmt.Sprintf("Memory number %d of the project", n), Project: fmt.Sprintf("project-%d", n%20),
				Entities: []string{fmt.Sprintf("Topic %04d", n), fmt.Sprintf("Person %d", n%300), fmt.Sprintf("Tool %d", n%700), fmt.Sprintf("Only %d", n)}})
		}
		for _, r := range do(b, d.Engine, op.SaveBatch, req).Results {
			ids = append(ids, r.ID)
		}
	}
	for i, id := range ids { // as promotions write them
		m, err := mustRow(b, d, id).Memory()
		ok(b, err)
		h.write(b, path.Join("Memories", fmt.Sprintf("Memory number %d of the project.md", i)), string(promote.NoteBytes(&m)))
		types := []string{memory.Supports, memory.Related, memory.Contradicts, memory.Causes}
		do(b, d.Engine, op.Relate, &op.RelateRequest{From: string(id), To: string(ids[(i*7+1)%len(ids)]), Type: types[i%4]})
	}
	d.Notes.Vault.Reopen()
	d.batch(d.all(), nil)
	for _, id := range ids {
		do(b, d.Engine, op.Promote, &op.PromoteRequest{ID: string(id), Force: true})
	}
	return d, ids
}

// countLinks counts the links in the notes of memories: the most that one note has, all, and those that lead nowhere.
func (d *desk) countLinks(ids []memory.ID) (most, all, unresolved int) {
	d.t.Helper()
	links, err := d.Notes.Vault.AllLinks(d.t.Context())
	ok(d.t, err)
	for _, id := range ids {
		m, err := mustRow(d.t, d, id).Memory()
		ok(d.t, err)
		has, err := frontmatter.Lists([]byte(d.note(d.t, m.PromotedTo)), promote.LinkKeys()...)
		ok(d.t, err)
		n := 0
		for _, items := range has {
			for _, l := range markdown.Wikilinks(strings.Join(items, "\n"), 1) {
				if _, leads := links.Resolve(m.PromotedTo, l.Target); !leads {
					unresolved++
				}
				n++
			}
		}
		most, all = max(most, n), all+n
	}
	return most, all, unresolved
}

func mustRow(t testing.TB, d *desk, id memory.ID) *stm.Row {
	t.Helper()
	row, live := d.Stm.Get(id)
	if !live {
		t.Fatalf("memory %s is not there", id)
	}
	return row
}
