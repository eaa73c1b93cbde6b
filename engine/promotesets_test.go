package engine_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/engine/graph"
	"emberd/engine/notes"
	"emberd/engine/promote"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/neutralize"
)

// Programs that read properties, a line of JSON each with the YAML and what it should
// say: PyYAML as YAML 1.1, and the npm package yaml (found by NODE_PATH) as both.
const (
	readByPython = `
import json, sys, yaml
n = 0
for line in sys.stdin:
    c = json.loads(line)
    got = yaml.safe_load(c["yaml"])
    got = {k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in got.items()}
    if got != c["want"]: sys.exit("%r is read as %r, want %r" % (c["yaml"], got, c["want"]))
    n += 1
print(n)`
	readByNode = `
const YAML = require("yaml"), assert = require("assert")
let n = 0
for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n")) {
  const c = JSON.parse(line)
  for (const version of ["1.1", "1.2"]) {
    const got = YAML.parse(c.yaml, { version })
    for (const k in got) if (got[k] instanceof Date) got[k] = got[k].toISOString().slice(0, 19)
    assert.deepStrictEqual(got, c.want, c.yaml)
  }
  n++
}
console.log(n)`
)

// Whatever the text and the fields of a memory, its note is valid YAML of either version
// with the types of Obsidian, and is read back with that text.
func TestPromotedNotesOfTheSets(t *testing.T) {
	t.Parallel()
	var cases bytes.Buffer
	texts, kept := oddTexts(t), 0
	for i, text := range texts {
		m := oddMemory(i, text)
		data := promote.NoteBytes(m)
		c := vault.CarriedBy(data)
		if c == nil || c.ID != string(m.ID) || c.Body != neutralize.Body(m.Content) {
			t.Fatalf("the note of %.200q is read as %+v", text, c)
		}
		if got, want := len(notes.Agreed(m, c)), 5; got == want {
			kept++
		}
		head, _, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		if !ok {
			t.Fatalf("the note of %.200q has no properties", text)
		}
		line, err := json.Marshal(map[string]any{"yaml": head, "want": told(m)})
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(append(line, '\n'))
	}
	if kept != len(texts) {
		t.Errorf("%d of %d notes agree with their memory", kept, len(texts))
	}
	for _, reader := range [][]string{{"python3", "-c", readByPython}, {"node", "-e", readByNode}} {
		t.Run(reader[0], func(t *testing.T) {
			missing := map[string]string{"python3": "import yaml", "node": `require("yaml")`}[reader[0]]
			if exec.CommandContext(t.Context(), reader[0], reader[1], missing).Run() != nil {
				t.Skipf("%s with a YAML module is missing", reader[0])
			}
			cmd := exec.CommandContext(t.Context(), reader[0], reader[1:]...)
			cmd.Stdin = bytes.NewReader(cases.Bytes())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %.4000s", err, out)
			}
			t.Logf("%s notes read by %s", bytes.TrimSpace(out), reader[0])
		})
	}
}

// Case 57 with every text: each memory gets a note of its own, inside the folder, under
// a name that Obsidian and sync tools can live with.
func TestCase57NotesOfAllTexts(t *testing.T) {
	t.Parallel()
	texts := oddTexts(t)
	h := promotingHouse(t, nil)
	h.DetectSecrets = false
	e := h.following(t)
	paths, short := map[string]memory.ID{}, 0
	for i, text := range texts {
		if memory.CheckContent(text) != nil || os.Getenv("EMBERD_PROOF") == "" && i%10 != 0 {
			continue
		}
		id := save(t, e, text).ID
		got := promoteByID(t, e, id)
		if other, taken := paths[strings.ToLower(got.Path)]; taken || got.Outcome != op.PromotionWritten {
			t.Fatalf("%.100q: %s %q (%s), which is the note of %q", text, got.Outcome, got.Path, got.Reason, other)
		}
		paths[strings.ToLower(got.Path)] = id
		if name := filepath.Base(got.Path); filepath.Dir(got.Path) != "Memories" || len(name) > 140 || strings.ContainsAny(name, `\[]#^|:?*"<>`) {
			t.Errorf("%.100q is the note %q", text, got.Path)
		}
		if strings.Contains(got.Path, id.Short()) {
			short++
		}
		note, err := e.Notes.Vault.Root.Load().Read(t.Context(), got.Path)
		if err != nil || !promote.Carries(note, id) || len(notes.Agreed(&got.Memory.Memory, note.Carried)) != 5 {
			t.Errorf("%.100q: its note is read as %+v, %v", text, note, err)
		}
	}
	if got := len(h.files(t)); got != len(paths) {
		t.Errorf("%d files for %d memories", got, len(paths))
	}
	t.Logf("%d notes, %d of them told apart by the memory's id", len(paths), short)
}

// oddMemory has pieces of a text in every field that a note shows.
func oddMemory(i int, text string) *memory.Memory {
	piece := func(from int) string {
		letters := []rune(text)
		from = min(from, len(letters))
		return string(letters[from:min(from+60, len(letters))])
	}
	created := time.UnixMilli(1_700_000_000_000 + int64(i)*86_399_999).UTC()
	m := &memory.Memory{ID: memory.DeriveID([]byte(text)), Content: text, Category: strings.TrimSpace(piece(0)), Type: piece(10), Source: text,
		Strength: float64(i%21) / 10, Stage: memory.Stages()[i%4], CreatedAt: created, UpdatedAt: created.Add(time.Duration(i%3) * time.Second)}
	for from := range 5 {
		if tag, err := memory.NormalizeTag(piece(7 * from)); err == nil {
			m.Tags = append(m.Tags, tag)
		}
		m.Entities = append(m.Entities, piece(11*from))
	}
	m.Tags, _ = memory.NormalizeTags(m.Tags)
	m.Sources = []memory.Source{{Kind: piece(5), Ref: piece(20)}}
	if aliases, err := json.Marshal([]string{piece(3), piece(30)}); err == nil {
		m.Meta = map[string]json.RawMessage{"aliases": aliases}
	}
	return m
}

// told is what the properties should say, as JSON has it.
func told(m *memory.Memory) map[string]any {
	const clock = "2006-01-02T15:04:05"
	want := map[string]any{"memory-id": m.ID, "created": m.CreatedAt.Format(clock), "entities": graph.Spelled(m)}
	if aliases := graph.AliasesOf(m); len(aliases) > 0 {
		want["aliases"] = aliases
	}
	if sources := graph.SourcesOf(m); len(sources) > 0 {
		want["sources"] = sources
	}
	if m.UpdatedAt.Unix() != m.CreatedAt.Unix() {
		want["updated"] = m.UpdatedAt.Format(clock)
	}
	for key, text := range map[string]string{"category": m.Category, "type": m.Type, "source": m.Source} {
		if text != "" {
			want[key] = text
		}
	}
	if len(m.Tags) > 0 {
		want["tags"] = m.Tags
	}
	if m.Strength != 1 {
		want["strength"] = m.Strength
	}
	return want
}

// oddTexts are the notes, Markdown cases and YAML cases of the sets.
func oddTexts(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("EMBERD_SETS")
	if dir == "" {
		t.Skip("EMBERD_SETS names no test data")
	}
	odd := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "python3", filepath.Join(dir, "gen_oddvault.py"), odd).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	var texts []string
	add := func(text string) {
		if letters := []rune(strings.ToValidUTF8(text, "?")); len(letters) > 0 {
			texts = append(texts, string(letters[:min(len(letters), memory.MaxContent)]))
		}
	}
	for _, root := range []string{filepath.Join(dir, "markdown"), filepath.Join(dir, "vaults"), odd} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			switch filepath.Ext(name) {
			case ".jsonl":
				for line := range bytes.Lines(data) {
					var c struct{ Markdown, YAML string }
					if json.Unmarshal(line, &c) == nil {
						add(c.Markdown)
						add(c.YAML)
					}
				}
			case ".md", ".yaml", "":
				add(string(data))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
