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
// and control characters. It is an error when the model fails, or answers nothing or
// more than [Bound] allows; [Summarizer.Remains] has the sentence to do with then.
func Ask(ctx context.Context, content string, model Model) (string, error) {
	bound := Bound(content)
	answer, err := model(ctx, content, bound)
	if err == nil {
		answer, err = accepted(answer, bound)
	}
	if err != nil {
		return "", fmt.Errorf("summarize by a model: %w", err)
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
