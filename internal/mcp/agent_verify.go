package mcp

import (
	"context"
	"fmt"
	"strings"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
)

type agentVerifyIn struct {
	Claim     string `json:"claim" min:"1" doc:"statement to compare, such as: the port is 5432"`
	MaxTokens int    `json:"max_tokens,omitempty" min:"500" max:"20000" default:"2000" doc:"token limit of the answer"`
}

type agentVerified struct {
	Status     string       `json:"status"`
	Message    string       `json:"message"`
	Confidence float64      `json:"confidence"`
	Matches    []resultItem `json:"matches"`
	Conflicts  []string     `json:"conflicts,omitempty"`
	Entities   []string     `json:"entities,omitempty"`
	Compared   string       `json:"compared_by"`
	Note       string       `json:"note,omitempty"`
	continuation
}

// agentVerify returns what is known about a claim: the conflicts first, then what matches,
// as far as it fits.
func agentVerify(ctx context.Context, c *tool.Call, in *agentVerifyIn) (*agentVerified, error) {
	res, err := op.Verify.Call(ctx, c, &op.VerifyRequest{Claim: in.Claim})
	if err != nil {
		return nil, err
	}
	out := &agentVerified{Status: res.Status, Message: res.Message, Confidence: res.Confidence, Matches: []resultItem{},
		Compared: res.Compared}
	if res.Loading != nil || res.Indexing != nil {
		out.Note = stillLoading
	}
	left := newBudget(c, in.MaxTokens)
	for _, line := range conflictLines(res.Conflicts, "") {
		if left.take(line+"\n", line) {
			out.Conflicts = append(out.Conflicts, line)
		}
	}
	for _, e := range res.Entities[:min(len(res.Entities), maxLinks)] {
		said := text.Truncate(answer.OneLine(e.Name), maxSource) + " " + plural(e.Mentions, "mention", "mentions")
		if left.take(said, said) {
			out.Entities = append(out.Entities, said)
		}
	}
	for i := range res.Matches {
		s := showMatch(&res.Matches[i])
		if !left.takeText(&s) {
			out.continuation = continuation{true, tooSmall}
			break
		}
		out.Matches = append(out.Matches, s)
	}
	return out, nil
}

// showMatch tells of what is known, by the part of it that was compared.
func showMatch(m *op.Match) resultItem {
	s := resultItem{Text: m.Text}
	switch {
	case m.Memory != nil:
		s = showMemory(m.Memory, m.Text)
		s.Cut = !m.Memory.Stage.Cold() && len(m.Text) < len(m.Memory.Content)
		s.Importance, s.Source = m.Memory.Importance, sourceOf(m.Memory)
	case m.Note != nil:
		s.Path, s.When = m.Note.Path, "changed "+day(m.Note.Modified)
		s.Origin, s.Trust = fromNote, memory.TrustUser
	}
	s.Similarity, s.Verdict = thousandths(m.Similarity), m.Verdict
	return s
}

// Text returns the text for the model.
func (o *agentVerified) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, confidence %.2f by %s: %s\n", o.Status, o.Confidence, o.Compared, o.Message)
	for _, line := range o.Conflicts {
		b.WriteString(line + "\n")
	}
	if len(o.Entities) > 0 {
		b.WriteString("known: " + strings.Join(o.Entities, ", ") + "\n")
	}
	if o.Note != "" {
		b.WriteString("(" + o.Note + ")\n")
	}
	for i := range o.Matches {
		b.WriteString(o.Matches[i].render(depthWhole))
	}
	b.WriteString(o.line())
	return b.String()
}
