package op

import "context"

type noticeKey struct{}

// WithNotice returns a context whose operations may say something to the caller beside
// their answer. They call tell before they answer, with a sentence, any number of times,
// and from any goroutine.
func WithNotice(ctx context.Context, tell func(sentence string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, tell)
}

// Notify says something to the caller, if it listens.
func Notify(ctx context.Context, sentence string) {
	if tell, _ := ctx.Value(noticeKey{}).(func(string)); tell != nil {
		tell(sentence)
	}
}
