package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"emberd/internal/mcp/answer"
	"emberd/internal/mcp/tool"
	"emberd/internal/text"
	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
)

// promptTokens bound what a prompt brings along of the store.
const promptTokens = 2_000

// prompt is a prompt and how its text is made.
type prompt struct {
	*sdk.Prompt
	text func(ctx context.Context, c *tool.Call, args map[string]string) (string, error)
}

func prompts() []prompt {
	project := &sdk.PromptArgument{Name: "project", Description: "use only memories of this project"}
	return []prompt{
		{&sdk.Prompt{Name: "remember-this", Title: "Remember this",
			Description: "Save facts from this conversation as memories.",
			Arguments: []*sdk.PromptArgument{
				{Name: "what", Description: "text to save; default: the facts of the conversation"},
				{Name: "tags", Description: "tags of the memories, separated by commas"}}}, rememberThis},
		{&sdk.Prompt{Name: "recall", Title: "Recall", Description: "Answer a question about a topic from memories.",
			Arguments: []*sdk.PromptArgument{
				{Name: "topic", Description: "words to search memories for", Required: true}, project}}, recall},
		{&sdk.Prompt{Name: "weekly-review", Title: "Weekly review",
			Description: "Review saved, used and promoted memories, and the memories that fade next.",
			Arguments: []*sdk.PromptArgument{
				{Name: "days", Description: "number of past days to review, default 7"}, project}}, weeklyReview},
	}
}

func addPrompts(s *sdk.Server, opt *Options) {
	for _, p := range prompts() {
		s.AddPrompt(p.Prompt, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := p.written(ctx,
				&tool.Call{Invoker: answer.Visible{Invoker: opt.Invoker}, Options: opt, Session: req.Session},
				req.Params.Arguments)
			if err != nil {
				return nil, protocolError(err)
			}
			return &sdk.GetPromptResult{Description: p.Description,
				Messages: []*sdk.PromptMessage{{Role: "user",
					Content: &sdk.TextContent{Text: invisible.Show(strings.TrimSuffix(text, "\n"))}}}}, nil
		})
	}
}

// written checks the arguments and makes the text.
func (p *prompt) written(ctx context.Context, c *tool.Call, args map[string]string) (string, error) {
	known := make(map[string]bool)
	for _, a := range p.Arguments {
		known[a.Name] = true
		if a.Required && strings.TrimSpace(args[a.Name]) == "" {
			return "", badArgument("prompt %s requires %s", p.Name, a.Name)
		}
	}
	for name, value := range args {
		if !known[name] {
			return "", badArgument("prompt %s does not accept the argument %.40q", p.Name, name)
		}
		if len(value) > memory.MaxQueryBytes {
			return "", badArgument("%s has %d bytes (limit %d)", name, len(value), memory.MaxQueryBytes)
		}
	}
	text, err := p.text(ctx, c, args)
	if e := tool.AsError(err); e != nil && e.Code == memory.Invalid {
		return "", badArgument("%s", e.Message)
	}
	return text, err
}

func badArgument(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
		Message: tool.Message(fmt.Sprintf(format, args...))}
}

// protocolError gives a failure the code that clients tell failures by: the SDK's own is
// 0, which means nothing to them.
func protocolError(err error) error {
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
		Message: tool.Message(err.Error())}
}

func rememberThis(_ context.Context, c *tool.Call, args map[string]string) (string, error) {
	n := toolNames(c.Options.Profile)
	var b strings.Builder
	if what := strings.TrimSpace(args["what"]); what != "" {
		b.WriteString("Save this to memory:\n\n" + text.Quote(what) + "\n")
	} else {
		b.WriteString("Save to memory what this conversation has shown that will matter later: decisions with their " +
			"reasons, preferences, corrections, facts about people and projects.\n\n")
	}
	b.WriteString("First look with " + n.search + " whether it is there already; if so, " + n.correct + ". Else use " +
		n.save +
		", one memory for each thing, each understandable on its own and with absolute dates.")
	if tags := answer.OneLine(args["tags"]); tags != "" {
		b.WriteString(" Tags: " + tags + ".")
	}
	b.WriteString(" Then tell me in a sentence what you saved.")
	return b.String(), nil
}

func recall(ctx context.Context, c *tool.Call, args map[string]string) (string, error) {
	out, err := agentQuery(ctx, c, &agentQueryIn{Scope: "notes", Query: args["topic"], Project: args["project"],
		Depth: depthExcerpt, Limit: 20, MaxTokens: promptTokens})
	if err != nil {
		return "", err
	}
	n := toolNames(c.Options.Profile)
	return "What does my memory contain about this?\n\n" + text.Quote(args["topic"]) + "\n" +
		"Results:\n\n" +
		answer.Fence(out.Text()) +
		"\n" +
		"Answer from these results. Name the IDs or paths that you use, and list gaps and contradictions. If the " +
		"results are not enough, read more with " + n.open +
		" and search with other words (" + n.search + "); " + n.observe + "\n", nil
}

// weeklyReview shows what happened to memories of late, and what will.
func weeklyReview(ctx context.Context, c *tool.Call, args map[string]string) (string, error) {
	days := 7.0
	if text := strings.TrimSpace(args["days"]); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 1 || n > 365 {
			return "", badArgument("days %.20q is out of range (1 to 365)", text)
		}
		days = n
	}
	project, err := c.NamedProject(ctx, args["project"])
	if err != nil {
		return "", err
	}
	list, err := op.List.Call(ctx, c,
		&op.ListRequest{Limit: memory.MaxResults, Sort: "used", Filter: op.Filter{WindowDays: days, Project: project}})
	if err != nil {
		return "", err
	}
	ahead, err := op.LifecycleStatus.Call(ctx, c, &op.LifecycleStatusRequest{})
	if err != nil && memory.CodeOf(err) != memory.Forbidden { // what fades is counted over all memories
		return "", err
	}
	var b strings.Builder
	saved, used, promoted := groupByChange(list.Memories, days)
	left := budget{promptTokens, promptTokens}
	for _, part := range []struct {
		name string
		of   []resultItem
	}{{"Saved", saved}, {"Used again", used}, {"Promoted to notes", promoted}} {
		section(&b, part.name, part.of, &left)
	}
	if list.Total > len(list.Memories) {
		fmt.Fprintf(&b, "\n"+
			"(showing %d of %d saved or used memories)\n", len(list.Memories), list.Total)
	}
	if err == nil {
		b.WriteString("\n## Fades next\n" + fadesNext(ahead))
	}
	n := toolNames(c.Options.Profile)
	return fmt.Sprintf("Review my memory of the last %g days with me.\n\n", days) +
		answer.Fence(strings.TrimPrefix(b.String(), "\n")) +
		"\n" +
		"Sum up the week in a few sentences. Then ask me, one question at a time: " +
		"which memories are wrong or out of date (" + n.correct +
		"), which memories belong together (" + n.relate +
		"), and which of the fading memories I still need (" + n.open +
		" keeps a memory).\n", nil
}

// groupByChange returns what was saved in the last so many days from what was used, and which
// of them got a note.
func groupByChange(memories []op.Memory, days float64) (saved, used, promoted []resultItem) {
	for i := range memories {
		m := &memories[i]
		s := showMemory(m, firstWords(m.Content))
		if m.AgeDays <= days {
			saved = append(saved, s)
		} else {
			used = append(used, s)
		}
		since := time.Duration((m.AgeDays - days) * float64(24*time.Hour))
		if m.PromotedTo != "" && m.PromotedAt.After(m.CreatedAt.Add(since)) {
			promoted = append(promoted, s)
		}
	}
	return saved, used, promoted
}

func section(b *strings.Builder, name string, cards []resultItem, left *budget) {
	fmt.Fprintf(b, "\n## %s: %d\n", name, len(cards))
	for i := range cards {
		line := cards[i].render(depthIndex)
		if !left.take(line, "") {
			fmt.Fprintf(b, "(%d more)\n", len(cards)-i)
			return
		}
		b.WriteString(line)
	}
}

func fadesNext(s *op.LifecycleStatusResult) string {
	var b strings.Builder
	for _, kind := range []string{op.MoveDemote, op.MoveArchive, op.MoveFade} {
		if n := s.Due[kind]; n > 0 {
			fmt.Fprintf(&b, "due now, %s: %s\n", kind, plural(n, "memory", "memories"))
		}
	}
	if s.Next != nil {
		fmt.Fprintf(&b, "[%s] becomes %s on %s\n", s.Next.ID.Short(), s.Next.To, day(s.Next.At))
	}
	if b.Len() == 0 {
		return "Nothing.\n"
	}
	return b.String()
}
