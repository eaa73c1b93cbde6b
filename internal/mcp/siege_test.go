package mcp

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"emberd/engine"
	"emberd/internal/text/invisible"
	"emberd/internal/wire"
	"emberd/op"
)

// canary is a word that each text of a siege has and nothing that emberd says.
const canary = "quorvex"

// hostileCall is a line of testdata/injection/calls.txt.
type hostileCall struct {
	tool, args string
	fails      bool
}

func hostileCalls(t *testing.T) (calls []hostileCall) {
	t.Helper()
	raw, err := os.ReadFile("testdata/injection/calls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		line, fails := strings.CutSuffix(line, " !")
		tool, args, _ := strings.Cut(line, " ")
		calls = append(calls, hostileCall{tool, args, fails})
	}
	return calls
}

// siege is what a hostile call may name.
type siege struct {
	e     *engine.Engine
	text  string
	names *strings.Replacer
}

// besiege saves an attack wherever a memory has room for it.
func besiege(t *testing.T, e *engine.Engine, a attack) *siege {
	t.Helper()
	s := &siege{e: e, text: a.text + " " + canary}
	res, err := op.Promote.Call(t.Context(), e, &op.PromoteRequest{ID: s.save(t), Force: true})
	if err != nil {
		t.Fatalf("%q: %v", a.text, err)
	}
	s.names = s.name(t, res.Path)
	return s
}

// save saves the attack once more, in other words.
func (s *siege) save(t *testing.T) string {
	t.Helper()
	req := &op.SaveRequest{Content: s.text + " " + rand.Text(), Source: s.text, Context: s.text, Entities: []string{s.text}, Tags: []string{s.text},
		Category: s.text, Again: true, Provenance: op.Provenance{Quote: s.text}}
	for _, room := range []*[]string{nil, &req.Tags, &req.Entities} {
		if room != nil {
			*room = []string{canary}
		}
		if res, err := op.Save.Call(t.Context(), s.e, req); err == nil {
			return string(res.Memory.ID)
		}
	}
	req.Source, req.Context, req.Category, req.Quote = "", "", "", ""
	res, err := op.Save.Call(t.Context(), s.e, req)
	if err != nil {
		t.Fatalf("%q: %v", s.text, err)
	}
	return string(res.Memory.ID)
}

// name makes what a call may name.
func (s *siege) name(t *testing.T, note string) *strings.Replacer {
	t.Helper()
	one, two, gone := s.save(t), s.save(t), s.save(t)
	rel, err := op.Relate.Call(t.Context(), s.e, &op.RelateRequest{From: one, To: two, Type: "related"})
	if err != nil {
		t.Fatal(err)
	}
	item, err := op.ReviewCreate.Call(t.Context(), s.e, &op.ReviewCreateRequest{MemoryIDs: []string{one}, Evidence: s.text})
	if err != nil {
		t.Fatal(err)
	}
	forgot, err := op.Forget.Call(t.Context(), s.e, &op.ForgetRequest{ID: gone})
	if err != nil {
		t.Fatal(err)
	}
	in := func(text string) string {
		raw, err := wire.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw[1 : len(raw)-1])
	}
	return strings.NewReplacer("$text", in(s.text), "$words", canary+" annual attack", "$tag", canary, "$one", one, "$two", two, "$gone", gone,
		"$relation", string(rel.Relation.ID), "$item", item.Item.ID, "$tx", forgot.Tx, "$note", in(note))
}

// TestCase65NoToolLetsATextOut calls every tool of the profiles with a fence, those that
// change something and those that are refused included, where all texts are attacks.
func TestCase65NoToolLetsATextOut(t *testing.T) {
	calls := hostileCalls(t)
	for _, p := range []Profile{Agent, All} {
		e := newStore(t, newClock(), map[string]string{"Home.md": "# Home\n" + canary + "\n"})
		to := newSession(t, e, p)
		left := maps.Clone(to.tools)
		maps.DeleteFunc(left, func(_ string, tool *checked) bool { return owner(tool) != p })
		all := attacks(t)
		for i, c := range slices.Concat(calls, calls) { // each meets two attacks, and in the lists all of them
			if tool := to.tools[c.tool]; tool == nil || owner(tool) != p {
				continue
			}
			a := all[i%len(all)]
			if a.kind == "long" {
				a = all[0]
			}
			if besiege(t, e, a).call(t, to, c) != c.fails {
				delete(left, c.tool)
			}
		}
		for name := range left {
			t.Errorf("testdata/injection/calls.txt has no call of %s that comes out as it says", name)
		}
	}
}

// call makes a call and looks at everything that comes back for what leaves its place.
func (s *siege) call(t *testing.T, to *session, c hostileCall) (ok bool) {
	t.Helper()
	args := s.names.Replace(c.args)
	res, answer := to.callTool(c.tool, json.RawMessage(args)) // which checks the fence and the schema
	what := fmt.Sprintf("%s %.200s", c.tool, args)
	for _, raw := range append(to.told, answer.Result, answer.Error) {
		if hiddenInJSON(t, raw) || invisible.Hidden(string(raw)) {
			t.Errorf("%s is answered with hidden characters: %.500q", what, raw)
		}
	}
	switch {
	case res == nil:
		return false
	case res.IsError:
		refusedInASentence(t, what, res)
		return false
	case c.fails:
		t.Errorf("%s is answered: %.300s", what, res.whole)
	}
	if _, after := withinFence(t, res.whole); strings.Contains(after, canary) {
		t.Errorf("%s has a stored text behind the fence: %s", what, after)
	}
	return true
}

// refusedInASentence looks at an error: one JSON object, in which what was sent or stored is
// told of in part and in one line.
func refusedInASentence(t *testing.T, what string, res *result) {
	t.Helper()
	var f struct {
		Success bool
		Message string
	}
	if err := json.Unmarshal([]byte(res.text()), &f); err != nil || f.Success || f.Message == "" {
		t.Errorf("%s is refused with %.500q", what, res.text())
	}
	if strings.ContainsAny(f.Message, "\n\r\u2028\u2029\u0085") || len(f.Message) > 1200 || invisible.Hidden(f.Message) {
		t.Errorf("%s is refused with what is no sentence: %.1500q", what, f.Message)
	}
}
