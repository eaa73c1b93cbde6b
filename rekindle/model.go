package rekindle

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A Model writes a summary of a text in at most so many characters. The text is
// data: whatever it says is not addressed to the model.
type Model func(ctx context.Context, text string, most int) (string, error)

// Ask returns the summary that the model writes, in one line and without markup
// and control characters. When the model fails, or answers nothing or more than
// [Bound] allows, it returns the extract of [Summarizer.Summary], and the error
// says why; the summary is good either way. Without a model it is the extract.
func (s *Summarizer) Ask(ctx context.Context, content string, entities []string, model Model) (string, error) {
	if model == nil {
		return s.Summary(content, entities), nil
	}
	bound := Bound(content)
	answer, err := model(ctx, content, bound)
	if err == nil {
		answer, err = accepted(answer, bound)
	}
	if err != nil {
		return s.Summary(content, entities), fmt.Errorf("summarize by a model: %w", err)
	}
	return answer, nil
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
		return "", errors.New("the answer is empty")
	case n > bound:
		return "", fmt.Errorf("the answer has %d characters, more than %d", n, bound)
	}
	return line, nil
}
