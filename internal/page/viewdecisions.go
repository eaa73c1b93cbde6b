package page

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"emberd/memory"
	"emberd/op"
)

// decisions are the items that wait, most urgent first.
type decisions struct {
	Cards []card
	Total int
}

func (d decisions) waiting() int { return d.Total }

// card is one decision with its memories side by side.
type card struct {
	Item     memory.ReviewItem
	Question string
	Sides    []side
	Choices  []choice
	Refused  string // why the memories cannot be merged
	Policy   string // the decision that is made automatically, "" for none
	PolicyAt time.Time
}

// side is one of the texts to choose from.
type side struct {
	Letter string
	Memory *op.Memory // nil for a text that is not that of a memory
	About  string     // where such a text is
	Parts  []part
}

// choice is a button.
type choice struct {
	Text, Decision string
	Key            string // on the keyboard
	Strong         bool   // it is what was proposed
}

// maxCards is how many decisions a view shows.
const maxCards = 20

func viewDecisions(ctx context.Context, p *Page, _ *http.Request) (any, error) {
	cards, total, err := p.cards(ctx, maxCards)
	return decisions{cards, total}, err
}

// cards are the first decisions that wait, and how many there are.
func (p *Page) cards(ctx context.Context, most int) (all []card, total int, err error) {
	list, err := op.ReviewList.Call(ctx, p.backend, &op.ReviewListRequest{Limit: most})
	if err != nil {
		return nil, 0, err
	}
	for _, item := range list.Items {
		res, err := op.ReviewShow.Call(ctx, p.backend, &op.ReviewShowRequest{ID: item.ID})
		if memory.CodeOf(err) == memory.NotFound {
			continue // decided in the meantime
		}
		if err != nil {
			return nil, 0, err
		}
		all = append(all, cardOf(res))
	}
	return all, list.Total, nil
}

func cardOf(res *op.ReviewShowResult) card {
	c := card{Item: res.Item, Question: question(&res.Item, len(res.Memories)), Refused: res.MergeRefused}
	var texts []string
	for _, m := range res.Memories {
		texts = append(texts, m.Content)
	}
	for _, o := range res.Item.Texts {
		texts = append(texts, o.Text)
	}
	for i, t := range texts {
		s := side{Letter: letter(i), Parts: []part{{Text: t}}}
		if others := append(append([]string{}, texts[:i]...), texts[i+1:]...); len(others) > 0 {
			s.Parts = differing(t, others...)
		}
		if i < len(res.Memories) {
			s.Memory = &res.Memories[i]
		} else {
			s.About = otherText(&res.Item.Texts[i-len(res.Memories)])
		}
		c.Sides = append(c.Sides, s)
	}
	c.Choices = choices(res)
	if at, err := time.Parse(time.RFC3339, res.DecidedAt); err == nil && res.DecidedBy != "" {
		c.Policy, c.PolicyAt = decisionText(res, res.DecidedBy), at
	}
	if c.Item.Action == contradiction {
		c.Refused = "" // a merge is not what is asked
	}
	return c
}

// contradiction is the action of an item about memories of which one may be true.
const contradiction = "contradiction"

func otherText(o *memory.OtherText) string {
	if o.Note != "" {
		return "text in the note " + o.Note
	}
	return "text from another device"
}

// question says what is asked, in a sentence.
func question(item *memory.ReviewItem, memories int) string {
	switch {
	case item.Action == op.AdoptNote:
		return "Does this note belong to the memory?"
	case item.Action == op.ChooseText:
		return "Which text is right?"
	case item.Action == contradiction:
		return "These memories contradict each other. Which one is right?"
	case item.Action == "merge" || item.Action == "consolidate":
		return "Do these memories mean the same?"
	case item.Action == "promote":
		return "Is this memory worth a note?"
	case item.Action == "gc_candidate":
		return "Is this memory still worth keeping?"
	case item.Action == "reinforce":
		return "This memory is about to fade. Do you still need it?"
	case memories > 1:
		return "What should happen to these memories?"
	}
	return "What should happen to this memory?"
}

// choices are the buttons: what is proposed comes first, and a note last.
func choices(res *op.ReviewShowResult) (all []choice) {
	place := func(decision string) int {
		switch {
		case decision == res.Item.Action, strings.HasPrefix(decision, op.DecideSupersede):
			return 0
		case res.Item.Action == contradiction && strings.HasPrefix(decision, op.DecideForgetOne):
			return 1
		case decision == op.DecidePromote:
			return 5
		case strings.HasPrefix(decision, op.DecideForget):
			return 4
		case decision == op.DecideMerge:
			return 3
		}
		return 2
	}
	order := slices.Clone(res.Choices)
	slices.Reverse(order) // of two memories, to keep the first one is to forget the second
	slices.SortStableFunc(order, func(a, b string) int { return place(a) - place(b) })
	for i, d := range order {
		c := choice{Text: decisionText(res, d), Decision: d, Strong: d == res.Item.Action}
		if i < 9 {
			c.Key = strconv.Itoa(i + 1)
		}
		all = append(all, c)
	}
	return all
}

// decisionText is what a button says.
func decisionText(res *op.ReviewShowResult, decision string) string {
	n := len(res.Memories)
	some := func(one, two, many string) string {
		return []string{one, one, two, many}[min(n, 3)]
	}
	switch decision {
	case op.DecideKeep:
		if res.Item.Agent == op.ReviewText {
			return "Keep text A"
		}
		return some("Keep", "Keep both", "Keep all")
	case op.DecideMerge:
		return "Merge into one"
	case op.DecidePromote:
		return some("Make a note", "Make notes of both", "Make notes of all")
	case op.DecideForget:
		return some("Forget", "Forget both", "Forget all")
	}
	if id, ok := strings.CutPrefix(decision, op.DecideForgetOne); ok {
		return forgetText(res.Memories, id)
	}
	if id, ok := strings.CutPrefix(decision, op.DecideSupersede); ok {
		return supersedeText(res.Memories, id)
	}
	if digits, ok := strings.CutPrefix(decision, op.DecideTake); ok {
		return takeText(res, digits)
	}
	if strings.HasPrefix(decision, op.DecideAdopt) {
		return "Yes, the note belongs to the memory"
	}
	return decision
}

func forgetText(all []op.Memory, id string) string {
	for i, m := range all {
		switch {
		case string(m.ID) != id:
		case len(all) == 2:
			return "Keep " + letter(1-i) + ", forget " + letter(i)
		default:
			return "Forget " + letter(i)
		}
	}
	return "Forget " + id
}

func supersedeText(all []op.Memory, id string) string {
	for i, m := range all {
		if string(m.ID) == id && len(all) == 2 {
			return letter(1-i) + " is right now, mark " + letter(i) + " as superseded"
		}
	}
	return "Mark " + id + " as superseded"
}

func takeText(res *op.ReviewShowResult, digits string) string {
	for i := range res.Item.Texts {
		if res.Item.Texts[i].Digits() == digits {
			return "Take text " + letter(len(res.Memories)+i)
		}
	}
	return "Take text " + digits
}

// duplicates are pairs that say nearly the same and about which nothing was decided.
type duplicates struct {
	Pairs   []pair
	Checked int
	More    int
	// Answered is how many pairs are left out because a decision about them waits or both were kept. The report on
	// health counts them.
	Answered int
}

type pair struct {
	op.DuplicatePair
	Sides []side
}

// maxCompared is how many of the latest memories are compared, which keeps the answer quick.
const maxCompared = 2000

func viewDuplicates(ctx context.Context, p *Page, _ *http.Request) (any, error) {
	res, err := op.HealthDuplicates.Call(ctx, p.backend,
		&op.HealthDuplicatesRequest{Collection: "all", Limit: maxCards, SampleSize: maxCompared})
	if err != nil {
		return nil, err
	}
	answered, err := p.answered(ctx)
	if err != nil {
		return nil, err
	}
	var ids []memory.ID
	for _, d := range res.DuplicatePairs {
		ids = append(ids, d.ID1, d.ID2)
	}
	texts, err := p.open(ctx, ids)
	if err != nil {
		return nil, err
	}
	all := duplicates{Checked: res.TotalChecked, More: res.Found - len(res.DuplicatePairs)}
	for _, d := range res.DuplicatePairs {
		a, b := texts[d.ID1], texts[d.ID2]
		if answered[[2]memory.ID{min(d.ID1, d.ID2), max(d.ID1, d.ID2)}] {
			all.Answered++
			continue
		}
		if a.ID == "" || b.ID == "" {
			continue
		}
		all.Pairs = append(all.Pairs, pair{d, []side{
			{"A", &a, "", differing(a.Content, b.Content)}, {"B", &b, "", differing(b.Content, a.Content)}}})
	}
	return all, nil
}

// answered returns the pairs of memories for which a review item waits for a decision, or was closed by keeping
// both.
func (p *Page) answered(ctx context.Context) (map[[2]memory.ID]bool, error) {
	pairs := map[[2]memory.ID]bool{}
	for req := (&op.ReviewListRequest{Status: op.AnyStatus, Limit: memory.MaxResults}); ; {
		res, err := op.ReviewList.Call(ctx, p.backend, req)
		if err != nil {
			return nil, err
		}
		for _, item := range res.Items {
			waits := item.Status != memory.ItemClosed
			if ids := item.MemoryIDs; len(ids) == 2 && (waits || item.Decision == op.DecideKeep) {
				pairs[[2]memory.ID{ids[0], ids[1]}] = true
			}
		}
		if req.Cursor = res.NextCursor; req.Cursor == "" {
			return pairs, nil
		}
	}
}
