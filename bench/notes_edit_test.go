package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/op"
)

// saves are the ways in which programs save a file.
var saves = []struct {
	name string
	save func(file string, text []byte) error
}{
	{"in-place", saveInPlace},
	{"append", saveAppended},
	{"rename", saveByRename},
	{"backup", saveWithBackup},
	{"slowly", saveSlowly},
}

// saveInPlace truncates and writes, as Obsidian and nano do.
func saveInPlace(file string, text []byte) error { return os.WriteFile(file, text, 0o600) }

// saveAppended adds the end only, as a shell's >> does.
func saveAppended(file string, text []byte) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(text[info.Size():])
	return firstError(err, f.Close())
}

// saveByRename puts a complete file in the place, as git and sync programs do.
func saveByRename(file string, text []byte) error {
	next := filepath.Join(filepath.Dir(file), ".next.tmp")
	return firstError(os.WriteFile(next, text, 0o600), os.Rename(next, file))
}

// saveWithBackup moves the old file away first, as Vim does.
func saveWithBackup(file string, text []byte) error {
	return firstError(os.Rename(file, file+"~"), os.WriteFile(file, text, 0o600), os.Remove(file+"~"))
}

// saveSlowly writes two halves with a moment between them.
func saveSlowly(file string, text []byte) error {
	half := len(text) / 2
	if err := os.WriteFile(file, text[:half], 0o600); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	return saveAppended(file, text)
}

// firstError is the first thing that went wrong.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// editsEach is how many edits are made in each way.
const editsEach = 40

// edit adds a word to one note after the other and tells how long after the end
// of the save a search has found it. It looks every two milliseconds.
func (f *followed) edit(b *testing.B) {
	d, _, _ := f.follow(b, 10*time.Millisecond)
	var all []time.Duration
	var got figures
	texts := newProse(4)
	for b.Loop() {
		for _, way := range saves {
			var took []time.Duration
			for range editsEach {
				path := f.vault.paths[texts.IntN(len(f.vault.paths))]
				took = append(took, f.editOne(b, d, path, "xq"+syllables(texts.Uint64()), way.save))
			}
			all = append(all, took...)
			got.add(way.name+"-p50-ms", millis(median(took)))
		}
	}
	got.add("p50-ms", millis(median(all)))
	got.add("p99-ms", millis(quantile(all, 0.99)))
	got.add("longest-ms", millis(quantile(all, 1)))
	got.add("edits", float64(len(all)))
	f.shown.report(b, &got)
}

func (f *followed) editOne(b *testing.B, d *daemon, path, token string, save func(string, []byte) error) time.Duration {
	b.Helper()
	file := filepath.Join(f.vault.dir, path)
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := save(file, fmt.Appendf(text, "\nand %s\n", token)); err != nil {
		b.Fatal(err)
	}
	saved := time.Now()
	query := &op.SearchRequest{Query: `"` + token + `"`, Scope: "notes", Limit: 1}
	d.wait(b, 2*time.Millisecond, func() bool {
		res := call(b, d, op.Search, query)
		return len(res.Hits) > 0 && res.Hits[0].Note.Path == path && !res.Similar
	})
	return time.Since(saved)
}
