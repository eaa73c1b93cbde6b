package cortexgraph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/mcp/tool"
	"emberd/internal/wire"
	"emberd/memory"
	"emberd/op"
)

type searchMemoryIn struct {
	Query         string         `json:"query,omitempty" max:"4096" doc:"words to search for, with operators such as \"a phrase\", -word or tag:x; without query, emberd sorts memories by decay score"`
	Tags          []string       `json:"tags,omitempty" max:"50" doc:"return only results with all of these tags"`
	Status        wire.OneOrMore `json:"status,omitempty" max:"5" doc:"return only memories with this status (active, promoted or archived), or with one of a list of statuses; default: active and promoted"`
	TopK          int            `json:"top_k,omitempty" min:"1" max:"100" default:"10" doc:"maximum number of results; if page or page_size is set, page_size replaces top_k"`
	WindowDays    int            `json:"window_days,omitempty" min:"1" max:"3650" doc:"return only memories used in the last N days"`
	MinScore      float64        `json:"min_score,omitempty" min:"0" max:"1" doc:"return only memories with at least this decay score"`
	UseEmbeddings bool           `json:"use_embeddings,omitempty" default:"false" doc:"true: search by embeddings and words; if no embedding is available, emberd searches by words only and sets compared_by to \"words\""`
	Review        *bool          `json:"include_review_candidates,omitempty" default:"true" doc:"true: if page and page_size are missing, also return a few memories that match the query and fade soon"`
	Page          int            `json:"page,omitempty" min:"1" max:"1000000" doc:"page number, from 1; without page and page_size, the answer is not split into pages"`
	PageSize      int            `json:"page_size,omitempty" min:"1" max:"100" doc:"number of results on a page, default 10"`
	PreviewLength int            `json:"preview_length,omitempty" min:"0" max:"5000" default:"300" doc:"maximum number of characters of each memory text; 0 returns whole texts"`
}

type FoundMemories struct {
	Success    bool           `json:"success"`
	Count      int            `json:"count"`
	Results    []foundMemory  `json:"results"`
	Pagination *op.Pagination `json:"pagination,omitempty"`
	Message    string         `json:"message,omitempty"`
}

type foundMemory struct {
	ID         memory.ID `json:"id"`
	Content    string    `json:"content"`
	Tags       []string  `json:"tags"`
	Score      decimal   `json:"score" doc:"decay score of the memory"`
	Similarity *decimal  `json:"similarity" doc:"similarity of the memory and the query, 0 to 1; without embeddings, the share of query words that the memory contains; without a query, null"`
	ComparedBy string    `json:"compared_by,omitempty" enum:"vectors|words" doc:"\"vectors\" if emberd compared the query with the memory by embeddings, otherwise \"words\""`
	UseCount   int64     `json:"use_count"`
	LastUsed   int64     `json:"last_used" doc:"time of the last use, in seconds since 1970"`
	AgeDays    decimal   `json:"age_days"`
}

// wordsOnly returns the message for a search that requested embeddings and used none, "" otherwise.
func wordsOnly(m *op.Meaning) string {
	switch {
	case m == nil:
		return "No embedding model: the query was searched by its words."
	case m.Without != "":
		return "The query was searched by its words: " + m.Without + "."
	}
	return ""
}

func searchMemory(ctx context.Context, c *tool.Call, in *searchMemoryIn) (*FoundMemories, error) {
	status, err := statuses(in.Status)
	if err != nil {
		return nil, err
	}
	req := &op.SearchRequest{Query: in.Query, Scope: "memories", Limit: in.TopK, IncludeReview: in.Review,
		Explain: true,
		Filter:  op.Filter{Tags: in.Tags, Status: status, WindowDays: float64(in.WindowDays), MinScore: in.MinScore}}
	var page *op.Pagination
	if in.Page > 0 || in.PageSize > 0 {
		page = &op.Pagination{Page: max(1, in.Page), PageSize: in.PageSize}
		if page.PageSize == 0 {
			page.PageSize = defaultPageSize
		}
		req.Limit, req.Offset, req.IncludeReview = page.PageSize, (page.Page-1)*page.PageSize, new(false)
		if req.Offset > op.MaxOffset {
			return nil, memory.Errorf(memory.Invalid,
				"page %d of %d begins after the first %d results; narrow the search", page.Page, page.PageSize,
				op.MaxOffset).At("page")
		}
	}
	if !in.UseEmbeddings {
		req.MeaningWeight = new(0.0)
	}
	search := op.Search.Call
	if strings.TrimSpace(in.Query) == "" {
		search = byScore
	}
	res, err := search(ctx, c, req)
	if err != nil {
		return nil, err
	}
	out := &FoundMemories{Success: true, Count: len(res.Hits), Pagination: page}
	for _, h := range res.Hits {
		out.Results = append(out.Results, found(&h, req.Query, in.PreviewLength))
	}
	if page != nil {
		paged(page, res.Total)
	}
	if in.UseEmbeddings && in.Query != "" {
		out.Message = wordsOnly(res.Meaning)
	}
	return out, nil
}

// byScore answers a search without a query by the memories with the highest decay scores.
func byScore(ctx context.Context, c op.Invoker, req *op.SearchRequest) (*op.SearchResult, error) {
	out := &op.SearchResult{Hits: []op.Hit{}}
	end := req.Offset + cmp.Or(req.Limit, defaultPageSize)
	list := &op.ListRequest{Filter: req.Filter, Sort: "score", Limit: min(end, memory.MaxResults)}
	for {
		page, err := op.List.Call(ctx, c, list)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			out.Hits = append(out.Hits, op.Hit{Tier: op.TierMemory, Memory: &page.Memories[i]})
		}
		if out.Total, list.Cursor = page.Total, page.NextCursor; list.Cursor == "" || len(out.Hits) >= end {
			out.Hits = out.Hits[min(req.Offset, len(out.Hits)):min(end, len(out.Hits))]
			return out, nil
		}
	}
}

// defaultPageSize is that of CortexGraph, as is the default of top_k.
const defaultPageSize = 10

// paged completes the members of a page.
func paged(p *op.Pagination, total int) {
	p.TotalCount, p.TotalPages = total, (total+p.PageSize-1)/p.PageSize
	p.HasMore = p.Page < p.TotalPages
}

// statuses returns the requested statuses in the spelling of [op.Filter].
func statuses(list []string) (string, error) {
	if len(list) == 0 {
		return "active,promoted", nil
	}
	for i, s := range list {
		if strings.ContainsRune(s, ',') || strings.TrimSpace(s) == "" {
			return "", memory.Errorf(memory.Invalid, "status[%d] is %.40q; use active, promoted or archived", i,
				s).At("status")
		}
	}
	return strings.Join(list, ","), nil
}

func found(h *op.Hit, query string, preview int) foundMemory {
	out := foundMemory{ID: h.ID, Content: similarity.Truncate(h.Content, preview), Tags: h.Tags,
		Score:    round(h.Score, 4),
		UseCount: h.UseCount, LastUsed: epoch(h.LastUsed), AgeDays: round(h.AgeDays, 1)}
	if strings.TrimSpace(query) != "" {
		alike, by := tool.Similarity(h)
		out.Similarity, out.ComparedBy = new(round(alike, 4)), by
	}
	return out
}

// decimal is a number that CortexGraph writes with a decimal point, also if it is whole.
type decimal float64

// MarshalJSON writes 1 as 1.0.
func (d decimal) MarshalJSON() ([]byte, error) {
	raw, err := json.Marshal(float64(d))
	if err == nil && !bytes.ContainsAny(raw, ".e") {
		raw = append(raw, ".0"...)
	}
	return raw, err
}

func round(x float64, digits int) decimal {
	p := math.Pow(10, float64(digits))
	return decimal(math.Round(x*p) / p)
}

// epoch returns a time as CortexGraph shows it.
func epoch(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

type searchUnifiedIn struct {
	Query      string   `json:"query,omitempty" max:"4096" doc:"words to search for, with operators such as \"a phrase\", -word, tag:x or path:dir/"`
	Tags       []string `json:"tags,omitempty" max:"50" doc:"return only results with all of these tags"`
	Limit      int      `json:"limit,omitempty" min:"1" max:"100" default:"10" doc:"maximum number of results"`
	STMWeight  float64  `json:"stm_weight,omitempty" min:"0" max:"2" default:"1.0" doc:"weight of memories in the ranking; a higher value moves memories up"`
	LTMWeight  float64  `json:"ltm_weight,omitempty" min:"0" max:"2" default:"0.7" doc:"weight of notes in the ranking; a higher value moves notes up"`
	WindowDays int      `json:"window_days,omitempty" min:"1" max:"3650" doc:"return only memories used in the last N days"`
	MinScore   float64  `json:"min_score,omitempty" min:"0" max:"1" doc:"return only memories with at least this decay score"`
	Verbose    bool     `json:"verbose,omitempty" default:"false" doc:"true: return the IDs of memories and the paths of notes"`
}

// FoundEverywhere is read as a block of text, which says ids and paths when asked to.
type FoundEverywhere struct {
	Success bool           `json:"success"`
	Count   int            `json:"count"`
	Results []foundUnified `json:"results"`
	in      *searchUnifiedIn
}

type foundUnified struct {
	Source   string    `json:"source" enum:"stm|ltm"`
	Title    string    `json:"title,omitempty"`
	Content  string    `json:"content"`
	Score    decimal   `json:"score" doc:"ranking score of the result; the best result has the highest score"`
	Tags     []string  `json:"tags"`
	MemoryID memory.ID `json:"memory_id,omitempty"`
	Path     string    `json:"path,omitempty" doc:"path of the note in the vault"`
	Line     int       `json:"line,omitempty"`
	LastUsed int64     `json:"last_used,omitempty" doc:"time of the last use, in seconds since 1970"`
}

func searchUnified(ctx context.Context, c *tool.Call, in *searchUnifiedIn) (*FoundEverywhere, error) {
	// What is the same is shown once, so a few more than wanted are asked for.
	const spare = 10
	res, err := op.Search.Call(ctx, c, &op.SearchRequest{Query: in.Query, Limit: min(memory.MaxResults, in.Limit+spare),
		STMWeight: &in.STMWeight, LTMWeight: &in.LTMWeight, KeepNotes: true,
		Filter: op.Filter{Tags: in.Tags, WindowDays: float64(in.WindowDays), MinScore: in.MinScore}})
	if err != nil {
		return nil, err
	}
	out := &FoundEverywhere{Success: true, in: in}
	seen := make(map[string]bool)
	for _, h := range res.Hits {
		u := unified(&h)
		key := beginning(u.Content)
		if key == "" {
			key = u.Path
		}
		if !seen[key] && len(out.Results) < in.Limit {
			seen[key] = true
			out.Results = append(out.Results, u)
		}
	}
	out.Count = len(out.Results)
	return out, nil
}

func unified(h *op.Hit) foundUnified {
	const preview = 300
	u := foundUnified{Source: "stm", Score: round(h.Rank, 4)}
	if h.Memory != nil {
		u.MemoryID, u.Tags, u.Content, u.LastUsed = h.ID, h.Tags, similarity.Truncate(h.Content, preview),
			epoch(h.LastUsed)
	}
	if n := h.Note; n != nil {
		u.Path, u.Line, u.Title = n.Path, n.Line, strings.Join(append([]string{n.Title}, n.Heading...), " › ")
		if len(n.Heading) > 0 && n.Heading[0] == n.Title {
			u.Title = strings.Join(n.Heading, " › ")
		}
		if u.MemoryID == "" {
			u.MemoryID = n.MemoryID
		}
	}
	if h.Tier == op.TierNote {
		u.Source, u.Content = "ltm", similarity.Truncate(h.Snippet.Text, preview)
	}
	return u
}

// beginning returns the first 100 characters, by which results are compared.
func beginning(content string) string {
	r := []rune(strings.ToLower(strings.TrimSpace(content)))
	return string(r[:min(len(r), 100)])
}

// Text returns the block that CortexGraph's page tells of.
func (o *FoundEverywhere) Text() string {
	var b strings.Builder
	what := ""
	if o.in.Query != "" {
		what = fmt.Sprintf(" for %q", similarity.Truncate(o.in.Query, 100))
	}
	switch o.Count {
	case 0:
		return "No results" + what + "."
	case 1:
		fmt.Fprintf(&b, "1 result%s\n", what)
	default:
		fmt.Fprintf(&b, "%d results%s\n", o.Count, what)
	}
	for i, r := range o.Results {
		fmt.Fprintf(&b, "\n%d. [%s] score %.4f", i+1, strings.ToUpper(r.Source), r.Score)
		if r.Title != "" {
			b.WriteString("  " + r.Title)
		}
		b.WriteString("\n")
		if text := strings.TrimSpace(r.Content); text != "" {
			b.WriteString("   " + strings.ReplaceAll(text, "\n", "\n   ") + "\n")
		}
		if len(r.Tags) > 0 {
			b.WriteString("   tags: " + strings.Join(r.Tags, ", ") + "\n")
		}
		if o.in.Verbose {
			b.WriteString(r.metadata())
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// metadata returns the lines that verbose adds.
func (r *foundUnified) metadata() string {
	var b strings.Builder
	if r.MemoryID != "" {
		b.WriteString("   id: " + string(r.MemoryID) + "\n")
	}
	if r.Path != "" {
		fmt.Fprintf(&b, "   path: %s:%d\n", r.Path, r.Line)
	}
	return b.String()
}
