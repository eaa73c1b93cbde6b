package vectors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/internal/dot"
	"emberd/internal/durable"
	"emberd/internal/testutil/crashdisk"
	_ "emberd/internal/testutil/racescale"
	_ "emberd/internal/testutil/ramdisk"
)

// Whatever is done in whatever order, the store is a map of vectors and one of documents, also
// after it was closed, killed, cut off from power or damaged.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{disk: crashdisk.New(), world: newWorld()}
		ok(t, m.start())
		text := rapid.SampledFrom(vocabulary())
		texts := rapid.SliceOfN(text, 1, 4)
		name := rapid.SampledFrom([]string{"n/1", "n/2", "m/1"})
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "luck"), 1))
		do := func(st step) { ok(t, st.do(m)) }
		t.Repeat(map[string]func(*rapid.T){
			"put":     func(t *rapid.T) { do(putting(texts.Draw(t, "texts")...)) },
			"place":   func(t *rapid.T) { do(placing(name.Draw(t, "name"), strings.Join(texts.Draw(t, "texts"), " "))) },
			"remove":  func(t *rapid.T) { do(removing(name.Draw(t, "name"))) },
			"sync":    func(*rapid.T) { do(syncing()) },
			"compact": func(*rapid.T) { do(compacting()) },
			"purge":   func(*rapid.T) { do(purging()) },
			"reopen":  func(*rapid.T) { do(reopening()) },
			"kill":    func(*rapid.T) { m.found(t, m.disk.Kill()) },
			"cut":     func(*rapid.T) { m.found(t, m.disk.Crash(rng)) },
			"damage":  func(*rapid.T) { m.damage(t, rng) },
			"":        func(t *rapid.T) { ok(t, m.world.check(m.Store)) },
		})
	})
}

func ok(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// found goes on with the disk that a crash leaves.
func (m *machine) found(t *rapid.T, disk *crashdisk.Disk) {
	m.disk = disk
	ok(t, m.start())
	ok(t, m.world.restarted(m.Store))
}

// damage flips bits in one of the files while the store is closed. What is found after that may be
// anything that was there at some time, but no vector may be wrong. The world begins anew with it.
func (m *machine) damage(t *rapid.T, rng *rand.Rand) {
	ok(t, m.Close())
	entries, err := m.disk.ReadDir(folder)
	ok(t, err)
	if len(entries) > 0 {
		name := folder + "/" + entries[rng.IntN(len(entries))].Name()
		b := []byte(content(m.disk, name))
		for range 1 + rng.IntN(3) {
			if i := rng.IntN(max(len(b), 1)); i < len(b) && i != 8 && i != 9 { // no later version
				b[i] ^= 1 << rng.IntN(8)
			}
		}
		ok(t, durable.ReplaceFile(m.disk, name, b))
	}
	ok(t, m.start())
	m.world = newWorld()
	for d := range m.Docs() {
		m.world.docs[d.Name] = wordsOf(m.Store, d.Name)
	}
	for _, text := range vocabulary() {
		if m.Has(KeyOf(text)) {
			m.world.vectors[text] = true
		}
	}
	ok(t, compacting().do(m)) // what was not damaged is synced
}

// Any float32 vector comes back bit by bit, and its rounded copy is as near as the rounding says.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1e30, 1e30), 1, 40).Draw(t, "vector")
		row := make([]int8, len(v))
		scale, finite := dot.Quantize(row, v)
		if !finite {
			t.Fatal("finite numbers are not")
		}
		for i, x := range v {
			if got := scale * float32(row[i]); max(x-got, got-x) > 0.501*scale+127e-30 {
				t.Fatalf("component %d: %g is rounded to %g, with a scale of %g", i, x, got, scale)
			}
		}
	})
}

// Documents of every shape are read as they were written.
func TestDocumentsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Doc{Name: rapid.StringN(1, -1, MaxName).Draw(t, "name")}
		for _, line := range rapid.SliceOf(rapid.IntRange(0, 1<<31-1)).Draw(t, "lines") {
			d.Chunks = append(d.Chunks, Chunk{KeyOf(fmt.Sprint(line)), line})
		}
		ok(t, checkDoc(&d))
		record := appendDoc(nil, 7, &d)
		got, fine := parseDoc(record[frameSize:])
		if !fine || !whole(7, record) || whole(8, record) || got.Name != d.Name || !slices.Equal(got.Chunks, d.Chunks) {
			t.Fatalf("read %+v, want %+v", got, d)
		}
	})
}
