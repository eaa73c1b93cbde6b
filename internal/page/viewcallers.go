package page

import (
	"context"
	"net/http"
	"strings"

	"emberd/op"
)

// callers is who used the memories in the last 30 days, and the tokens.
type callers struct {
	Audit  *op.AuditResult
	Tokens []op.Token
}

func viewCallers(ctx context.Context, p *Page, _ *http.Request) (any, error) {
	audit, err := op.Audit.Call(ctx, p.backend, &op.AuditRequest{})
	if err != nil {
		return nil, err
	}
	tokens, err := op.TokenList.Call(ctx, p.backend, &op.TokenListRequest{})
	if err != nil {
		return nil, err
	}
	return callers{audit, tokens.Tokens}, nil
}

// health is the state of the daemon and of what it stores.
type health struct {
	Status *op.StatusResult
	Report *op.HealthResult
	Engine *op.EngineStatusResult
	Stats  *op.StatsResult
}

// step is a command that would help, and the view in which a person does the same.
type step struct{ Command, Text, Href string }

// Advice says what the commands of the report are for.
func (h health) Advice() (all []step) {
	known := []step{
		{"emberd import migrate", "Rewrite memories of earlier versions", ""},
		{"emberd review", "Decide the open review items", "/decisions"},
		{"emberd health duplicates", "Choose among near-duplicates", "/decisions"},
		{"emberd health groups", "Show groups of similar memories", ""},
		{"emberd health cleanup", "Clean up memories that are not useful", ""},
		{"emberd health stale", "Show memories that no search returned recently", ""},
		{"emberd health unused", "Show memories that searches rarely return", ""},
	}
	for _, command := range h.Report.Next {
		s := step{Text: "Run", Command: command}
		for _, k := range known {
			if strings.HasPrefix(command, k.Command) {
				s.Text, s.Href = k.Text, k.Href
			}
		}
		all = append(all, s)
	}
	return all
}

// Ages is the histogram of last finds as an attribute contains it.
func (h health) Ages() (string, error) { return bars(h.Report.Ages) }

func viewHealth(ctx context.Context, p *Page, r *http.Request) (any, error) {
	var h health
	var err error
	if h.Status, err = op.Status.Call(ctx, p.backend, &op.StatusRequest{}); err != nil {
		return nil, err
	}
	fresh := r.URL.Query().Get("fresh") != ""
	if h.Report, err = op.Health.Call(ctx, p.backend, &op.HealthRequest{Fresh: fresh}); err != nil {
		return nil, err
	}
	if h.Engine, err = op.EngineStatus.Call(ctx, p.backend, &op.EngineStatusRequest{}); err != nil {
		return nil, err
	}
	h.Stats, err = op.Stats.Call(ctx, p.backend, &op.StatsRequest{})
	return h, err
}
