package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

type agentOpenIn struct {
	Refs      []string `json:"refs" min:"1" max:"50" doc:"memory IDs or note paths"`
	From      int      `json:"from,omitempty" min:"0" max:"1048576" doc:"characters to skip"`
	MaxTokens int      `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000" doc:"token limit of the answer"`
}

type agentOpenOut struct {
	Items   []resultItem `json:"items"`
	Missing []string     `json:"missing,omitempty"`
	continuation
}

// agentOpen reads what is named, in that order, as far as it fits.
func agentOpen(ctx context.Context, c *tool.Call, in *agentOpenIn) (*agentOpenOut, error) {
	out := &agentOpenOut{Items: []resultItem{}}
	left := newBudget(c, in.MaxTokens-openRest(in.Refs, in.MaxTokens, in.From).cost())
	var last error
	advise := agentAdvice()
	for i, ref := range in.Refs {
		from := 0
		if i == 0 {
			from = in.From
		}
		s, more, err := opened(ctx, c, ref, from, in.MaxTokens)
		if e := tool.AsError(err); e != nil && missing(e.Code) {
			last = err
			if said := advise(e.Message); left.take(said, said) {
				out.Missing = append(out.Missing, said)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if fit := left.takeText(&s); !fit || s.Cut || more {
			if !fit && len(out.Items) == 0 {
				out.continuation = continuation{true, tooSmall}
				return out, nil
			}
			next := from
			if fit {
				out.Items = append(out.Items, s)
				next += utf8.RuneCountInString(s.Text)
			}
			out.continuation = openRest(in.Refs[i:], in.MaxTokens, next)
			return out, nil
		}
		out.Items = append(out.Items, s)
	}
	if len(out.Items) == 0 {
		return nil, last
	}
	return out, nil
}

// missing are errors about one of several that are named.
func missing(code memory.Code) bool {
	return code == memory.NotFound || code == memory.Ambiguous || code == memory.Conflict || code == memory.Invalid
}

// takeText takes in as much of an item as fits, and reports whether that is anything.
func (b *budget) takeText(s *resultItem) bool {
	return b.take(s.render(depthWhole), s) || s.shorten(b, depthWhole)
}

// openRest returns the call that reads on, of the first of the refs from some character. It
// has a quarter of the answer; of more refs than that holds, the model has the names.
func openRest(refs []string, most, from int) continuation {
	var names []string
	for _, r := range refs {
		names = append(names, shortRef(r))
	}
	for {
		raw, _ := wire.Marshal(agentOpenIn{Refs: names, From: from}) // texts and a number always encode
		r := continuation{true, "memory_open " + string(raw)}
		if n := len(refs) - len(names); n > 0 {
			r.Next += fmt.Sprintf(", then open the last %d memories or notes", n)
		}
		if len(names) == 1 || r.cost() <= most/4 {
			return r
		}
		names = names[:len(names)/2]
	}
}

// cost returns how many tokens r has in the larger of its forms.
func (r continuation) cost() int {
	raw, _ := wire.Marshal(r)
	return max(op.Tokens(r.line()), op.Tokens(string(raw)))
}

// shortRef returns a shorter name of a memory.
func shortRef(ref string) string {
	if id, err := memory.ParseID(ref); err == nil {
		return id.Short()
	}
	return ref
}

// maxLinks are shown of a memory, each way.
const maxLinks = 10

const (
	memoryScheme = "memory://"
	vaultScheme  = "vault://"
)

// memoryRef returns the name of a memory, also if it is given as the URI of a resource.
func memoryRef(ref string) string { return strings.TrimPrefix(ref, memoryScheme) }

// memoryRefs returns memoryRef for each.
func memoryRefs(refs []string) (out []string) {
	for _, ref := range refs {
		out = append(out, memoryRef(ref))
	}
	return out
}

// isNote tells the path of a note from an id.
func isNote(ref string) bool {
	return strings.HasPrefix(ref, vaultScheme) || strings.Contains(ref, "/") ||
		strings.HasSuffix(strings.ToLower(ref), ".md")
}

// opened reads one memory or note from some character on. more says that its text does
// not end here.
func opened(ctx context.Context, c *tool.Call, ref string, from, most int) (s resultItem, more bool, err error) {
	if id, ok := strings.CutPrefix(ref, memoryScheme); ok {
		ref = id
	} else if isNote(ref) {
		s, more, err = openedNote(ctx, c, strings.TrimPrefix(ref, vaultScheme), from, most)
		if e := tool.AsError(err); e == nil || !missing(e.Code) || strings.HasPrefix(ref, vaultScheme) {
			return s, more, err
		}
		if m, more, notMemory := openedMemory(ctx, c, ref, from); notMemory == nil { // an alias may look like a path
			return m, more, nil
		}
		return s, more, err
	}
	return openedMemory(ctx, c, ref, from)
}

// openedMemory is opened for a memory.
func openedMemory(ctx context.Context, c *tool.Call, ref string, from int) (s resultItem, more bool, err error) {
	var track *bool
	if from > 0 {
		track = new(false) // the first part was the use
	}
	res, err := op.OpenMany.Call(ctx, c, &op.OpenManyRequest{IDs: []string{ref}, Track: track})
	if err != nil {
		return s, false, err
	}
	if len(res.Memories) == 0 {
		if _, err = op.Show.Call(ctx, c, &op.ShowRequest{ID: ref, Track: track}); err == nil {
			err = memory.Errorf(memory.NotFound, "memory %.40q was just saved; open the memory again", ref)
		}
		return s, false, err // which says more
	}
	m := res.Memories[0].Memory
	text := []rune(m.Content)
	if from > len(text) {
		return s, false, memory.Errorf(memory.Invalid,
			"memory %s has %d characters, so \"from\" %d is out of range; use a smaller value", m.ID.Short(), len(text),
			from).At("from")
	}
	s = showMemory(&m, string(text[from:]))
	s.Links, s.Importance, s.Source = linksOf(res.Memories[0].Relations), m.Importance, sourceOf(&m)
	if m.Stage.Cold() && m.NoteGone.IsZero() && m.VaultPath != "" {
		s.State += fmt.Sprintf("; for the full text, call memory_open %q", m.VaultPath)
	}
	return s, false, nil
}

// linksOf returns where a memory leads, and what leads to it.
func linksOf(r *op.RelationsOf) []string {
	var out []string
	for i, of := range r.Outgoing {
		if i == maxLinks {
			break
		}
		out = append(out, "this "+answer.OneLine(cmp.Or(of.Kind, of.Type))+" ["+of.To.Short()+"]")
	}
	for i, of := range r.Incoming {
		if i == maxLinks {
			break
		}
		out = append(out, "["+of.From.Short()+"] "+answer.OneLine(cmp.Or(of.Kind, of.Type))+" this")
	}
	if n := len(r.Outgoing) + len(r.Incoming) - len(out); n > 0 {
		out = append(out, plural(n, "more relation", "more relations"))
	}
	return out
}

func openedNote(ctx context.Context, c *tool.Call, path string, from, most int) (s resultItem, more bool, err error) {
	res, err := op.NoteRead.Call(ctx, c, &op.NoteReadRequest{Path: path, From: from, Limit: 4 * most})
	if err != nil {
		return s, false, err
	}
	s = resultItem{Path: res.Path, When: "changed " + day(res.Modified), Text: res.Text, Cut: res.Left > 0,
		Origin: fromNote, Trust: memory.TrustUser}
	if res.Beyond {
		s.State = "emberd read only the first MiB of the note"
	}
	return s, res.Left > 0, nil
}

// Text returns the text for the model.
func (o *agentOpenOut) Text() string {
	var b strings.Builder
	for i := range o.Items {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(o.Items[i].render(depthWhole))
	}
	for _, m := range o.Missing {
		b.WriteString("missing: " + m + "\n")
	}
	b.WriteString(o.line())
	return b.String()
}
