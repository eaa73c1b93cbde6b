package notewrite

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"emberd/engine/core"
	"emberd/memory"
	"emberd/op"
	"emberd/vault"
	"emberd/vault/linkindex"
)

// Bounds of the answer about a note.
const (
	defaultTokens = 4_000
	maxTokens     = 20_000
	minTokens     = 500
	maxMemories   = 5
	queryWords    = 20
	memoryLetters = 300 // of a related memory
)

// Context returns a note with its links and related memories. The text has two thirds of the bound, and what
// links and memories leave.
func (e *NoteWrite) Context(ctx context.Context, req *op.NoteContextRequest) (*op.NoteContextResult, error) {
	if err := e.Notes.NeedVault(); err != nil {
		return nil, err
	}
	bound := cmp.Or(req.MaxTokens, defaultTokens)
	err := core.FirstError(memory.CheckRange("max_tokens", float64(bound), minTokens, maxTokens),
		memory.CheckRange("from", float64(req.From), 0, maxNote))
	if err != nil {
		return nil, err
	}
	name, err := e.named(ctx, req.Path)
	if err != nil {
		return nil, err
	}
	read, err := e.Notes.NoteRead(ctx, &op.NoteReadRequest{Path: name, From: req.From, Limit: 200_000})
	if err != nil {
		return nil, asSent(err, name, req.Path)
	}
	note, err := e.Notes.Vault.Root.Load().Read(ctx, name)
	if err != nil {
		return nil, asSent(e.errWrite(name, err), name, req.Path)
	}
	res := &op.NoteContextResult{Path: name, Digest: hexDigest(note.Digest)[:16], Modified: read.Modified,
		Outgoing: []op.NoteLink{}, Incoming: []string{}, Memories: []op.RelatedText{}}
	e.advise(name, req.Path, note, res)
	left := bound - e.around(ctx, note, res, bound/3)
	n := textWithin(read.Text, left)
	res.Text = read.Text[:n]
	if n < len(read.Text) || read.Left > 0 {
		res.Next = req.From + utf8.RuneCountInString(res.Text)
	}
	return res, nil
}

// advise says whether the caller can change the note, and how otherwise.
func (e *NoteWrite) advise(name, sent string, note *vault.Note, res *op.NoteContextResult) {
	err := e.CheckPlace(name)
	switch {
	case err != nil:
	case note.Carried != nil:
		err = e.checkOwner(name, []byte(note.Text))
	case note.List != "":
		err = e.errOwn(name)
	}
	if res.Writable = err == nil; err != nil {
		res.Advice = asSent(err, name, sent).Error()
	}
}

// textWithin returns how many bytes of a text have at most so many tokens, up to the end of a line if that is near.
func textWithin(text string, tokens int) int {
	if op.Tokens(text) <= tokens {
		return len(text)
	}
	low, high := 0, len(text)
	for low < high {
		if mid := (low + high + 1) / 2; op.Tokens(text[:mid]) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	if line := strings.LastIndexByte(text[:low], '\n'); line > low/2 {
		low = line + 1
	}
	return low
}

// around fills in links and memories, within a bound, and returns how many tokens they have.
func (e *NoteWrite) around(ctx context.Context, note *vault.Note, res *op.NoteContextResult, bound int) (used int) {
	take := func(text string) bool {
		cost := op.Tokens(text) + 4
		if used+cost > bound {
			res.More++
			return false
		}
		used += cost
		return true
	}
	if links, err := e.Notes.Vault.AllLinks(ctx); err == nil {
		e.links(note, links, res, take)
	}
	for _, m := range e.related(ctx, note) {
		if take(m.Text) {
			res.Memories = append(res.Memories, m)
		}
	}
	return used
}

func (e *NoteWrite) links(note *vault.Note, links *linkindex.Index, res *op.NoteContextResult,
	take func(string) bool) {
	for _, from := range links.Backlinks(note.Path) {
		if take(from) {
			res.Incoming = append(res.Incoming, from)
		}
	}
	seen := make(map[string]bool)
	for _, l := range note.Links {
		to, _ := links.Resolve(note.Path, l.Target)
		if key := cmp.Or(to, l.Target); !seen[key] && to != note.Path {
			seen[key] = true
			if take(l.Target + to) {
				link := op.NoteLink{Target: l.Target, Path: to, Line: l.Line, Embed: l.Embed}
				res.Outgoing = append(res.Outgoing, link)
			}
		}
	}
}

// related returns the memory of a note, and memories about what its title and headings name.
func (e *NoteWrite) related(ctx context.Context, note *vault.Note) (out []op.RelatedText) {
	own, _ := memory.ParseID(note.MemoryID)
	if row, live := e.Stm.Get(own); own != "" && live {
		out = append(out, op.RelatedText{ID: own, Text: firstLetters(row.Content()), Why: "own"})
	}
	query := queryOf(note)
	if query == "" {
		return out
	}
	found, err := e.Search.Search(ctx,
		&op.SearchRequest{Query: query, Scope: "memories", Limit: maxMemories, Trial: true})
	if err != nil {
		return out
	}
	for _, h := range found.Hits {
		if h.Memory != nil && h.Memory.ID != own {
			out = append(out, op.RelatedText{ID: h.Memory.ID, Text: firstLetters(h.Memory.Content), Why: "similar"})
		}
	}
	return out
}

func firstLetters(text string) string { return text[:core.ByteOf(text, memoryLetters)] }

// queryOf returns the words of a note's title and headings, and of its beginning.
func queryOf(note *vault.Note) string {
	var words []string
	add := func(text string) {
		apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
		for _, w := range strings.FieldsFunc(text, apart) {
			if len(words) < queryWords && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	add(note.Title)
	for i := range note.Sections {
		add(note.Sections[i].Heading)
	}
	for i := range note.Sections {
		add(note.Sections[i].Text)
	}
	return strings.Join(words, " ")
}
