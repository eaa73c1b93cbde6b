package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

const (
	leaks   = "The kettle leaks at the seam."
	leaking = "At the seam the kettle is leaking"
)

// merged merges memories, which have to be a cluster.
func (d *desk) merged(ids ...memory.ID) op.MergedCluster {
	d.t.Helper()
	c := d.clustered(ids...)
	res := do(d.t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeApply})
	if len(res.Merged) != 1 {
		d.t.Fatalf("merged %+v", res)
	}
	return res.Merged[0]
}

// clustered finds the cluster of these memories.
func (d *desk) clustered(ids ...memory.ID) op.Cluster {
	d.t.Helper()
	slices.Sort(ids)
	res := do(d.t, d.Engine, op.Clusters, &op.ClustersRequest{})
	for _, c := range res.Clusters {
		if slices.Equal(c.MemoryIDs, ids) {
			return c
		}
	}
	d.t.Fatalf("%v is none of the clusters %+v", ids, res.Clusters)
	return op.Cluster{}
}

func TestClusters(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks), save(t, d.Engine, leaking)
	core := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaks + " It does.", Core: true}).Memory
	elsewhere := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaks + " Really.", Collection: "house"}).Memory
	promoted, cold := save(t, d.Engine, leaks+" Again."), save(t, d.Engine, leaks+" Still.")
	promoteByID(t, d.Engine, promoted.ID)
	d.archived(cold.ID)
	for _, port := range []string{"5432", "5433"} {
		save(t, d.Engine, "The staging database of the web shop in Leith listens on port "+port)
	}
	res := do(t, d.Engine, op.Clusters, &op.ClustersRequest{Strategy: "similarity"})
	if res.Mode != "clustering" || res.Found != 1 || res.Threshold != 0.83 || res.Memories != 5 || res.Message != "Found 1 cluster using similarity strategy" {
		t.Errorf("the answer is %+v", res)
	}
	c := res.Clusters[0]
	if c.Size != 2 || !slices.Equal(c.MemoryIDs, []memory.ID{one.ID, other.ID}) || c.SuggestedAction != "auto-merge" || !slices.Equal(c.ContentPreviews, []string{leaks, leaking}) {
		t.Errorf("the cluster is %+v", c)
	}
	if res.ApartFound != 1 || res.Apart[0].Why != "different numbers or dates: 5432 and 5433" {
		t.Errorf("apart are %+v", res.Apart)
	}
	pairs := do(t, d.Engine, op.Clusters, &op.ClustersRequest{FindDuplicates: true, Limit: 2})
	if pairs.Mode != "duplicate_detection" || pairs.Found != 3 || len(pairs.Pairs) != 2 || pairs.Message != "Found 3 potential duplicate pairs" {
		t.Errorf("the pairs are %+v", pairs)
	}
	if look(t, d.Engine, core.ID).Stage != memory.Active || look(t, d.Engine, elsewhere.ID).UseCount != 0 {
		t.Error("a clustering changed something")
	}
}

func TestConsolidateRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one, other := save(t, d.Engine, leaks), save(t, d.Engine, leaking)
	c := d.clustered(one.ID, other.ID)
	for _, x := range []struct {
		req  op.ConsolidateRequest
		says string
	}{
		{op.ConsolidateRequest{}, "missing cluster_id; copy an ID from the list of groups, or set auto_detect"},
		{op.ConsolidateRequest{ClusterID: c.ID, AutoDetect: true}, "cluster_id and auto_detect cannot be combined"},
		{op.ConsolidateRequest{ClusterID: c.ID, Mode: "merge"}, `use preview, apply or link`},
		{op.ConsolidateRequest{AutoDetect: true, CohesionThreshold: new(1.5)}, "cohesion_threshold 1.5 is out of range (0 to 1)"},
		{op.ConsolidateRequest{AutoDetect: true, Limit: 101}, "limit 101 is out of range (1 to 100)"},
	} {
		wantCode(t, refused(t, d.Engine, op.Consolidate, &x.req), memory.Invalid, x.says)
	}
	for _, x := range []struct {
		req  op.ClustersRequest
		says string
	}{
		{op.ClustersRequest{Strategy: "magic"}, `invalid strategy "magic"; use similarity`},
		{op.ClustersRequest{Threshold: 1.1}, "threshold 1.1 is out of range (0 to 1)"},
		{op.ClustersRequest{MaxClusterSize: 101}, "max_cluster_size 101 is out of range (1 to 100)"},
		{op.ClustersRequest{DuplicateThreshold: -1}, "duplicate_threshold -1 is out of range (0 to 1)"},
	} {
		wantCode(t, refused(t, d.Engine, op.Clusters, &x.req), memory.Invalid, x.says)
	}
	wantCode(t, refused(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: "cluster-0"}), memory.NotFound, "not found, or its memories have changed; list the groups again")
	save(t, d.Engine, "The kettle is leaking at its seam")
	before := stateOf(t, d.Engine)
	wantCode(t, refused(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeApply}), memory.Conflict, "was merged or contains other memories now")
	if stateOf(t, d.Engine) != before {
		t.Error("something was changed all the same")
	}
	e, _ := newEngine(t)
	wantCode(t, refused(t, e, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Mode: op.ModeApply}), memory.NotFound, "no vault configured; set vaults: in the config file, or run: emberd serve --vault DIR")
}

// A cluster that was found at another threshold is found again by its id, after a restart
// too.
func TestAClusterIsFoundByItsID(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	save(t, d.Engine, "the tide turns at six in the harbour of Leith")
	save(t, d.Engine, "the tide turns at six in the old harbour of Oban where boats lie")
	res := do(t, d.Engine, op.Clusters, &op.ClustersRequest{Threshold: 0.3})
	if res.Found != 0 { // Leith is a name, and Oban another
		t.Fatalf("found %+v", res.Clusters)
	}
	save(t, d.Engine, "in the old harbour of Oban the tide turns at six when boats are out")
	res = do(t, d.Engine, op.Clusters, &op.ClustersRequest{Threshold: 0.5})
	if res.Found != 1 {
		t.Fatalf("found %+v", res.Clusters)
	}
	d.restart()
	p := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: res.Clusters[0].ID})
	if p.Mode != "preview" || p.AutoDetect || p.Found != 1 || len(p.Previews) != 1 || p.Previews[0].ClusterID != res.Clusters[0].ID {
		t.Errorf("the preview is %+v", p)
	}
}

func TestConsolidate(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	one := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaks, Tags: []string{"kitchen"}, Entities: []string{"Ann"}, Source: "phone"}).Memory
	d.clock.advance(time.Minute)
	other := do(t, d.Engine, op.Save, &op.SaveRequest{Content: leaking, Tags: []string{"repairs"}, Strength: new(1.5)}).Memory
	do(t, d.Engine, op.Touch, &op.TouchRequest{ID: string(other.ID)})
	before := stateOf(t, d.Engine)
	c := d.clustered(one.ID, other.ID)
	p := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID}).Previews[0]
	if p.MergedContentPreview != leaking+"\n\n"+leaks || !slices.Equal(p.MergedTags, []string{"kitchen", "repairs"}) || !slices.Equal(p.MergedEntities, []string{"Ann"}) || p.CalculatedStrength < 1.69 || p.Refused != "" {
		t.Errorf("the preview is %+v", p)
	}
	if stateOf(t, d.Engine) != before {
		t.Error("a preview changed something")
	}
	res := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeApply})
	m := res.Merged[0]
	if res.Message != "Merged 2 memories into "+string(m.NewMemoryID) || !slices.Equal(m.SourceIDs, c.MemoryIDs) || len(m.RelationIDs) != 2 || res.Tx == "" {
		t.Errorf("the answer is %+v", res)
	}
	merged := look(t, d.Engine, m.NewMemoryID)
	if merged.Content != leaking+"\n\n"+leaks || merged.UseCount != 1 || !merged.CreatedAt.Equal(one.CreatedAt) || !slices.Equal(merged.ConsolidatedFrom, []memory.ID{one.ID, other.ID}) ||
		merged.Strength != p.CalculatedStrength || merged.Source != "phone" || merged.Stage != memory.Active || merged.ConsolidatedAt.IsZero() {
		t.Errorf("the merged memory is %+v", merged.Memory)
	}
	row, _ := d.Stm.Get(m.NewMemoryID)
	for i, id := range []memory.ID{one.ID, other.ID} {
		old := look(t, d.Engine, id)
		if old.Stage != memory.Archived || old.ArchiveReason != "merged" || old.ConsolidatedInto != m.NewMemoryID || old.TextDigest == "" {
			t.Errorf("a source is %+v", old.Memory)
		}
		wantNote(t, d.house, old.VaultPath, string(id), []string{leaks, leaking}[i])
		if rel := memory.RelationID(m.NewMemoryID, id, memory.ConsolidatedFrom, ""); !row.Has(stm.RelationKey(rel)) || !slices.Contains(m.RelationIDs, rel) {
			t.Errorf("no relation leads to %s", id)
		}
	}
	if v := d.newest(one.ID); v.Verb != "consolidate" || v.Tx != res.Tx {
		t.Errorf("the log says %+v", v)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if !d.Stm.Trashed(m.NewMemoryID) {
		t.Error("undone, and the merged memory is there")
	}
	if after := withoutLine(stateOf(t, d.Engine), m.NewMemoryID); after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
	wantFiles(t, d.house)
	d.merged(one.ID, other.ID) // again
}

// withoutLine leaves out what is said of one memory.
func withoutLine(state string, id memory.ID) string {
	var out strings.Builder
	for line := range strings.Lines(state) {
		if !strings.HasPrefix(line, string(id)) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// What cannot be merged stays as it is, down to the notes.
func TestWhatIsNotMerged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b string
		code memory.Code
		says string
	}{
		{"too long", strings.Repeat("kettle leaks ", 2_500), strings.Repeat("leaking kettle ", 2_500), memory.TooLarge, "too many characters in content: "},
		{"not kept by notes", leaks + "\r\n" + leaks, leaking, memory.Conflict, "a note cannot store the text exactly, because it contains control characters, line endings other than LF, or plugin code"},
	} {
		d := shelf(t, nil)
		one, other := save(t, d.Engine, c.a), save(t, d.Engine, c.b)
		before := stateOf(t, d.Engine)
		id := d.clustered(one.ID, other.ID).ID
		wantCode(t, refused(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: id, Mode: op.ModeApply}), c.code, c.says)
		if stateOf(t, d.Engine) != before {
			t.Errorf("%s: something was changed", c.name)
		}
		wantFiles(t, d.house)
		res := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Mode: op.ModeApply})
		if len(res.Merged) != 0 || len(res.Refused) != 1 || !strings.Contains(res.Refused[0].Reason, c.says) || res.Message != "Merged 0 memories into 0 memories; groups not merged: 1" {
			t.Errorf("%s: of all it says %+v", c.name, res)
		}
	}
}

func TestConsolidateAll(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	for _, text := range []string{leaks, leaking, "Water the tomatoes early", "Early water for the tomatoes", "The tide turns", "the tide turns, the tide turns"} {
		save(t, d.Engine, text)
	}
	before := stateOf(t, d.Engine)
	p := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Limit: 2})
	if !p.AutoDetect || p.Found != 3 || len(p.Previews) != 2 || p.Message != "Found 3 groups to consolidate; remaining groups: 1; repeat the request" {
		t.Errorf("the preview is %+v", p)
	}
	res := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{AutoDetect: true, Mode: op.ModeApply})
	if len(res.Merged) != 3 || res.Message != "Merged 6 memories into 3 memories" || d.Stm.Len() != 9 {
		t.Errorf("the answer is %+v", res)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	after := stateOf(t, d.Engine)
	for _, m := range res.Merged {
		after = withoutLine(after, m.NewMemoryID)
	}
	if after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	ids := []memory.ID{save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID, save(t, d.Engine, "The kettle is leaking at its seam").ID}
	before := stateOf(t, d.Engine)
	c := d.clustered(ids...)
	res := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeLink})
	if len(res.Linked) != 1 || len(res.Linked[0].RelationIDs) != 6 || res.Message != "Created 3 bidirectional relations linking 3 memories" {
		t.Errorf("the answer is %+v", res)
	}
	if m := look(t, d.Engine, ids[0]); !m.UpdatedAt.IsZero() || m.Stage != memory.Active {
		t.Errorf("linking made of it %+v", m.Memory)
	}
	again := do(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeLink})
	if len(again.Linked[0].RelationIDs) != 0 || again.Tx != "" {
		t.Errorf("linked again: %+v", again)
	}
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: res.Tx})
	if after := stateOf(t, d.Engine); after != before {
		t.Errorf("undone, it is\n%s\nwant\n%s", after, before)
	}
}

// A vault that is away leaves everything as it is.
func TestNothingIsMergedWithoutItsVault(t *testing.T) {
	t.Parallel()
	d := shelf(t, nil)
	c := d.clustered(save(t, d.Engine, leaks).ID, save(t, d.Engine, leaking).ID)
	ok(t, os.Rename(d.Vaults[0], filepath.Join(t.TempDir(), "away")))
	before := stateOf(t, d.Engine)
	wantCode(t, refused(t, d.Engine, op.Consolidate, &op.ConsolidateRequest{ClusterID: c.ID, Mode: op.ModeApply}), memory.Busy, "the vault is missing; connect its disk, or wait for the sync tool to restore it")
	if stateOf(t, d.Engine) != before {
		t.Error("something was changed")
	}
}

// Two devices that merge the same memories at once have two merged memories, and agree on
// which of them stands for the parts, whose texts both still have. Undone on both devices,
// whichever is first, all is as it was.
func TestTwoDevicesMergeTheSameMemories(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1} {
		both := newCouple(t)
		desks := []*desk{both.one, both.two}
		one, other := save(t, both.one.Engine, leaks).ID, save(t, both.one.Engine, leaking).ID
		both.meet()
		both.meet()
		var merged [2]op.MergedCluster
		var txs [2]string
		for i, d := range desks {
			d.advance(time.Second)
			merged[i] = d.merged(one, other)
			txs[i] = d.newest(one).Tx
		}
		both.meet()
		both.meet()
		for _, d := range desks {
			d.batch(d.all(), nil)
			into := look(t, d.Engine, one).ConsolidatedInto
			for _, id := range []memory.ID{one, other} {
				if m := look(t, d.Engine, id); !m.Stage.Cold() || m.ConsolidatedInto != into || into != merged[1].NewMemoryID {
					t.Errorf("a part is %+v", m.Memory)
				}
			}
			for _, m := range merged {
				if m := look(t, d.Engine, m.NewMemoryID); m.Content != leaking+"\n\n"+leaks {
					t.Errorf("merged is %+v", m.Memory)
				}
			}
		}
		for _, i := range []int{first, 1 - first} {
			do(t, desks[i].Engine, op.Undo, &op.UndoRequest{Tx: txs[i]})
			both.meet()
			both.meet()
		}
		for _, d := range desks {
			for id, text := range map[memory.ID]string{one: leaks, other: leaking} {
				if back := look(t, d.Engine, id); back.Content != text || back.Stage != memory.Active {
					t.Errorf("undone on both, first on %d, a part is %+v", first, back.Memory)
				}
			}
			for _, m := range merged {
				if !d.Stm.Trashed(m.NewMemoryID) {
					t.Errorf("undone on both, first on %d, merged is still there", first)
				}
			}
			// One that has its text answers for itself, whatever it was merged into once.
			do(t, d.Engine, op.TrashRestore, &op.TrashRestoreRequest{IDs: []string{string(merged[0].NewMemoryID), string(merged[1].NewMemoryID)}})
			found := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "kettle leaks", Track: new(false)})
			if !slices.ContainsFunc(found.Hits, func(h op.Hit) bool { return h.Memory != nil && h.ID == one }) {
				t.Errorf("undone on both, first on %d, the part is not found", first)
			}
		}
	}
}
