package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/internal/cli"
	"emberd/memory"
)

// importMemories is how many are in a file of BenchmarkImport, importWords how long each is.
const (
	importMemories = 10_000
	importWords    = 45
	importNotes    = 2_000
)

// BenchmarkImport reads 10,000 memories of each kind of file, or 2,000 notes, into the empty store of a
// daemon: tried first, then in earnest, then once more, and taken back.
//
//	go test -run '^$' -bench Import -benchtime 1x ./cmd/emberd
func BenchmarkImport(b *testing.B) {
	for _, kind := range []string{"chroma", "qdrant", "notes", "chatgpt", "claude", "csv", "jsonl", "cortexgraph", "reference", "basic-memory"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				im := newImporting(b)
				path := im.write(kind)
				for _, step := range [][]string{{"dry-s", "import", kind, path, "--dry-run"}, {"first-s", "import", kind, path}, {"again-s", "import", kind, path}, {"undo-s", "undo"}} {
					before := im.memories()
					im.run(step[0], step[1:])
					if got := im.memories() - before; !im.expected(step[0], got) {
						b.Fatalf("emberd %s: %d memories more", strings.Join(step[1:], " "), got)
					}
				}
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// importing is a daemon and the folder that things come from.
type importing struct {
	b               *testing.B
	dir, home, self string
	rng             *rand.Rand
}

func newImporting(b *testing.B) *importing {
	b.Helper()
	dir, err := os.MkdirTemp("/tmp", "em")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	im := &importing{b: b, dir: dir, home: filepath.Join(dir, "h"), self: self, rng: rand.New(rand.NewPCG(1, 2))}
	d, err := startDaemon(b.Context(), self, im.home, im.home+".log", cli.ForeignFree(os.Environ()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := d.stop(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
	})
	return im
}

// run times a command.
func (im *importing) run(metric string, args []string) {
	im.b.Helper()
	cmd := exec.Command(im.self, append(args, "--home", im.home)...)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	im.b.ReportMetric(time.Since(begun).Seconds(), metric)
	if err != nil {
		im.b.Fatalf("emberd %s: %v\n%.2000s", strings.Join(args, " "), err, out)
	}
}

// memories is how many there are.
func (im *importing) memories() int {
	im.b.Helper()
	cmd := exec.Command(im.self, "status", "--json", "--home", im.home)
	cmd.Args[0], cmd.Env = "emberd", cli.ForeignFree(os.Environ())
	out, err := cmd.Output()
	var st struct{ Memories int }
	if err = errors.Join(err, json.Unmarshal(out, &st)); err != nil {
		im.b.Fatalf("emberd status: %v\n%s", err, out)
	}
	return st.Memories
}

// expected reports whether a step made as many memories more as it is named for.
func (im *importing) expected(step string, more int) bool {
	switch step {
	case "first-s":
		return more >= importNotes
	case "undo-s":
		return more <= -importNotes
	}
	return more == 0
}

// text is a memory of words, most of which others have too.
func (im *importing) text() string {
	words := make([]string, importWords)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", int(im.rng.ExpFloat64()*400))
	}
	return strings.Join(words, " ")
}

func (im *importing) texts() []string {
	out := make([]string, importMemories)
	for i := range out {
		out[i] = im.text()
	}
	return out
}

// write makes what is imported, and returns its path.
func (im *importing) write(kind string) string {
	write := map[string]func() string{
		"chroma": im.chroma, "qdrant": im.qdrant, "notes": im.notes, "chatgpt": im.chatgpt, "claude": im.claude,
		"csv": im.csv, "jsonl": im.jsonl, "cortexgraph": im.cortexgraph, "reference": im.reference, "basic-memory": im.basicMemory,
	}[kind]
	return write()
}

func (im *importing) file(name, text string) string {
	path := filepath.Join(im.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		im.b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		im.b.Fatal(err)
	}
	return path
}

func (im *importing) asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		im.b.Fatal(err)
	}
	return string(text)
}

// object is one of JSON.
type object = map[string]any

func (im *importing) lines(name string, of []object) string {
	var b strings.Builder
	for _, o := range of {
		b.WriteString(im.asJSON(o) + "\n")
	}
	return im.file(name, b.String())
}

func (im *importing) chroma() string {
	texts := im.texts()
	ids, metas := make([]string, len(texts)), make([]object, len(texts))
	for i := range texts {
		ids[i], metas[i] = fmt.Sprint("k", i), object{"category": "kitchen", "related_memories": []string{fmt.Sprint("k", (i+1)%len(texts))}}
	}
	return im.file("chroma.json", im.asJSON(object{"ids": ids, "documents": texts, "metadatas": metas}))
}

func (im *importing) qdrant() string {
	var points []object
	for i, text := range im.texts() {
		points = append(points, object{"id": 2*i + 1, "payload": object{"entityType": "note", "name": fmt.Sprint("Name ", i), "content": text}},
			object{"id": 2*i + 2, "payload": object{"from": fmt.Sprint("Name ", i), "to": fmt.Sprint("Name ", (i+1)%importMemories), "relationType": "precedes"}})
	}
	return im.file("qdrant.json", im.asJSON(object{"result": object{"points": points}}))
}

func (im *importing) notes() string {
	return im.file("notes.md", "# Working Memory\n\n## Key Topics\n- "+strings.Join(im.texts(), "\n- ")+"\n")
}

func (im *importing) chatgpt() string {
	var list []object
	for i, text := range im.texts() {
		list = append(list, object{"id": fmt.Sprint("m", i), "content": text, "created_at": "2025-01-01T00:00:00Z"})
	}
	return im.file("memory.json", im.asJSON(list))
}

func (im *importing) claude() string {
	return im.file("memories.json", im.asJSON([]object{{"conversations_memory": "**Work**\n\n- " + strings.Join(im.texts(), "\n- "), "account_uuid": "u"}}))
}

func (im *importing) csv() string {
	return im.file("table.csv", "content\n"+strings.Join(im.texts(), "\n")+"\n")
}

func (im *importing) jsonl() string {
	var list []object
	for _, text := range im.texts() {
		list = append(list, object{"content": text})
	}
	return im.lines("lines.jsonl", list)
}

func (im *importing) cortexgraph() string {
	var memories, relations []object
	id := func(i int) memory.ID { return memory.DeriveID(fmt.Append(nil, i%importMemories)) }
	for i, text := range im.texts() {
		memories = append(memories, object{"id": id(i), "content": text, "created_at": 1759833600 + i, "last_used": 1759833600 + i})
		relations = append(relations, object{"id": fmt.Sprint("r", i), "from_memory_id": id(i), "to_memory_id": id(i + 1), "relation_type": "supports", "strength": 0.5, "created_at": 1759833600})
	}
	im.lines("store/relations.jsonl", relations)
	return filepath.Dir(im.lines("store/memories.jsonl", memories))
}

// reference has an observation an entity.
func (im *importing) reference() string {
	var list []object
	for i, text := range im.texts() {
		list = append(list, object{"type": "entity", "name": fmt.Sprint("Name ", i), "entityType": "note", "observations": []string{text}})
	}
	for i := range list {
		list = append(list, object{"type": "relation", "from": fmt.Sprint("Name ", i), "to": fmt.Sprint("Name ", (i+1)%importMemories), "relationType": "precedes"})
	}
	return im.lines("memory.jsonl", list)
}

// basicMemory is notes of five observations and a relation.
func (im *importing) basicMemory() string {
	for i := range importNotes {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntitle: Name %d\ntype: note\npermalink: name-%d\n---\n\n# Name %d\n\n", i, i, i)
		for range 5 {
			fmt.Fprintf(&b, "- [fact] %s\n", im.text())
		}
		fmt.Fprintf(&b, "- precedes [[Name %d]]\n", (i+1)%importNotes)
		im.file(fmt.Sprintf("bm/%d.md", i), b.String())
	}
	return filepath.Join(im.dir, "bm")
}
