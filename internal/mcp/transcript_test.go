package mcp

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/txtar"

	"emberd/engine"
	"emberd/memory"
	"emberd/op"
)

var update = flag.Bool("update", false, "rewrite what testdata expects")

// TestTranscripts plays the conversations of testdata/*.txtar, each against a server
// over a store of its own, and compares every answer. The comment of an archive says
// what it is about; a line "profile: NAME" in it chooses the profile, cortexgraph
// otherwise. Files below vault/ are a vault. Every other file is a turn of the client,
// which the file named "=" after it answers. A turn has lines of
//
//	save_memory {"content":"…"}     a call of a tool
//	~status {}                      one whose answer differs from run to run: only that
//	                                it fits its schema is kept
//	tools/list {}                   any other request
//	advance 72h                     the clock moves
//	notes 3                         wait until the vault is known to have so many notes
//
// <id1> is the first id that was met, or its short form where that is all that was shown,
// <end1> its short form, <nobody> one that no memory has, <50 x> is fifty of them, <50 "x"> as items of a
// list. What differs from run to run is masked in answers; the text of a result is
// shown where it is not its structured content.
func TestTranscripts(t *testing.T) {
	files, played := transcripts(t), make(map[Profile][]made)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, calls := play(t, archive)
			p := profileOf(t, archive)
			played[p] = append(played[p], calls...)
			files = files[1:]
			if !*update {
				compare(t, archive, got)
			} else if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	if len(files) == 0 { // all were asked for
		everyToolWasCalled(t, played)
	}
}

func transcripts(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts are %v, %v", files, err)
	}
	return files
}

func compare(t *testing.T, want, got *txtar.Archive) {
	if len(want.Files) != len(got.Files) {
		t.Fatalf("it has %d files, want %d: -update adds what is missing", len(want.Files), len(got.Files))
	}
	turn := ""
	for i, f := range got.Files {
		if f.Name != answerFile {
			turn = f.Name
		}
		if w := want.Files[i]; w.Name != f.Name || !bytes.Equal(w.Data, f.Data) {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", turn, f.Data, w.Data)
		}
	}
}

const (
	answerFile  = "="
	vaultFolder = "vault/"
)

// play returns the archive with the answers that were given, and the calls of tools.
func play(t *testing.T, archive *txtar.Archive) (*txtar.Archive, []made) {
	var notes map[string]string
	for _, f := range archive.Files {
		if path, ok := strings.CutPrefix(f.Name, vaultFolder); ok {
			if notes == nil {
				notes = make(map[string]string)
			}
			notes[path] = string(f.Data)
		}
	}
	p := player{t: t, clock: newClock(), masks: map[string]string{nobody: "<nobody>"}, met: make(map[string]int)}
	p.engine = newStore(t, p.clock, notes)
	p.session = newSession(t, p.engine, profileOf(t, archive))
	out := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if f.Name == answerFile {
			continue
		}
		out.Files = append(out.Files, f)
		if !strings.HasPrefix(f.Name, vaultFolder) {
			out.Files = append(out.Files, txtar.File{Name: answerFile, Data: []byte(p.turn(string(f.Data)))})
		}
	}
	return out, p.calls
}

// everyToolWasCalled asks for a call of each tool that went well, and for one with an
// id that nobody has where it takes ids.
func everyToolWasCalled(t *testing.T, played map[Profile][]made) {
	for _, p := range Profiles() {
		good, lost := make(map[string]bool), make(map[string]bool)
		for _, c := range played[p] {
			good[c.tool] = good[c.tool] || c.ok
			lost[c.tool] = lost[c.tool] || strings.Contains(c.args, "<nobody>")
		}
		for name, tool := range checkedTools(t, p) {
			if owner(tool) != p {
				continue
			}
			if !good[name] && !onlyDamage()[name] {
				t.Errorf("no transcript of profile %s has a call of %s that goes well", p, name)
			}
			if param := idParameter(tool.Tool); param != "" && !lost[name] {
				t.Errorf("no transcript of profile %s calls %s with <nobody> as %s", p, name, param)
			}
		}
	}
}

// idParameter is the parameter of a tool that names something there is, "" for none.
func idParameter(tool *sdk.Tool) string {
	schema, ok := tool.InputSchema.(*jsonschema.Schema)
	if !ok {
		return ""
	}
	for _, name := range []string{"memory_id", "memory_ids", "id", "ids", "of", "from_memory_id", "from", "cluster_id"} {
		if p := schema.Properties[name]; p != nil && p.Type != "integer" && (name != "id" || slices.Contains(schema.Required, name)) {
			return name
		}
	}
	return ""
}

// onlyDamage are tools that have nothing to answer in a store that is well.
func onlyDamage() map[string]bool {
	return map[string]bool{"quarantine_show": true, "quarantine_accept": true, "stale_decide": true}
}

func profileOf(t testing.TB, archive *txtar.Archive) Profile {
	t.Helper()
	for line := range strings.Lines(string(archive.Comment)) {
		if name, ok := strings.CutPrefix(line, "profile: "); ok {
			p, err := ParseProfile(strings.TrimSpace(name))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	return CortexGraph
}

// player speaks the lines of a transcript.
type player struct {
	*session
	t      *testing.T
	clock  *clock
	engine *engine.Engine
	masks  map[string]string // what was met, and what is shown for it
	met    map[string]int    // how many of a kind were
	calls  []made
}

// made is a call of a tool as a transcript has it.
type made struct {
	tool string
	args string
	ok   bool
}

// turn plays the lines of one file and returns what was answered.
func (p *player) turn(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case verb == "":
		case verb == "advance":
			d, err := time.ParseDuration(rest)
			if err != nil {
				p.t.Fatal(err)
			}
			p.clock.advance(d)
		case verb == "notes":
			until(p.t, "the vault has "+rest+" notes", func() bool { return p.notes() == rest })
		default:
			verb, differs := strings.CutPrefix(verb, "~")
			answer := p.answer(verb, p.spelled(rest))
			ok := !strings.HasPrefix(answer, "failed ")
			p.calls = append(p.calls, made{verb, rest, ok})
			if ok && differs {
				answer = "answered"
			}
			out.WriteString(p.masked(answer) + "\n")
		}
	}
	return out.String()
}

// notes is how many notes the engine knows.
func (p *player) notes() string {
	res, err := op.Status.Call(p.t.Context(), p.engine, &op.StatusRequest{})
	if err != nil {
		p.t.Fatal(err)
	}
	return strconv.Itoa(res.Vaults[0].Notes)
}

// answer is one line of a turn, and what came back for people to read.
func (p *player) answer(verb string, params json.RawMessage) string {
	if !json.Valid(params) {
		p.t.Fatalf("%s: %.200s is not JSON", verb, params)
	}
	var b strings.Builder
	var res *result
	var got reply
	if strings.Contains(verb, "/") {
		got = p.ask(verb, params)
	} else {
		res, got = p.callTool(verb, params)
	}
	for _, n := range p.told {
		b.WriteString("told " + string(n) + "\n")
	}
	switch {
	case got.Error != nil:
		b.WriteString("error " + string(got.Error))
	case res == nil:
		b.WriteString(indented(got.Result))
	case res.IsError:
		b.WriteString("failed " + res.text())
	case res.Structured == nil:
		b.WriteString(indented(json.RawMessage(res.text())))
	default:
		if !same(json.RawMessage(res.text()), res.Structured) {
			b.WriteString(res.text() + "\n")
		}
		b.WriteString(indented(res.Structured))
	}
	return b.String()
}

// same reports whether two texts are the same JSON.
func same(a, b json.RawMessage) bool {
	return json.Valid(a) && bytes.Equal(op.Canonical(a), op.Canonical(b))
}

// indented writes JSON for people: < stays <.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return unescaped.Replace(b.String())
}

var unescaped = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

var (
	repeated = regexp.MustCompile(`<(\d+) ("?[^">]+"?)>`)
	// Times, and what the log has by now: uses of memories are written in the background.
	varying = regexp.MustCompile(`("(?:ms|log_bytes)": ?)\d+`)
	shown   = regexp.MustCompile(`<(nobody|[a-z]+\d+)>`)
	// What differs from run to run: ids, and entries of the journal with what revisions add
	// to them, clusters, relations, cursors, times and folders of this run.
	ids      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	shortIDs = regexp.MustCompile(`\[([0-9a-f]{8})\] `)
	maskable = []struct {
		name string
		in   *regexp.Regexp
	}{
		{"tx", regexp.MustCompile(`[0-9a-f]{12}-[0-9a-f]{4}-[a-z2-7]{8}(?:-[0-9a-f]{8})?`)},
		{"cluster", regexp.MustCompile(`cluster-[0-9a-f]{16}`)},
		{"rel", regexp.MustCompile(`rel-[0-9a-f]{8,32}`)},
		{"item", regexp.MustCompile(`rev-[0-9a-f]{32}`)},
		{"run", regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{4}`)},
		{"now", regexp.MustCompile(time.Now().UTC().Format("2006-01-") + `\d\dT[0-9:.]+Z`)},
		{"dir", regexp.MustCompile(`/[^" ]*/Test[^" /]+/\d+`)},
		{"mark", regexp.MustCompile(`BEGIN DATA ([A-Z2-7]{20}) `)},
		{"cursor", regexp.MustCompile(`"([A-Za-z0-9_-]{44})\\?"`)},
	}
)

// spelled writes out what a transcript abbreviates.
func (p *player) spelled(text string) json.RawMessage {
	if text == "" {
		text = "{}"
	}
	text = repeated.ReplaceAllStringFunc(text, func(s string) string {
		m := repeated.FindStringSubmatch(s)
		n, err := strconv.Atoi(m[1])
		if err != nil {
			p.t.Fatal(err)
		}
		if strings.HasPrefix(m[2], `"`) {
			return strings.TrimSuffix(strings.Repeat(m[2]+",", n), ",")
		}
		return strings.Repeat(m[2], n)
	})
	return json.RawMessage(shown.ReplaceAllStringFunc(text, func(mask string) string {
		for _, name := range []string{mask, strings.Replace(mask, "<id", "<end", 1)} {
			for real, m := range p.masks {
				if m == name {
					return real
				}
			}
		}
		p.t.Fatalf("%s was not met yet", mask)
		return ""
	}))
}

// end returns what is shown for the short form of an id.
func (p *player) end(short string) string {
	if p.masks[short] == "" {
		p.met["id"]++
		p.masks[short] = fmt.Sprintf("<end%d>", p.met["id"])
	}
	return p.masks[short]
}

// masked replaces what differs from run to run, the same by the same. Behind <id1> is
// an id, behind <end1> its last characters, which are its short form.
func (p *player) masked(text string) string {
	text = varying.ReplaceAllString(text, "${1}0")
	for _, id := range ids.FindAllString(text, -1) {
		if p.masks[id] == "" {
			p.masks[id] = "<id" + strings.TrimPrefix(p.end(memory.ID(id).Short()), "<end")
		}
	}
	for _, found := range shortIDs.FindAllStringSubmatch(text, -1) {
		p.end(found[1])
	}
	for _, m := range maskable {
		for _, found := range m.in.FindAllStringSubmatch(text, -1) {
			real := found[len(found)-1]
			if p.masks[real] == "" {
				p.met[m.name]++
				p.masks[real] = fmt.Sprintf("<%s%d>", m.name, p.met[m.name])
			}
		}
	}
	longestFirst := slices.SortedFunc(maps.Keys(p.masks), func(a, b string) int { return len(b) - len(a) })
	for _, real := range longestFirst {
		text = strings.ReplaceAll(text, real, p.masks[real])
	}
	return text
}
