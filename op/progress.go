package op

import "context"

type progressKey struct{}

// WithProgress returns a context whose operation reports how far it is: done of total,
// or of an unknown total if that is 0. It calls tell from one goroutine at a time, not
// after it has answered, and waits for it. Over the socket some calls are left out. A
// nil tell keeps what is inside an operation from telling.
func WithProgress(ctx context.Context, tell func(done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

// ProgressOf returns the function that [WithProgress] received, nil without one.
func ProgressOf(ctx context.Context) func(done, total int) {
	tell, _ := ctx.Value(progressKey{}).(func(done, total int))
	return tell
}

// Report reports the progress of an operation, if the caller asked for progress.
func Report(ctx context.Context, done, total int) {
	if tell := ProgressOf(ctx); tell != nil {
		tell(done, total)
	}
}
