package sessions

import (
	"context"
	"slices"
	"strings"

	"emberd/engine/search"
	"emberd/internal/staticmodel"
	"emberd/internal/text"
	"emberd/internal/text/analysis"
	"emberd/internal/words"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// What a prompt gets. The bounds were chosen on the odd questions of LoCoMo's development half;
// docs/internals/evaluation.md has the table of the even ones.
const (
	maxHits       = 30 // that are looked at
	maxRecalled   = 3  // that are shown
	leastWords    = 2  // of a prompt that ask for anything
	briefWords    = 3  // below which only a rare word counts
	leastRelevant = 0.5
	rareRelevant  = 0.7 // from which one rare word is enough
	informative   = 2   // words that a memory must share
	maxQuery      = 4000
)

// A word says something of a project if few of its memories have it, unless it is one of the most frequent words of
// English. In a small project it does if it is not frequent in English at all.
const (
	informativeShare = 0.03
	rareShare        = 0.005
	smallProject     = 200

	// These are places in the vocabulary of package staticmodel, whose words begin near 300.
	everyday      = 600
	frequentPlace = 4_000
	knownPlace    = 15_000
)

// prompt returns what a model is told beside a prompt.
func (e *Sessions) prompt(ctx context.Context, req *op.HookRequest) (*op.HookResult, error) {
	res := &op.HookResult{}
	told, asks, err := e.asked(req)
	if err != nil || !asks {
		return res, err
	}
	hits, err := e.recall(ctx, req, told)
	if err != nil || len(hits) == 0 {
		return res, err
	}
	b := &block{e: e, project: req.Project}
	p := part{heading: "These memories might be relevant to the user's message:"}
	for _, h := range hits {
		p.items = append(p.items, item{*h.Memory, line(&h.Memory.Memory)})
	}
	b.parts = append(b.parts, p)
	out, shown := b.text(e.Opt.Hooks.PromptTokens)
	if len(shown) == 0 {
		return res, nil
	}
	on := e.Opt.Hooks.Recall == RecallOn
	if on {
		res.Text = out
		e.Recall.Remember(&op.ListResult{Memories: shown})
	}
	return res, e.use(req, func(r *record) (save, error) {
		if r.Answered++; on {
			r.tell(shown, op.Tokens(out))
		} else {
			r.try(shown)
		}
		return later, nil
	})
}

// asked counts a prompt, and reports whether it asks for anything.
func (e *Sessions) asked(req *op.HookRequest) (told []memory.ID, asks bool, err error) {
	prompt := strings.TrimSpace(req.Prompt)
	err = e.use(req, func(r *record) (save, error) {
		if r.repeated("prompt "+prompt, e.Opt.Now()) {
			return nothing, nil
		}
		r.Prompts++
		asks = e.Opt.Hooks.Recall != RecallOff && !strings.HasPrefix(prompt, "/")
		told = slices.Clone(r.Told)
		if r.Prompts == 1 {
			return later, nil
		}
		return nothing, nil
	})
	return told, asks, err
}

// recall returns the memories that bear on a prompt, the best first.
func (e *Sessions) recall(ctx context.Context, req *op.HookRequest, told []memory.ID) ([]op.Hit, error) {
	terms := e.Text.Query(text.First(req.Prompt, maxQuery))
	n := distinct(terms)
	if n < leastWords {
		return nil, nil
	}
	res, err := e.Search.Asked(ctx, &op.SearchRequest{Query: plain(req.Prompt, terms), Scope: search.ScopeMemories,
		Limit: maxHits, Explain: true, Trial: true, IncludeReview: new(false)})
	if err != nil {
		return nil, err
	}
	g := e.newGate(req, terms)
	g.brief = n < briefWords
	var out []op.Hit
	for _, h := range res.Hits {
		if len(out) < maxRecalled && h.Memory != nil && !slices.Contains(told, h.ID) && e.mayTell(req, &h) &&
			g.passes(&h) {
			out = append(out, h)
		}
	}
	return out, nil
}

// mayTell reports whether a memory may be told in a session, however well it fits.
func (e *Sessions) mayTell(req *op.HookRequest, h *op.Hit) bool {
	return (h.Project == req.Project || h.Project == "") && h.SessionID != req.Session && h.Superseded == nil &&
		!h.DataOnly()
}

func distinct(terms []analysis.Term) int {
	seen := map[string]bool{}
	for _, t := range terms {
		seen[t.Text] = true
	}
	return len(seen)
}

// plain returns the words of a prompt, without what would be operators in a query.
func plain(prompt string, terms []analysis.Term) string {
	var out []string
	end := 0
	for _, t := range terms {
		if t.Start >= end {
			out, end = append(out, prompt[t.Start:t.End]), t.End
		}
	}
	return strings.Join(out, " ")
}

// gate decides which hits of a prompt are told.
type gate struct {
	e       *Sessions
	accept  func(*stm.Row) bool
	brief   bool              // the prompt has few words
	of      int               // memories of the project
	surface map[string]string // of a term, the word of the prompt
	known   map[string]rarity
}

// rarity is how much a shared word says.
type rarity int

const (
	common rarity = iota
	says
	rare
)

func (e *Sessions) newGate(req *op.HookRequest, terms []analysis.Term) *gate {
	g := &gate{e: e, surface: map[string]string{}}
	g.accept = func(r *stm.Row) bool { return r.Project() == req.Project || r.Project() == "" }
	for _, t := range terms {
		g.surface[t.Text] = req.Prompt[t.Start:t.End]
	}
	if g.of = e.Stm.OfProject(req.Project); req.Project != "" {
		g.of += e.Stm.OfProject("")
	}
	return g
}

// passes reports whether a hit is relevant and shares words that say something.
func (g *gate) passes(h *op.Hit) bool {
	if h.Relevance < leastRelevant || h.Explain == nil {
		return false
	}
	some, one := 0, false
	for _, term := range shared(h.Explain.Terms) {
		switch g.rarity(term) {
		case rare:
			some, one = some+1, true
		case says:
			some++
		}
	}
	return some >= informative && !g.brief || one && h.Relevance >= rareRelevant
}

// shared returns the terms of a prompt that a memory has, each once.
func shared(all []op.TermExplain) (terms []string) {
	for _, t := range all {
		if t.For == "" && !slices.Contains(terms, t.Term) {
			terms = append(terms, t.Term)
		}
	}
	return terms
}

func (g *gate) rarity(term string) rarity {
	if g.known == nil {
		g.known = map[string]rarity{}
		for _, t := range g.e.Text.Terms(orderWords) {
			g.known[t.Text] = common
		}
	}
	if r, known := g.known[term]; known {
		return r
	}
	var r rarity
	if g.of < smallProject {
		r = byLanguage(g.surface[term])
	} else {
		r = g.byProject(term, g.surface[term])
	}
	g.known[term] = r
	return r
}

// orderWords are what orders to a coding agent are made of. They say nothing of a project, whatever its memories have.
const orderWords = `fix test run commit push pull merge rebase build compile refactor rename move add remove delete
	update upgrade install write rewrite read check review explain show tell find search look open close start stop
	restart make try change clean format lint fail pass error bug issue crash warning function method class variable
	file folder line code comment docstring readme document import log diff branch request server page work happen use
	set need help`

// byProject judges a term by the share of the project's memories that have it.
func (g *gate) byProject(term, word string) rarity {
	if place := staticmodel.Default().Place(strings.ToLower(word)); place >= 0 && place < everyday {
		return common
	}
	found := g.e.Stm.Search(stm.Query{Terms: []words.QueryTerm{{Term: term, Weight: 1}}, Accept: g.accept,
		Enough: int(informativeShare*float64(g.of)) + 1})
	switch share := float64(found.Total) / float64(g.of); {
	case share <= rareShare:
		return rare
	case share <= informativeShare:
		return says
	}
	return common
}

// byLanguage judges a word by how frequent it is in English.
func byLanguage(word string) rarity {
	place := staticmodel.Default().Place(strings.ToLower(word))
	switch {
	case place < 0 || place > knownPlace:
		return rare
	case place > frequentPlace:
		return says
	}
	return common
}
