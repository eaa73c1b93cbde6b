package rekindle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"emberd/internal/text/analysis"
)

// A Model writes a summary of a text in at most so many characters. The text is
// data: whatever it says is not addressed to the model.
type Model func(ctx context.Context, text string, limit int) (string, error)

// Whole reports a text that is no longer than its summary may be.
func Whole(content string) bool { return utf8.RuneCountInString(content) <= minBound }

// Ask returns the summary that the model writes, in one line and without markup
// and control characters. It is an error when the model fails, or answers nothing,
// more than [Bound] allows, or without any of the text's key terms, as an excuse does;
// [Summarizer.Remains] has the sentence to do with then.
func (s *Summarizer) Ask(ctx context.Context, content string, terms []string, model Model) (string, error) {
	bound := Bound(content)
	answer, err := model(ctx, content, bound)
	if err == nil {
		answer, err = accepted(answer, bound)
	}
	if err == nil && !s.names(answer, terms) {
		err = errors.New("the summary from the model contains no key term of the text")
	}
	if err != nil {
		return "", fmt.Errorf("cannot summarize the text with the model: %w", err)
	}
	return answer, nil
}

// names reports whether a text has one of the terms, if there are any.
func (s *Summarizer) names(line string, terms []string) bool {
	if len(terms) == 0 {
		return true
	}
	wanted := make(map[string]bool)
	for _, t := range s.analyzer.Query(strings.Join(terms, "\n")) {
		wanted[t.Text] = true
	}
	return slices.ContainsFunc(s.analyzer.Query(line), func(t analysis.Term) bool { return wanted[t.Text] })
}

// accepted returns the answer of a model as a summary, or why it is none.
func accepted(answer string, bound int) (string, error) {
	var line string
	for _, b := range blocks(answer) {
		if line != "" {
			line += " "
		}
		line += b.text
	}
	switch n := utf8.RuneCountInString(line); {
	case n == 0:
		return "", errors.New("the summary from the model is empty")
	case n > bound:
		return "", fmt.Errorf("too many characters in the summary from the model: %d (limit %d)", n, bound)
	}
	return line, nil
}
