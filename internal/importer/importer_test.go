package importer

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"emberd/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// readers are those of one file.
var readers = map[string]func(io.Reader, *Options) (*Result, error){
	"chroma": Chroma, "qdrant": Qdrant, "notes": Notes, "chatgpt": ChatGPT, "claude": Claude,
}

// told is what a result says in a few words a line: texts, relations and what was left out.
func told(h *Result, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d met\n", h.Met)
	for _, r := range h.Records {
		fmt.Fprintf(&b, "%s: %q", place(r.Place), r.Content)
		for _, part := range []struct{ name, value string }{{"category", r.Category}, {"section", r.Section}, {"type", r.Type},
			{"context", r.Context}, {"project", r.Project}, {"source", r.Source}, {"tags", strings.Join(r.Tags, ",")}, {"also", strings.Join(r.Aliases, ",")}} {
			if part.value != "" {
				fmt.Fprintf(&b, " %s=%s", part.name, part.value)
			}
		}
		b.WriteString("\n")
	}
	for _, r := range h.Relations {
		fmt.Fprintf(&b, "%s: %s -%s:%s-> %s\n", place(r.Place), r.FromName, r.Type, r.Kind, r.ToName)
	}
	for _, s := range h.Skips {
		mark := "failed"
		if s.Minor {
			mark = "note"
		}
		fmt.Fprintf(&b, "%s: %s: %v\n", place(s.Place), mark, s.Err)
	}
	return b.String()
}

func place(p Place) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", p.File, p.Line, p.Path))
}

func TestReaders(t *testing.T) {
	t.Parallel()
	long, longer := strings.Repeat("x", memory.MaxContent+1), strings.Repeat("x", memory.MaxContentBytes+1)
	for name, c := range map[string]struct{ reader, text, want string }{
		"a table with a byte-order mark": {"chroma", "\ufeff{\"ids\":[\"a\"],\r\n\"documents\":[\"one\"],\"metadatas\":null}", "1 met\n1 ids[0]: \"one\" also=a\n"},
		"an id twice":                    {"chroma", `{"ids":["a","a"],"documents":["one","two"]}`, "2 met\n1 ids[0]: \"one\" also=a\n1 ids[1]: \"two\" also=a\n"},
		"ids that are numbers":           {"chroma", `[{"id":1,"document":"one"}]`, "1 met\n1 [0]: \"one\" also=1\n"},
		"nested metadata":                {"chroma", `[{"id":"a","document":"one","metadata":{"tags":"[\"x\"]","deep":{"a":[1]}}}]`, "1 met\n1 [0]: \"one\" tags=x also=a\n"},
		"a row that is none":             {"chroma", "[1,\nnull]", "2 met\n1 [0]: failed: this entry is not a record with an ID and a text\n2 [1]: failed: this entry is not a record with an ID and a text\n"},
		"metadata that is none":          {"chroma", `[{"id":"a","document":"one","metadata":3}]`, "1 met\n1 [0]: \"one\" also=a\n"},
		"too long":                       {"chroma", `[{"id":"a","document":"` + long + `"}]`, "1 met\n1 [0]: failed: too many characters in content: 50001 (limit 50000); save the text in parts\n"},
		"far too long":                   {"chroma", `[{"id":"a","document":"` + longer + `"}]`, "1 met\n1 [0]: failed: too many bytes in content: 204801 (limit 204800, 200 KiB); save the text in parts\n"},
		"too deep":                       {"chroma", strings.Repeat(`{"collections":[`, 100), "error: the JSON is nested more than 32 levels deep"},
		"not UTF-8":                      {"chroma", "[{\"id\":\"a\",\"document\":\"\xff\"}]", "error: line 1 is not valid UTF-8; convert the file to UTF-8"},
		"something else":                 {"chroma", `{"a":1}`, "error: " + errNoCollection.Error()},
		"a torn table":                   {"chroma", "{\"ids\":[\"a\"],\n\"documents\":[\"o", "error: the JSON is incomplete or damaged at line 2: unexpected EOF; nothing was imported"},
		"nothing":                        {"chroma", "", "0 met\n"},

		"pages of points": {"qdrant", `{"result":{"points":[{"id":1,"payload":{"text":"one"}}],"next_page_offset":2}}` + "\n" +
			`{"result":{"points":[{"id":2,"payload":{"text":"two"}}],"next_page_offset":null}}`,
			"2 met\n1 result.points[0]: \"one\" also=1\n2 result.points[0]: \"two\" also=2\n"},
		"a name twice": {"qdrant", `[{"id":1,"payload":{"name":"A","content":"one"}},{"id":2,"payload":{"name":"A","content":"two"}},{"payload":{"from":"A","to":"A","relationType":"is"}}]`,
			"3 met\n1 [0]: \"one\" also=1,A\n1 [1]: \"two\" also=2\n1 [2]: note: skipped a relation from \"A\" to itself\n"},
		"a relation of ours": {"qdrant", `[{"payload":{"name":"A","content":"one"}},{"payload":{"from":"A","to":"B","relationType":"supports"}}]`,
			"2 met\n1 [0]: \"one\" also=A\n1 [1]: A -supports:-> B\n"},
		"a point far too long":      {"qdrant", `[{"id":1,"payload":{"text":"` + longer + `"}}]`, "1 met\n1 [0]: failed: too many bytes in content: 204801 (limit 204800, 200 KiB); save the text in parts\n"},
		"a payload without a point": {"qdrant", `{"content":"one","entityType":"rule","type":"chunk"}`, "1 met\n1: \"one\" type=rule\n"},
		"points that are none":      {"qdrant", `[1,[],null,{}]`, "4 met\n1 [0]: failed: this entry is not a point with an ID and a payload\n1 [1]: failed: this entry is not a point with an ID and a payload\n1 [2]: failed: this entry is not a point with an ID and a payload\n1 [3]: failed: point \"\" has neither content nor observations; keys of the payload: no keys\n"},
		"a date that is none": {"qdrant", `[{"id":1,"memory":"one","created_at":"bad"},{"id":2,"memory":"two","created_at":null}]`,
			"2 met\n1 [0]: \"one\" also=1\n1 [1]: \"two\" also=2\n1 [0]: note: invalid created_at \"bad\"; the memory has the date of the import\n"},
		"points too deep": {"qdrant", strings.Repeat(`{"result":`, 100), "error: the JSON is nested more than 32 levels deep"},

		"items of several kinds": {"notes", "\ufeff## Key Topics\r\n- one\r\n* two\r\n1. three\r\n\r\n   with more\r\n\r\na sentence\r\nof two lines\r\n",
			"4 met\n2: \"one\" section=Key Topics\n3: \"two\" section=Key Topics\n4: \"three\\n\\n with more\" section=Key Topics\n8: \"a sentence\\nof two lines\" section=Key Topics\n"},
		"comments and rulers":      {"notes", "## important facts\n<!-- not\nthis -->\n---\n- one\n", "1 met\n5: \"one\" section=Important Facts\n"},
		"texts after comments":     {"notes", "## System\n<!-- a --> <!-- b\nc --> - one\n<!-- d\n--> - two\n- three <!-- four -->\n", "3 met\n3: \"one\" category=System\n5: \"two\" category=System\n6: \"three <!-- four -->\" category=System\n"},
		"a comment without an end": {"notes", "## System\n<!-- a -->\n- one\n\n<!-- b\n- two\n", "3 met\n3: \"one\" category=System\n5: \"<!-- b\" category=System\n6: \"two\" category=System\n"},
		"no notes":                 {"notes", "- one\n", "error: this is not a notes.md file: it contains no heading of a section (Key Topics, Important Facts, People & Entities, Ongoing Threads, File Knowledge) or of core memories (Identity, Projects, Relationships, System)"},
		"an item not UTF-8":        {"notes", "## System\n- one\xff\n- two\n", "2 met\n3: \"two\" category=System\n2: failed: this text is not valid UTF-8; convert the file to UTF-8\n"},

		"a list of texts":           {"chatgpt", `["one","two",""]`, "3 met\n1 [0]: \"one\"\n1 [1]: \"two\"\n1 [2]: failed: this entry is neither a text nor an object with a text\n"},
		"a list in an object":       {"chatgpt", `{"memory_tool_config":{"memory_entries":[{"id":"m","content":"one","created_timestamp":1735700000}]},"x":[1]}`, "1 met\n1 memory_tool_config.memory_entries[0]: \"one\" also=m\n"},
		"an answer in a code block": {"chatgpt", "```\n[2025-01-02] - one\n[no date] - two\n[ ] - three\n```\n", "3 met\n2: \"one\"\n3: \"two\"\n4: \"[ ] - three\"\n"},
		"far too long to save":      {"chatgpt", `["` + longer + `"]`, "1 met\n1 [0]: failed: too many bytes in content: 204801 (limit 204800, 200 KiB); save the text in parts\n"},
		"dates without a dash":      {"chatgpt", "[2025-01-02] one\n[2025-01-02 10:30:00] two\n[1] three\n[2025-99-02] four\n[2025-01-02]\n", "5 met\n1: \"one\"\n2: \"two\"\n3: \"[1] three\"\n4: \"[2025-99-02] four\"\n5: \"[2025-01-02]\"\n"},
		"conversations":             {"chatgpt", `[{"mapping":{}}]`, "error: " + errChats.Error()},
		"no list":                   {"chatgpt", `{"a":1}`, "error: this file has no list of memories; use a list of texts, or of objects with content"},
		"nothing saved":             {"chatgpt", "\n\n", "0 met\n"},
		"lists without an end":      {"chatgpt", strings.Repeat(`{"data":`, 100), "error: the JSON is nested more than 32 levels deep"},

		"a memory with files": {"claude", `{"conversations_memory":null,"project_memories":{"p":5},"memory_files":[{"path":"me.md","content":"# Me\n\nAda"},{"what":1}]}`,
			"3 met\n1 memory_files[0]: \"Ada\" category=Me source=me.md\n1 project_memories.p: failed: unknown format; skipped 1 bytes\n1 memory_files[1]: failed: unknown format; skipped 10 bytes\n"},
		"a text with dates": {"claude", "[2025-01-02] - one\n[2025-01-03] - two\nand more\n", "2 met\n1: \"one\"\n2: \"two\\nand more\"\n"},
		"chats":             {"claude", `[{"chat_messages":[]}]`, "error: " + errChats.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(readers[c.reader](strings.NewReader(c.text), &Options{Now: noon})); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestIdsStay reads the same twice, at another time and into another collection.
func TestIdsStay(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"chroma":  `[{"id":"a","document":"one"},{"id":7,"document":"two"},{"document":"three"},{"id":"0B54D5A3-5A4B-4C53-8A27-111111111111","document":"four"}]`,
		"qdrant":  `[{"id":1,"payload":{"content":"one"}},{"payload":{"content":"two"}}]`,
		"notes":   "## Key Topics\n- one\n- two\n",
		"chatgpt": "one\ntwo\n",
		"claude":  "one\n\ntwo\n",
	} {
		ids := func(o *Options) (out []memory.ID) {
			h, err := readers[name](strings.NewReader(text), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range h.Records {
				if _, err := memory.ParseID(string(r.ID)); err != nil || slices.Contains(out, r.ID) {
					t.Errorf("%s: %q has the id %s, %v", name, r.Content, r.ID, err)
				}
				out = append(out, r.ID)
			}
			return out
		}
		first := ids(&Options{Now: noon})
		if again := ids(&Options{Now: noon.Add(time.Hour)}); !slices.Equal(again, first) {
			t.Errorf("%s: an hour later the ids are %s, and were %s", name, again, first)
		}
		if other := ids(&Options{Now: noon, Collection: "other"}); slices.Equal(other, first) {
			t.Errorf("%s: the ids of another collection are the same", name)
		}
	}
}

// Of a file that is something else altogether not every number is told of.
func TestNotAllIsToldOfAFileThatIsNone(t *testing.T) {
	t.Parallel()
	h, err := Chroma(strings.NewReader("["+strings.Repeat("0.5,", MaxSkips+5)+"0.5]"), &Options{Now: noon})
	if err != nil || h.Met != MaxSkips+6 || len(h.Skips) != MaxSkips || h.Unlisted != 6 {
		t.Errorf("%d met, %d told, %d more, %v", h.Met, len(h.Skips), h.Unlisted, err)
	}
}

// What is related may be in another file of the same collection.
func TestRelationsBetweenFiles(t *testing.T) {
	t.Parallel()
	for _, collection := range []string{"", "project"} {
		o := &Options{Now: noon, Collection: collection}
		one, err := Chroma(strings.NewReader(`[{"id":"a","document":"one","metadata":{"related_memories":["b"]}}]`), o)
		if err != nil {
			t.Fatal(err)
		}
		other, err := Chroma(strings.NewReader(`[{"id":"b","document":"two"}]`), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Relations) != 1 || one.Relations[0].To != other.Records[0].ID {
			t.Errorf("in %q the relations are %+v, and the other has the id %s", collection, one.Relations, other.Records[0].ID)
		}
	}
}

func TestWhatAStoreSays(t *testing.T) {
	t.Parallel()
	h, err := Chroma(strings.NewReader(`[{"id":"a","document":"one","metadata":{"category":"c","confidence":0.5,"importance":2,"strength":1.5,"tags":["A b","!"],
		"entities":"Ada, Bob","added_at":"2025-01-02","updated_at":1735800000,"access_count":3,"last_accessed_ts":1735800000.5,"session_id":"s","embedding_version":"mini",
		"collection":"mine","docstring":null,"gone":null}}]`), &Options{Now: noon, Tags: []string{"imported"}})
	if err != nil {
		t.Fatal(err)
	}
	m := h.Records[0].Memory
	if m.Category != "c" || m.Confidence != 0.5 || m.Importance != 0.5 || m.Strength != 1.5 || m.AccessCount != 3 || m.SessionID != "s" ||
		m.EmbeddingVersion != "mini" || m.Collection != "mine" || !slices.Equal(m.Entities, []string{"Ada", "Bob"}) || !slices.Equal(m.Tags, []string{"imported"}) {
		t.Errorf("read %+v", m)
	}
	if !m.CreatedAt.Equal(time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC)) || m.UpdatedAt.Unix() != 1735800000 || m.LastAccessed.UnixMilli() != 1735800000500 {
		t.Errorf("made %v, changed %v, found %v", m.CreatedAt, m.UpdatedAt, m.LastAccessed)
	}
	if len(m.Meta) != 3 || string(m.Meta["importance"]) != "2" || string(m.Meta["docstring"]) != "null" || string(m.Meta["tags"]) != `["A b","!"]` {
		t.Errorf("meta is %s", m.Meta)
	}
}

// A year and a place in a recording are no times of 1970.
func TestNumbersThatAreNoTimes(t *testing.T) {
	t.Parallel()
	h, err := ChatGPT(strings.NewReader("[2024] - one\n[1735800000] - two\n[1975-03-01] - three\n"), &Options{Now: noon})
	if err != nil || len(h.Records) != 3 {
		t.Fatalf("%+v, %v", h, err)
	}
	for i, want := range []struct{ text, day string }{{"[2024] - one", "2026-03-01"}, {"two", "2025-01-02"}, {"three", "1975-03-01"}} {
		if r := h.Records[i]; r.Content != want.text || r.CreatedAt.Format(time.DateOnly) != want.day {
			t.Errorf("read %q of %v, want %q of %s", r.Content, r.CreatedAt, want.text, want.day)
		}
	}
	h, err = Chroma(strings.NewReader(`[{"id":"a","document":"one","metadata":{"timestamp":90.5}}]`), &Options{Now: noon})
	if err != nil || !h.Records[0].CreatedAt.Equal(noon) || string(h.Records[0].Meta["timestamp"]) != "90.5" {
		t.Errorf("read %+v, %v", h, err)
	}
}

// archive writes files, as zip or as a tar in gzip.
func archive(t *testing.T, name string, files ...string) string {
	t.Helper()
	var out bytes.Buffer
	if strings.HasSuffix(name, ".zip") {
		z := zip.NewWriter(&out)
		for i := 0; i < len(files); i += 2 {
			w, err := z.Create(files[i])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write([]byte(files[i+1]))
		}
		_ = z.Close()
	} else {
		g := gzip.NewWriter(&out)
		w := tar.NewWriter(g)
		for i := 0; i < len(files); i += 2 {
			_ = w.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Typeflag: tar.TypeReg})
			_, _ = w.Write([]byte(files[i+1]))
		}
		_, _ = w.Close(), g.Close()
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestArchives(t *testing.T) {
	t.Parallel()
	type reader = func(context.Context, string, *Options) (*Result, error)
	gpt, claude := reader(ChatGPTArchive), reader(ClaudeArchive)
	for name, c := range map[string]struct {
		read  reader
		file  string
		files []string
		want  string
	}{
		"ChatGPT":           {gpt, "a.zip", []string{"conversations.json", `[{"mapping":{}}]`, "x/memory.json", `["one"]`}, "1 met\nx/memory.json 1 [0]: \"one\"\n"},
		"ChatGPT in a tar":  {gpt, "a.tar.gz", []string{"memories.json", `["one"]`}, "1 met\nmemories.json 1 [0]: \"one\"\n"},
		"only chats":        {gpt, "a.zip", []string{"conversations.json", `[]`}, "error: the archive does not contain memory.json; copy the memories from Settings > Personalization > Manage memories into a text file, one per line, and import that file"},
		"a name that leads": {gpt, "a.zip", []string{"../memory.json", `[]`}, `error: archive A contains the name "../memory.json", which leads outside the target folder`},
		"no archive":        {gpt, "a.zip", nil, "0"},
		"Claude":            {claude, "a.zip", []string{"memories/acct.json", `{"conversations_memory":"**Work**\n\none","project_memories":{"p":"two"}}`, "projects/p.json", `{"uuid":"p","name":"Engine"}`, "conversations.json", "["}, "2 met\nmemories/acct.json 1 conversations_memory: \"one\" category=Work\nmemories/acct.json 1 project_memories.p: \"two\" project=Engine\n"},
		"names of nothing":  {claude, "a.zip", []string{"projects.json", "7", "memories.json", `[{"project_memories":{"p":"two"}}]`}, "1 met\nmemories.json 1 [0].project_memories.p: \"two\" project=p\nprojects.json 0: note: cannot read the project names in this file, so emberd uses the project IDs\n"},
		"no memories":       {claude, "a.zip", []string{"users.json", `[]`}, "error: the archive does not contain memories.json; copy the memories from Settings > Capabilities > Memory into a text file, and import that file"},
	} {
		path := archive(t, c.file, c.files...)
		got := strings.ReplaceAll(told(c.read(t.Context(), path, &Options{Now: noon})), path, "A")
		if c.want != "0" && got != c.want || c.want == "0" && !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// TestNoMoreIsReadThanTheBound reads to the bound, and says what to do beyond it.
func TestNoMoreIsReadThanTheBound(t *testing.T) {
	t.Parallel()
	text, err := io.ReadAll(&bounded{strings.NewReader("0123456789"), 4})
	if string(text) != "0123" || memory.CodeOf(err) != memory.TooLarge || !strings.Contains(err.Error(), "export the data in parts") {
		t.Errorf("read %q, %v", text, err)
	}
}

// FuzzReaders reads anything: it becomes memories that could be saved and are read again with
// the same ids, or is told of.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{
		`{"ids":["a"],"documents":["one"],"metadatas":[{"related_memories":["a","b"],"tags":"x"}]}`,
		`{"collections":{"a":{"ids":[1],"documents":["x"]}}}`,
		`{"result":{"points":[{"id":1,"payload":{"name":"A","observations":["x"]}}],"next_page_offset":2}}`,
		`[{"id":1,"payload":{"from":"A","to":"B","relationType":"is"}}]`,
		"# Working Memory\n*Updated: 2025-01-15T10:30:00*\n\n## Key Topics\n- one\n  two\n\n## System\n<!-- x -->\n1. y",
		"[2025-01-02] - one\n**Head**\n- two\n```\nthree",
		`[{"conversations_memory":"**A**\n\nb","project_memories":{"p":"c"},"memory_files":[{"path":"a","content":"b"}]}]`,
		`{"memories":[{"id":"m","content":"x","enabled":true}]}`,
		"\ufeff\r\n- \xff\n", `[[[[`, `{"a":`, "\x00", `{"collections":{""00`,
		"---\ntitle: A\npermalink: a/b\ntags: [x, y]\n---\n# A\n- [fact] b #c (d)\n- is [[E]] (f)\n[[G|h]]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkHaul(t, "basic-memory", noteOf(t, text))
		for name, read := range readers {
			h, err := read(strings.NewReader(text), &Options{Now: noon})
			if err != nil {
				if strings.Contains(err.Error(), "\n") || !utf8.ValidString(err.Error()) {
					t.Errorf("%s: an error of more than one line: %q", name, err)
				}
				continue
			}
			checkHaul(t, name, h)
			again, err := read(strings.NewReader(text), &Options{Now: noon.Add(time.Hour)}) // which the ids do not depend on
			if err != nil || len(again.Records) != len(h.Records) {
				t.Fatalf("%s: read again: %v", name, err)
			}
			for i := range h.Records {
				if h.Records[i].ID != again.Records[i].ID {
					t.Errorf("%s: %q has another id the second time", name, h.Records[i].Content)
				}
			}
		}
	})
}

func checkHaul(t *testing.T, name string, h *Result) {
	t.Helper()
	if len(h.Records) > h.Met {
		t.Errorf("%s: %d memories of %d that were met", name, len(h.Records), h.Met)
	}
	for _, r := range h.Records {
		if err := memory.CheckContent(r.Content); err != nil {
			t.Errorf("%s: %q cannot be saved: %v", name, r.Content, err)
		}
		if err := memory.CheckAliases(r.Aliases); err != nil {
			t.Errorf("%s: %q: %v", name, r.Aliases, err)
		}
		if r.CreatedAt.IsZero() || r.ID == "" {
			t.Errorf("%s: %q has no time or no id", name, r.Content)
		}
		for key, value := range r.Meta {
			if !utf8.Valid(value) {
				t.Errorf("%s: meta %q is not UTF-8", name, key)
			}
		}
	}
	for _, s := range h.Skips {
		if strings.Contains(s.Err.Error(), "\n") {
			t.Errorf("%s: a reason of more than one line: %q", name, s.Err)
		}
	}
	for _, r := range h.Relations {
		if r.From == "" || r.To == "" || r.From == r.To {
			t.Errorf("%s: a relation from %q to %q", name, r.From, r.To)
		}
	}
}

// An id means the record of the same collection, and one of another only where there is no other choice.
func TestRelatedInTheSameCollection(t *testing.T) {
	h, err := Chroma(strings.NewReader(`{"collections":[
		{"name":"knowledge","ids":["u","1"],"documents":["one","two"],"metadatas":[{"related_memories":["1","only","both"]},null]},
		{"name":"other","ids":["1","only","both"],"documents":["other one","only","b"]},
		{"name":"third","ids":["both"],"documents":["c"]}]}`), &Options{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	text := map[memory.ID]string{}
	for _, r := range h.Records {
		text[r.ID] = r.Content
	}
	var got []string
	for _, r := range h.Relations {
		got = append(got, text[r.To])
	}
	if want := []string{"two", "only"}; !slices.Equal(got, want) {
		t.Errorf("the relations lead to %q, want %q", got, want)
	}
	if len(h.Skips) != 1 || !h.Skips[0].Minor || !strings.Contains(h.Skips[0].Err.Error(), `"both" matches 2 records`) {
		t.Errorf("told is %v", h.Skips)
	}
}
