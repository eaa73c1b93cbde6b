package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"emberd/engine/core"
	"emberd/op"
)

// A purge writes the lists at once, and leaves nothing of the text in them or in what was
// kept of them: within a minute of the last write, a minute later.
func TestAPurgeReachesLists(t *testing.T) {
	t.Parallel()
	for name, rests := range map[string]bool{"after a while": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			d := listDesk(t, nil)
			save(t, d.Engine, "the tide turns at six")
			d.listed()
			id := save(t, d.Engine, "quixotic zeppelin").ID
			d.listed()
			d.write(t, indexNote, strings.Replace(d.note(t, indexNote), "- quixotic", "- MINE quixotic", 1)) // so that a backup is kept
			d.listed()
			save(t, d.Engine, "the moon is full")
			if rests {
				d.listed()
				d.rest(t, d.Engine)
			} else {
				d.advance(2 * time.Minute)
				d.batch(d.all(), nil)
				d.Lists.WriteLists(t.Context())
			}
			if dry := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: id.Short(), DryRun: true}); !slices.Contains(left(dry, "note"), indexNote) {
				t.Errorf("a dry run leaves %+v", dry.Left)
			}
			res := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: id.Short(), Backups: true})
			if got := slices.Contains(left(res, "note"), indexNote); got == rests {
				t.Errorf("the purge left %+v", res.Left)
			}
			if rests && strings.Contains(d.note(t, indexNote), "zeppelin") {
				t.Errorf("the list is\n%s", d.note(t, indexNote))
			}
			for range 2 {
				if d.Lists.Lists.Next().IsZero() {
					break
				}
				d.listed()
			}
			d.wantWordGone("zeppelin")
			d.wantList(indexNote, marked("index"), "", "the moon is full", "the tide turns at six")
			if at := d.Lists.Lists.Next(); !at.IsZero() {
				t.Errorf("at rest they are due at %s", at)
			}
		})
	}
}

// wantWordGone looks for a word in every note and in what was kept of notes.
func (d *desk) wantWordGone(word string) {
	d.t.Helper()
	for _, dir := range []string{d.Vaults[0], core.BackupFolder(d.State), filepath.Join(d.State, "notechanges")} {
		ok(d.t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			if strings.Contains(string(data), word) {
				d.t.Errorf("%s has %q", name, word)
			}
			return err
		}))
	}
}

// While the vault is away a purge tells that the list is still to be written, and it is
// when the vault is back.
func TestAPurgeWhileTheVaultIsAway(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	id := save(t, d.Engine, "quixotic zeppelin").ID
	d.listed()
	away := d.Vaults[0] + " away"
	ok(t, os.Rename(d.Vaults[0], away))
	ok(t, os.Mkdir(d.Vaults[0], 0o700)) // as an empty mount point
	res := do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: id.Short()})
	if !slices.Contains(left(res, "note"), indexNote) {
		t.Errorf("the purge left %+v", res.Left)
	}
	ok(t, os.Remove(d.Vaults[0]))
	ok(t, os.Rename(away, d.Vaults[0]))
	d.listed()
	d.listed()
	d.wantWordGone("zeppelin")
}

// A purge that was asked for, and a daemon killed before the list could be written.
func TestKilledBetweenAPurgeAndTheList(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	id := save(t, d.Engine, "quixotic zeppelin").ID
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	d.write(t, indexNote, strings.Replace(d.note(t, indexNote), "- quixotic", "- MINE quixotic", 1))
	d.listed()
	done := busy(t, d.house)
	do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: id.Short()})
	done()
	d = d.killed()
	do(t, d.Engine, op.KeeperHere, &op.KeeperHereRequest{}) // on a copy of its folders it is another device
	d.listed()
	d.listed()
	d.wantWordGone("zeppelin")
	d.wantList(indexNote, marked("index"), "", "the tide turns at six")
}

// Killed at any moment around a write, there is one list, and it gets what it lacks.
func TestKilledAroundTheWriteOfAList(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	d.rest(t, d.Engine)
	state := d.killed() // of before the note
	do(t, state.Engine, op.KeeperHere, &op.KeeperHereRequest{})
	d.Lists.WriteLists(t.Context())
	state.listed() // the note is there, and nothing in the state folder tells of it
	wantFiles(t, d.house, indexNote)
	state = state.killed()
	do(t, state.Engine, op.KeeperHere, &op.KeeperHereRequest{})
	ok(t, os.Remove(state.at(indexNote)))
	state.listed()
	wantFiles(t, d.house)
	state.wantListState("index", indexNote, op.ListDeleted, "the note was deleted, so emberd does not write it again")
}

func TestADamagedListOfLists(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	ok(t, d.Close())
	ok(t, os.WriteFile(d.Lists.Lists.File, []byte(`{"had":`), 0o600))
	d.start()
	save(t, d.Engine, "the moon is full")
	d.listed()
	d.wantList(indexNote, marked("index"), "", "the moon is full", "the tide turns at six")
	if !strings.Contains(d.log.String(), "state of memory lists not read; emberd might write deleted lists again") {
		t.Errorf("the log says %q", d.log)
	}
}

// What every program saves while lists are written is in the note in the end.
func TestListsWhileAHumanSaves(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "the tide turns at six")
	d.listed()
	list := strings.TrimPrefix(d.note(t, indexNote), marked("index"))
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			save(t, d.Engine, fmt.Sprintf("ripple %d", n))
			d.advance(2 * time.Minute)
			d.Lists.WriteLists(t.Context())
			d.Promote.WriteDue(t.Context())
		}
	})
	last := ""
	for way, write := range saves() {
		for round := range size(3, 30) {
			last = fmt.Sprintf("%s, round %d\n", way, round)
			write(t, d.at(indexNote), marked("index")+"# Mine\n"+list+last)
			d.batch([]string{indexNote}, nil)
		}
		d.rest(t, d.Engine)
		if got := d.note(t, indexNote); !strings.HasSuffix(got, last) || !strings.Contains(got, "# Mine\n") {
			t.Errorf("%s: the note is\n%s", way, got)
		}
	}
	close(stop)
	writing.Wait()
	d.listed()
	d.listed()
	got := d.note(t, indexNote)
	if !strings.HasPrefix(got, marked("index")+"# Mine\n<!-- emberd:index -->\n") || !strings.HasSuffix(got, last) || !strings.Contains(got, fmt.Sprintf("memories (%d)", d.Stm.Len())) {
		t.Errorf("in the end of %d memories the note is\n%s\n%+v", d.Stm.Len(), got, d.Lists.ListStatus())
	}
	for _, name := range d.files(t) {
		if strings.Contains(name, "emberd-") {
			t.Errorf("left in the vault: %s", name)
		}
	}
}

// Of two devices on one vault the keeper writes, and each would write the same bytes.
func TestTwoDevicesAndTheirLists(t *testing.T) {
	t.Parallel()
	keeper, other, k, o := pair(t)
	for _, h := range []*house{keeper, other} {
		h.VaultIndex, h.VaultCore = indexNote, coreNote
		h.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	}
	ok(t, k.Close())
	ok(t, o.Close())
	keeper.Vaults = []string{t.TempDir()}
	other.Vaults = keeper.Vaults
	one, two := &desk{house: keeper, t: t}, &desk{house: other, t: t}
	one.start()
	two.start()
	do(t, one.Engine, op.KeeperHere, &op.KeeperHereRequest{})
	id := do(t, two.Engine, op.Save, &op.SaveRequest{Content: "My name is Ann", Core: true}).Memory.ID
	share := func() {
		carry(t, keeper, other, status(t, one.Engine).Device)
		two.Admin.Refresh(t.Context())
		carry(t, other, keeper, status(t, two.Engine).Device)
		one.Admin.Refresh(t.Context())
	}
	share()
	two.listed()
	wantFiles(t, keeper)
	two.wantListState("index", indexNote, op.ListOther, "the primary device")
	if at := two.Lists.Lists.Next(); !at.IsZero() {
		t.Errorf("the other device looks at %s", at)
	}
	one.listed()
	wantFiles(t, keeper, coreNote, indexNote)
	index, core := one.note(t, indexNote), one.note(t, coreNote)

	two.listed() // it sees the notes
	do(t, two.Engine, op.KeeperHere, &op.KeeperHereRequest{})
	share()
	before, err := os.Stat(two.at(indexNote))
	ok(t, err)
	two.listed()
	after, err := os.Stat(two.at(indexNote))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the other device wrote the same again: %v", err)
	}
	ok(t, os.Remove(two.at(indexNote)))
	two.listed()
	two.wantListState("index", indexNote, op.ListDeleted, "the note was deleted, so emberd does not write it again") // although the other one made it
	ok(t, os.Remove(two.at(coreNote)))
	ok(t, os.RemoveAll(filepath.Dir(two.Lists.Lists.File)))
	two.restart()
	two.listed()
	if got := two.note(t, indexNote); got != index {
		t.Errorf("the other device writes\n%s\nnot\n%s", got, index)
	}
	if got := two.note(t, coreNote); got != core || !strings.Contains(got, id.Short()) {
		t.Errorf("the other device writes\n%s\nnot\n%s", got, core)
	}
}

// Followed for real: what is saved has the lists armed, and searching does not.
func TestTheTimerOfLists(t *testing.T) {
	t.Parallel()
	h := listing(t, nil)
	e := h.following(t)
	const name = "lists of memories"
	until(t, "the look after the start is armed", func() bool { return timers(t, e)[name] == "30s" })
	e.Lists.WriteLists(t.Context())
	e.Lists.Lists.Nudge()
	until(t, "nothing ticks", func() bool { return timers(t, e)[name] == "" })
	searchFor(t, e, "tide")
	if at := e.Lists.Lists.Next(); !at.IsZero() {
		t.Errorf("after a search they are due at %s", at)
	}
	save(t, e, "the tide turns at six")
	until(t, "a save arms it", func() bool { return timers(t, e)[name] == "30s" })
	h.advance(time.Minute)
	e.Lists.Lists.Later(h.clock.Now())
	until(t, "the list is written", func() bool { return len(h.files(t)) == 1 })
	until(t, "nothing ticks again", func() bool { return timers(t, e)[name] == "" })
}

// The watcher may read a list before it is known who wrote it.
func TestAListIsNoNewsHoweverSoonItIsRead(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	for n := range 20 {
		save(t, d.Engine, fmt.Sprintf("drop %d", n))
		d.rest(t, d.Engine)
		before, _ := os.Stat(d.at(indexNote)) // none at first
		ctx, cancel := context.WithCancel(t.Context())
		var watcher sync.WaitGroup
		watcher.Go(func() {
			for ctx.Err() == nil {
				if now, err := os.Stat(d.at(indexNote)); err == nil && !os.SameFile(before, now) {
					if err := d.Notes.Vault.Reread(t.Context(), indexNote); err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
		d.Lists.WriteLists(t.Context())
		cancel()
		watcher.Wait()
		if note := d.note(t, indexNote); !strings.Contains(note, fmt.Sprintf("drop %d", n)) {
			t.Fatalf("the list is\n%s", note)
		}
		if due := d.Lists.Lists.Due(); !due.IsZero() {
			t.Fatalf("after write %d it is due at %s", n, due)
		}
	}
}

// What a human saves while a list is being written is news, however soon it is read.
func TestWhatIsSavedMeanwhileIsNews(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	save(t, d.Engine, "a drop")
	d.listed()
	d.Lists.Lists.Attend(indexNote)
	d.write(t, indexNote, d.note(t, indexNote)+"mine\n")
	ok(t, d.Notes.Vault.Reread(t.Context(), indexNote))
	if at := d.Lists.Lists.Due(); !at.IsZero() {
		t.Errorf("while it is being written it is due at %s", at)
	}
	d.Lists.Lists.Attended()
	if at := d.Lists.Lists.Due(); at.IsZero() {
		t.Error("afterwards it is not due")
	}
}

func BenchmarkLists(b *testing.B) {
	d := listDesk(b, nil)
	words := newSynthetic()
	for i := range 10 {
		var batch []op.SaveRequest
		for j := range 1000 {
			batch = append(batch, op.SaveRequest{Content: words.words(60), Core: j%100 == 0, Section: []string{"Key Topics", "Important Facts", "", "Recipes"}[j%4], Project: fmt.Sprintf("p%d", i)})
		}
		for len(batch) > 0 {
			some := batch[:min(100, len(batch))]
			batch = batch[len(some):]
			do(b, d.Engine, op.SaveBatch, &op.SaveBatchRequest{Items: some})
		}
	}
	d.listed()
	info, err := os.Stat(d.at(indexNote))
	ok(b, err)
	b.ReportMetric(float64(info.Size()), "bytes")
	for b.Loop() {
		d.Lists.WriteLists(b.Context())
	}
}

// Ten thousand memories make a list of bounded size.
func TestManyMemoriesInAList(t *testing.T) {
	t.Parallel()
	d := listDesk(t, nil)
	for range 20 {
		var batch []op.SaveRequest
		for range 100 {
			batch = append(batch, op.SaveRequest{Content: strings.Repeat("`[[long]]` ", 400)})
		}
		do(t, d.Engine, op.SaveBatch, &op.SaveBatchRequest{Items: batch})
	}
	d.listed()
	note := d.note(t, indexNote)
	if len(note) > 16<<10 || !strings.Contains(note, "\n1960 more: `emberd list`\n") || !strings.Contains(note, "memories (2000)") {
		t.Errorf("the list has %d bytes:\n%s", len(note), note)
	}
	if hits := do(t, d.Engine, op.Search, &op.SearchRequest{Query: "long", Scope: "notes"}).Hits; len(hits) > 0 {
		t.Errorf("found %q", names(hits))
	}
}
