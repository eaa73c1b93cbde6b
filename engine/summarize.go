package engine

import (
	"context"

	"emberd/rekindle"
)

// summarize makes what stays of a text: the sentence to show, and the terms to search
// by.
func (e *Engine) summarize(_ context.Context, content string, entities []string) (summary string, terms []string) {
	s := rekindle.NewSummarizer(e.text)
	return s.Summary(content, entities), s.KeyTerms(content, entities)
}
