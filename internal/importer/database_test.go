package importer

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/testutil/dirsnap"
	"emberd/internal/testutil/sqlitetest"
	"emberd/memory"
)

// A storeCase is a store of another system: what its own package wrote, as SQL statements or JSON in
// testdata/stores, and what is read of it. make importers writes the stores anew and reads the real files.
type storeCase struct {
	name string // in testdata/stores
	file string // below the folder that make importers makes
	read func(context.Context, string, *Options) (*Result, error)
	want string
}

func fromFile(read func(io.Reader, *Options) (*Result, error)) func(context.Context, string, *Options) (*Result, error) {
	return func(_ context.Context, name string, o *Options) (*Result, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return read(f, o)
	}
}

const chromaWant = `0 embeddings[1]: "The kettle leaks" category=kitchen tags=tea,pots also=k1 in=kitchen meta=checked:true,shelf:7
0 embeddings[2]: "Tea is at five" source=clock also=k2 in=kitchen
0 embeddings[4]: "The oven is <hot> & loud" also=k4 in=kitchen
0 embeddings[5]: "Port 5432 is taken" in=office
`

const mem0Meta = `meta=role:"user",topic:"drinks",user_id:"ann"` + "\n"

var storeCases = []storeCase{
	{"chroma-old.sql", "chroma-old/chroma.sqlite3", ChromaDatabase,
		"4 met\n" + chromaWant + "0 embeddings[4]: k4 -related:-> k1\n"},
	{"chroma-new.sql", "chroma-new/chroma.sqlite3", ChromaDatabase,
		"5 met\n" + chromaWant + `0 embeddings[6]: "Desks by the window" tags=desk,light also=list in=office meta=sizes:[1,2]
0 embeddings[4]: k4 -related:-> k1
`},
	{"mem0.sql", "vectors/mem0/history.db", Mem0History, `2 met
0 history[1]: "Ann drinks tea" meta=role:"user"
0 history[4]: "Ann lives in Oslo" meta=role:"user"
0 history: note: skipped 1: deleted in the source
`},
	{"claude-mem.sql", "claude-mem/claude-mem.db", ClaudeMem, `3 met
0 observations[1]: "Kettle leaks\n\na seal\n\nThe kettle leaks at the seal.\n\n- It leaks\n- The seal is <worn>" type=bugfix project=kitchen tags=how-it-works,gotcha meta=files_read:["kettle.go"],prompt_number:1
0 observations[2]: "Oven is loud\n\nThe fan of the oven rattles." type=discovery project=kitchen tags=how-it-works,gotcha meta=files_read:["kettle.go"],prompt_number:1
0 session_summaries[1]: "Request: Fix the kettle\n\nInvestigated: The seal\n\nLearned: It is worn\n\nCompleted: Replaced it" type=session_summary project=kitchen meta=prompt_number:1
`},
	{"mcp-memory-service.sql", "mcp/sqlite_vec.db", MCPMemoryService, `3 met
0 memories[1]: "The kettle leaks" type=observation tags=kitchen,tea also=cb7750e09c82288f7ef2916606b2b9810f4700e0970d186ec8dfe88cd8e20fd5 meta=room:"north"
0 memories[2]: "Tea is at four" type=decision tags=tea also=3026731c2f52b8bb2da2d96ab56305ffdeb7af53fc8331a92826453dc431cbdd
0 memories[4]: "Tea is at five" type=decision tags=tea also=7132984928f110cdf071c057e028ec796c8f6b7b2bebd3465ad76b418392630a meta=parent_id:"3026731c2f52b8bb2da2d96ab56305ffdeb7af53fc8331a92826453dc431cbdd",version:2
0 memories[2]: 7132984928f110cdf071c057e028ec796c8f6b7b2bebd3465ad76b418392630a -related:supersedes-> 3026731c2f52b8bb2da2d96ab56305ffdeb7af53fc8331a92826453dc431cbdd
0 memories: note: skipped 1: deleted in the source
`},
	{"mem0.json", "vectors/mem0.json", fromFile(Qdrant), "2 met\n" + `1 [0][0]: "Ann drinks tea" ` + mem0Meta +
		`1 [0][1]: "Ann lives in Oslo" ` + mem0Meta},
	{"mem0_get_all.json", "vectors/mem0_get_all.json", fromFile(Mem0), "2 met\n" + `1 results[0]: "Ann drinks tea" ` +
		mem0Meta + `1 results[1]: "Ann lives in Oslo" ` + mem0Meta},
	{"langchain.json", "vectors/langchain.json", fromFile(Qdrant), `3 met
1 [0][0]: "The kettle leaks" source=a.md tags=tea meta=text:"not the text"
1 [0][1]: "Tea is at four" meta=page:3
2 [0][0]: "The oven is loud"
`},
	{"llamaindex.json", "vectors/llamaindex.json", fromFile(Qdrant), `1 met
1 [0][0]: "Ben drinks coffee" meta=file_name:"tea.md",page_label:"1"
`},
}

// storeTold is told with the collection and what is in meta.
func storeTold(h *Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	lines := strings.SplitAfter(told(h, nil), "\n")
	for i, r := range h.Records {
		line := strings.TrimSuffix(lines[i+1], "\n")
		if r.Collection != memory.DefaultCollection {
			line += " in=" + r.Collection
		}
		var meta []string
		for _, key := range slices.Sorted(maps.Keys(r.Meta)) {
			meta = append(meta, key+":"+string(r.Meta[key]))
		}
		if meta != nil {
			line += " meta=" + strings.Join(meta, ",")
		}
		lines[i+1] = line + "\n"
	}
	return strings.Join(lines, "")
}

// TestStores reads what the packages of other systems wrote, in testdata.
func TestStores(t *testing.T) {
	t.Parallel()
	for _, c := range storeCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join("testdata", "stores", c.name)
			if filepath.Ext(name) == ".sql" {
				name = sqlitetest.File(t, name)
			}
			c.check(t, name)
		})
	}
}

// TestRealStores reads the files that make importers has just had the packages themselves write.
func TestRealStores(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("EMBERD_TEST_STORES")
	if folder == "" {
		t.Skip("EMBERD_TEST_STORES names no folder of stores; run: make importers")
	}
	for _, c := range storeCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(folder, filepath.FromSlash(c.file))
			if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
				t.Skipf("%s is missing: make importers says which package it needs", c.file)
			}
			c.check(t, name)
		})
	}
}

// check reads a store twice, which leaves its folder as it is and gives the same memories.
func (c *storeCase) check(t *testing.T, name string) {
	before := dirsnap.Take(t, filepath.Dir(name))
	first, err := c.read(t.Context(), name, &Options{Now: time.Now()})
	if got := storeTold(first, err); got != c.want {
		t.Errorf("got\n%s\nwant\n%s", got, c.want)
	}
	before.Compare(t)
	if err != nil {
		return
	}
	second, err := c.read(t.Context(), name, &Options{Now: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range first.Records {
		if again := second.Records[i]; again.ID != r.ID || again.Content != r.Content {
			t.Errorf("read again, record %d is %s %q, not %s %q", i, again.ID, again.Content, r.ID, r.Content)
		}
		undated := c.name == "langchain.json" || c.name == "llamaindex.json" // which keep no time
		if again := second.Records[i]; !undated && !again.CreatedAt.Equal(r.CreatedAt) {
			t.Errorf("record %d %q has no time of its own, but %v", i, r.Content, r.CreatedAt)
		}
	}
}

// TestTimesOfStores checks when the memories of the stores in testdata were made and changed.
func TestTimesOfStores(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"chroma-new.sql":         "11-29 02:34:41, 11-29 02:34:41, 01-02 03:04:05, 11-29 02:34:41, 11-29 02:34:41, ",
		"chroma-old.sql":         "11-29 02:34:50, 11-29 02:34:50, 01-02 03:04:05, 11-29 02:34:51, ",
		"mem0.sql":               "11-29 02:35:14 changed 02:35:14.375, 11-29 02:35:14 changed 02:35:14.42, ",
		"claude-mem.sql":         "01-02 03:04:05, 01-02 03:04:06, 01-02 03:04:07, ",
		"mcp-memory-service.sql": "01-02 03:04:05 changed 02:36:07.888, 11-29 02:36:07 changed 02:36:07.888, 11-29 02:36:07 changed 02:36:07.9, ",
	} {
		for _, c := range storeCases {
			if c.name != name {
				continue
			}
			h, err := c.read(t.Context(), sqlitetest.File(t, filepath.Join("testdata", "stores", name)),
				&Options{Now: noon.AddDate(1, 0, 0)})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, r := range h.Records {
				got.WriteString(r.CreatedAt.Format("01-02 15:04:05"))
				if !r.UpdatedAt.IsZero() {
					got.WriteString(" changed " + r.UpdatedAt.Format("15:04:05.999"))
				}
				got.WriteString(", ")
			}
			if got.String() != want {
				t.Errorf("%s: times are %s", name, &got)
			}
		}
	}
}

// TestAnotherDatabase reads databases that are of another system, or have something odd in them.
func TestAnotherDatabase(t *testing.T) {
	t.Parallel()
	stores := filepath.Join("testdata", "stores")
	chroma, err := os.ReadFile(filepath.Join(stores, "chroma-new.sql"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sql  string
		read func(context.Context, string, *Options) (*Result, error)
		want string // a part of what is told
	}{
		"of another system": {string(chroma), Mem0History, "error: this is the database of ChromaDB; run: emberd import chroma FILE"},
		"of no system":      {"CREATE TABLE t (a)", ClaudeMem, "error: this is not a claude-mem database: table observations with the expected columns not found"},
		"a view in place of a table": {"CREATE VIEW history AS SELECT 1 AS memory_id, 'x' AS new_memory, 'ADD' AS event", Mem0History,
			"error: this is not a mem0 database"},
		"changes in the queue": {string(chroma) + "UPDATE max_seq_id SET seq_id = seq_id - 2;", ChromaDatabase,
			`collections[kitchen]: note: ChromaDB has not applied 2 changes of the collection "kitchen" yet`},
		"another database of ChromaDB": {string(chroma) + "UPDATE databases SET name = 'work';", ChromaDatabase, "in=work/kitchen"},
		"not UTF-8": {"CREATE TABLE history (memory_id, new_memory, event); INSERT INTO history VALUES ('a', CAST(x'61ff62' AS TEXT), 'ADD');",
			Mem0History, "history[1]: \"a\ufffdb\" also=a\n0 history[1]: note: emberd replaced bytes that are not UTF-8 with \ufffd"},
		"events without a memory": {"CREATE TABLE history (memory_id, new_memory, event); INSERT INTO history VALUES (NULL, 'x', 'ADD');",
			Mem0History, "1 met\n0 history[1]: failed: the event has no memory_id"},
		"a memory too long": {"CREATE TABLE history (memory_id, new_memory, event); INSERT INTO history VALUES ('a', printf('%.*c', 50001, 'x'), 'ADD');",
			Mem0History, "failed: too many characters in content: 50001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "store.db")
			sqlitetest.Make(t, file, c.sql)
			if got := storeTold(c.read(t.Context(), file, &Options{Now: time.Now()})); !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestDamagedDatabases overwrites parts of a database: it is refused, or read as something, and nothing panics.
func TestDamagedDatabases(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(sqlitetest.File(t, filepath.Join("testdata", "stores", "chroma-new.sql")))
	if err != nil {
		t.Fatal(err)
	}
	random, refused := rand.New(rand.NewPCG(1, 2)), 0
	for range 100 {
		data := slices.Clone(whole)
		for range 1 + random.IntN(8) {
			data[random.IntN(len(data))] = byte(random.IntN(256))
		}
		name := filepath.Join(t.TempDir(), "store.db")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, noon, noon); err != nil {
			t.Fatal(err)
		}
		h, err := ChromaDatabase(t.Context(), name, &Options{Now: time.Now()})
		switch {
		case err != nil && memory.CodeOf(err) != memory.Invalid:
			t.Errorf("refused with %v", err)
		case err != nil:
			refused++
		case h.Met > 5:
			t.Errorf("%d records, where there were 5", h.Met)
		}
	}
	if refused < 20 {
		t.Errorf("%d of 100 damaged databases were refused", refused)
	}
}
