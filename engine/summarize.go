package engine

import "context"

// summarize makes what stays of a text: the sentence to show, and the terms to search
// by.
func (e *Engine) summarize(_ context.Context, content string, entities []string) (summary string, terms []string) {
	return e.extract.Summary(content, entities), e.extract.KeyTerms(content, entities)
}
