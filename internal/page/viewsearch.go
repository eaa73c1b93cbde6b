package page

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"emberd/memory"
	"emberd/op"
)

// found is the answer to a search, or the newest memories without a query.
type found struct {
	Query, Scope, Project, Tag, Stage string
	Projects, Tags                    []string
	Stages                            []memory.Stage
	Hits                              []hit
	Recent                            []op.Memory
	Total                             int
	Result                            *op.SearchResult
}

// hit is one result with its text in pieces.
type hit struct {
	op.Hit
	Parts []part
}

// maxHits is how many results a view shows.
const maxHits = 30

func viewSearch(ctx context.Context, p *Page, r *http.Request) (any, error) {
	q := r.URL.Query()
	f := found{Query: q.Get("q"), Scope: q.Get("scope"), Project: q.Get("project"), Tag: q.Get("tag"),
		Stage: q.Get("stage"), Stages: memory.Stages()}
	if !ofPart(r) {
		if err := f.offer(ctx, p); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(f.Query) == "" {
		return f, f.list(ctx, p)
	}
	return f, f.search(ctx, p)
}

// offer fills in what the filters offer.
func (f *found) offer(ctx context.Context, p *Page) (err error) {
	if f.Projects, err = p.complete(ctx, op.CompleteProjects, f.Project); err != nil {
		return err
	}
	f.Tags, err = p.complete(ctx, op.CompleteTags, f.Tag)
	return err
}

// complete returns the names that memories have most often, and the chosen one among them.
func (p *Page) complete(ctx context.Context, what, chosen string) (names []string, err error) {
	res, err := op.Complete.Call(ctx, p.backend, &op.CompleteRequest{What: what, Limit: 100})
	if err != nil {
		return nil, err
	}
	there := chosen == ""
	for _, v := range res.Values {
		names, there = append(names, v.Value), there || v.Value == chosen
	}
	if !there {
		names = append(names, chosen)
	}
	return names, nil
}

func (f *found) filter() op.Filter {
	filter := op.Filter{Project: f.Project}
	if f.Tag != "" {
		filter.Tags = []string{f.Tag}
	}
	if stage, err := memory.ParseStage(f.Stage); err == nil {
		filter.Stages = []memory.Stage{stage}
	}
	return filter
}

func (f *found) list(ctx context.Context, p *Page) error {
	res, err := op.List.Call(ctx, p.backend, &op.ListRequest{Filter: f.filter(), Limit: maxHits})
	if err != nil {
		return err
	}
	f.Recent, f.Total = res.Memories, res.Total
	return nil
}

// search asks without leaving a trace: looking at results is not a use.
func (f *found) search(ctx context.Context, p *Page) error {
	res, err := op.Search.Call(ctx, p.backend, &op.SearchRequest{Query: f.Query, Scope: f.Scope, Filter: f.filter(),
		Limit: maxHits, Explain: true, Trial: true})
	if err != nil {
		return err
	}
	for _, h := range res.Hits {
		f.Hits = append(f.Hits, hit{h, snippetParts(h.Snippet)})
	}
	f.Total, f.Result = res.Total, res
	return nil
}

// whyNot explains why a search does not show something.
type whyNot struct {
	Query, Of string
	Result    *op.WhyNotResult
	Problem   string
}

func viewWhyNot(ctx context.Context, p *Page, r *http.Request) (any, error) {
	q := r.URL.Query()
	w := whyNot{Query: q.Get("q"), Of: strings.TrimSpace(q.Get("of"))}
	if w.Of == "" {
		return w, nil
	}
	f := found{Project: q.Get("project"), Tag: q.Get("tag"), Stage: q.Get("stage")}
	res, err := op.WhyNot.Call(ctx, p.backend,
		&op.WhyNotRequest{Query: w.Query, Of: w.Of, Scope: q.Get("scope"), Filter: f.filter(), Limit: maxHits})
	if err != nil {
		w.Problem = err.Error()
	}
	w.Result = res
	return w, nil
}

// opened is a note with the link by which Obsidian opens it.
type opened struct {
	Path string
	Link obsidianLink
}

func viewOpen(ctx context.Context, p *Page, r *http.Request) (any, error) {
	res, err := op.Open.Call(ctx, p.backend, &op.OpenRequest{Ref: r.URL.Query().Get("ref")})
	if err != nil {
		return nil, err
	}
	return opened{res.Path, linkOf(res.URI)}, nil
}

// linkOf returns a link to Obsidian as a template can use it, "" for any other address.
func linkOf(uri string) obsidianLink {
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "obsidian" || at.Host != "open" {
		return ""
	}
	return obsidianLink(at.String())
}
