package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/memory"
	"emberd/op"
	"emberd/watcher"
)

// archiveList is the file in which the state folder has the notes of the archive folder.
func (d *desk) archiveList() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.State, "index", "archive-*.json"))
	ok(d.t, err)
	if len(found) != 1 {
		d.t.Fatalf("the state folder has %q", found)
	}
	return found[0]
}

// reopen ends the engine and opens it anew, without having it read anything.
func (d *desk) reopen() {
	d.t.Helper()
	ok(d.t, d.Close())
	d.Engine = d.house.open(d.t)
}

func TestAStartDoesNotReadTheArchiveAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
	d.write(t, archiveDir+"Other.md", "of no memory")
	d.batch([]string{archiveDir + "Other.md"}, nil)
	d.reopen()
	if got := d.all(); len(got) != 0 {
		t.Errorf("%q would be read again", got)
	}
	if got := d.Notes.Vault.Carriers.Of(id); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("the notes of the memory are %q", got)
	}
	d.write(t, archiveDir+"Kettle.md", noteFor(id, "the kettle leaks", "tea"))
	if got := d.all(); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("%q would be read", got)
	}
}

func TestWithoutWhatWasKnownTheArchiveIsReadAgain(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(data []byte) []byte{
		"lost":         nil,
		"empty":        func([]byte) []byte { return nil },
		"cut short":    func(data []byte) []byte { return data[:len(data)/2] },
		"another id":   func(data []byte) []byte { return bytes.Replace(data, []byte(`"memory":"0`), []byte(`"memory":"1`), 1) },
		"no such path": func(data []byte) []byte { return bytes.Replace(data, []byte("Kettle"), []byte("Teapot"), 1) },
	} {
		t.Run(what, func(t *testing.T) {
			d := newDesk(t, nil)
			id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
			before := d.lines(id)
			ok(t, d.Close())
			data, err := os.ReadFile(d.archiveList())
			ok(t, err)
			if spoil == nil {
				ok(t, os.Remove(d.archiveList()))
			} else if spoilt := spoil(data); bytes.Equal(spoilt, data) {
				t.Fatalf("nothing is spoilt in %s", data)
			} else {
				ok(t, os.WriteFile(d.archiveList(), spoilt, 0o600))
			}
			d.Engine = d.house.open(t)
			if got := d.all(); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
				t.Errorf("%q would be read", got)
			}
			d.batch(d.all(), nil)
			d.settle()
			if got := d.lines(id); got != before {
				t.Errorf("%d lines more", got-before)
			}
			d.wantHome(id, archiveDir+"Kettle.md", false)
			d.reopen()
			if got := d.all(); len(got) != 0 {
				t.Errorf("%q would be read once more", got)
			}
		})
	}
}

// The settings may have the notes searched, or may name another folder, from one run to
// the next.
func TestNotesGoIntoTheIndexAndOutOfIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Garden/Soil.md": "the soil feeds"})
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
	before := d.lines(id)
	for _, step := range []struct {
		folder   string
		archived int
		reads    []string
		found    []string
	}{
		{archiveDir, 1, nil, []string{"Garden/Soil.md"}},
		{"Garden", 1, []string{archiveDir + "Kettle.md"}, []string{archiveDir + "Kettle.md"}},
		{"", 0, []string{"Garden/Soil.md"}, []string{"Garden/Soil.md", archiveDir + "Kettle.md"}},
		{"/Memories/Archive", 1, []string{archiveDir + "Kettle.md"}, []string{"Garden/Soil.md"}},
		{archiveDir, 1, nil, []string{"Garden/Soil.md"}},
	} {
		ok(t, d.Close())
		d.VaultArchive = step.folder
		d.Engine = d.house.open(t)
		if got := d.all(); !slices.Equal(got, step.reads) {
			t.Errorf("%+v: %q would be read", step, got)
		}
		if got := d.Notes.Vault.Carriers.Of(id); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
			t.Errorf("%+v: the notes of the memory are %q", step, got)
		}
		d.batch(d.all(), nil)
		d.settle()
		got := append(d.notesFound("kettle"), d.notesFound("soil")...)
		slices.Sort(got)
		if !slices.Equal(got, step.found) {
			t.Errorf("%+v: found %q", step, got)
		}
		if v := status(t, d.Engine).Vaults[0]; v.Archived != step.archived || v.Notes+v.Archived != 2 {
			t.Errorf("%+v: status %+v", step, v)
		}
		d.wantHome(id, archiveDir+"Kettle.md", false)
	}
	if got := d.lines(id); got != before {
		t.Errorf("%d lines more", got-before)
	}
}

// A note that went while the settings changed is missed all the same.
func TestANoteThatGoesWhileTheSettingsChange(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{archiveDir, ""} {
		d := &desk{house: vaultHouse(t, nil), t: t}
		d.start()
		id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
		ok(t, d.Close())
		ok(t, os.Remove(d.at(archiveDir+"Kettle.md")))
		d.VaultArchive = folder
		d.Engine = d.house.open(t)
		index, _ := d.Notes.Vault.Current()
		known := slices.Collect(d.Notes.Vault.Known(index))
		if len(known) != 1 || known[0].Path != archiveDir+"Kettle.md" {
			t.Fatalf("folder %q: the watcher is told of %+v", folder, known)
		}
		d.batch(nil, []string{known[0].Path})
		d.settle()
		if m := d.memory(id); m.NoteGone.IsZero() {
			t.Errorf("folder %q: the memory is %+v", folder, m.Memory)
		}
		d.reopen()
		if got := len(slices.Collect(d.Notes.Vault.Known(index))); got != 0 {
			t.Errorf("folder %q: %d notes are known after that", folder, got)
		}
	}
}

// An index that is built anew leaves the archive as it is.
func TestTheArchiveOutlivesTheIndex(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Garden/Soil.md": "the soil feeds"})
	id := d.filed("the kettle leaks", archiveDir+"Kettle.md")
	ok(t, d.Close())
	ok(t, os.RemoveAll(filepath.Join(d.State, "index", filepath.Base(d.Notes.Vault.IndexDir))))
	d.Engine = d.house.open(t)
	if got := d.all(); !slices.Equal(got, []string{"Garden/Soil.md"}) {
		t.Errorf("%q would be read", got)
	}
	d.Notes.Vault.Rebuild()
	d.batch(d.all(), nil)
	d.settle()
	d.wantHome(id, archiveDir+"Kettle.md", false)
	if v := status(t, d.Engine).Vaults[0]; v.Notes != 1 || v.Archived != 1 {
		t.Errorf("status %+v", v)
	}
}

// The whole folder under another name: its notes are ordinary ones from then on.
func TestTheArchiveFolderIsRenamed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	var ids []memory.ID
	var gone, came []string
	var moves []watcher.Move
	for i := range 8 {
		from, to := fmt.Sprintf("%s%d.md", archiveDir, i), fmt.Sprintf("Attic/%d.md", i)
		ids = append(ids, d.filed(fmt.Sprintf("kettle %d", i), from))
		gone, came, moves = append(gone, from), append(came, to), append(moves, watcher.Move{From: from, To: to})
	}
	ok(t, os.Rename(d.at(archiveDir), d.at("Attic")))
	d.batch(came, gone, moves...)
	d.settle()
	for i, id := range ids {
		d.wantHome(id, came[i], false)
	}
	if got := d.notesFound("kettle"); len(got) != 8 {
		t.Errorf("found %q", got)
	}
	ok(t, os.Rename(d.at("Attic"), d.at(archiveDir)))
	for i := range moves {
		moves[i] = watcher.Move{From: moves[i].To, To: moves[i].From}
	}
	d.batch(gone, came, moves...)
	d.settle()
	for i, id := range ids {
		d.wantHome(id, gone[i], false)
	}
	if got := d.notesFound("kettle"); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	d.wantNoFindings()
}

// Links from and into the archive are kept as others are.
func TestLinksOfArchiveNotes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Soil.md": "# Soil\n", archiveDir + "Kettle.md": "See [[Soil]].\n"})
	incoming := func() []string { return do(t, d.Engine, op.Links, &op.LinksRequest{Note: "Soil"}).Incoming }
	if got := incoming(); !slices.Equal(got, []string{archiveDir + "Kettle.md"}) {
		t.Errorf("%q link to it", got)
	}
	d.edit(archiveDir+"Pot.md", "Also [[Soil]].\n")
	if got := incoming(); len(got) != 2 {
		t.Errorf("%q link to it", got)
	}
	d.remove(archiveDir + "Kettle.md")
	if got := incoming(); !slices.Equal(got, []string{archiveDir + "Pot.md"}) {
		t.Errorf("%q link to it", got)
	}
}

// BenchmarkArchiveFolder measures the first reading of 10,000 notes in the archive
// folder, and the start after it.
func BenchmarkArchiveFolder(b *testing.B) {
	d := &desk{house: vaultHouse(b, nil), t: b}
	for i := range 10_000 {
		content := fmt.Sprintf("the kettle number %d leaks at the seam, and has since %d", i, i%100)
		d.write(b, fmt.Sprintf("%s%d/Kettle %d.md", archiveDir, i%10, i), noteFor(memory.DeriveID([]byte(content)), content))
	}
	read := func(b *testing.B) {
		b.Helper()
		ok(b, os.RemoveAll(filepath.Join(d.State, "index")))
		d.start()
	}
	b.Run("first reading", func(b *testing.B) {
		for b.Loop() {
			read(b)
			b.StopTimer()
			ok(b, d.Close())
			b.StartTimer()
		}
	})
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			d.start()
			b.StopTimer()
			ok(b, d.Close())
			b.StartTimer()
		}
	})
}
