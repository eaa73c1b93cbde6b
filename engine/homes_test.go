package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine"
	"emberd/engine/core"
	"emberd/internal/testutil/oldhome"
	"emberd/memory"
	"emberd/op"
)

// TestNotesOfEarlierHomes edits a note of the home of every earlier version while nothing runs. The
// memory then says what the note says, and of the other notes, each of which is compared with its
// memory, none counts as changed.
func TestNotesOfEarlierHomes(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join("..", "testdata", "homes", "*.tar.gz"))
	ok(t, err)
	if len(archives) == 0 {
		t.Fatal("there are no homes")
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			top := t.TempDir()
			oldhome.Unpack(t, archive, top)
			home := func(name string) string { return filepath.Join(top, "home", name) }
			h.Data, h.State, h.Vaults = home("data"), home("state"), []string{home("vault")}
			h.Options.Now = time.Now
			h.VaultPromoted, h.VaultArchive = "Kept", "Kept/Old"
			h.HistoryKeep, h.TrashKeep = 10*365*24*time.Hour, 10*365*24*time.Hour
			h.Pace = core.SyncDelays{Settle: time.Second, Others: time.Second}
			note := home("vault/Kept/Never store passwords in notes of the project.md")
			data, err := os.ReadFile(note)
			ok(t, err)
			data = bytes.Replace(data, []byte("Never store passwords"), []byte("Never store passwords or keys"), 1)
			ok(t, os.WriteFile(note, data, 0o600))
			past := time.Now().Add(-time.Hour)
			ok(t, os.Chtimes(note, past, past))
			e := h.following(t)
			before := noteEntries(t, e)
			const five = "0199b000-0000-7000-8000-000000000005"
			until(t, "the memory says what its note says", func() bool {
				return strings.Contains(look(t, e, memory.ID(five)).Content, "passwords or keys")
			})
			until(t, "no note waits", func() bool { waiting, _ := e.Sync.Sync.Count(); return waiting == 0 })
			if got := noteEntries(t, e); got != before+1 {
				t.Errorf("%d notes were read into memories, want %d", got, before+1)
			}
		})
	}
}

// noteEntries counts the changes of the journal that came from notes.
func noteEntries(t *testing.T, e *engine.Engine) (n int) {
	t.Helper()
	for _, entry := range do(t, e, op.Journal, &op.JournalRequest{Limit: 100}).Entries {
		if entry.Verb == core.NoteVerb {
			n++
		}
	}
	return n
}
