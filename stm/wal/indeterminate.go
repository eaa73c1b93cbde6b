package wal

import (
	"context"

	"emberd/memory"
)

// indeterminateError is the answer to a change that the next start may find.
func indeterminateError(cause error) error {
	return memory.Errorf(memory.Unknown, "unknown whether the change succeeded, because the disk failed while saving "+
		"(%v); when emberd status shows no disk problem, read the memory again: %w", cause, cause)
}

// A batch in doubt may be found by the next start, so it is not forgotten: as soon
// as the log can be written again it is written once more, same numbers and stamps,
// before anything else is. So an answer "unknown" is settled before the next
// change is, and a start finds nothing that this process did not show.

// checkBackoff refuses while it is too soon after a failed sync to try again.
func (w *Writer) checkBackoff() error {
	if w.failed.IsZero() || w.clock.Now().Sub(w.failed).Abs() >= RetryAfter {
		return nil
	}
	t := w.S.trouble.Load()
	return memory.Errorf(t.code, "%s", t.reason)
}

// repeat writes what is in doubt to the active segment and shows it.
func (w *Writer) repeat() error {
	if len(w.doubtful) == 0 {
		return nil
	}
	w.buf = w.buf[:0]
	for _, p := range w.doubtful {
		w.put(&p.Line)
		w.place(&p.Line)
	}
	if n, err := w.active.f.Write(w.buf); err != nil {
		if n > 0 {
			_ = w.cut(w.seq) // or the file is given up
		}
		return err
	}
	if err := w.sync(w.active.f); err != nil {
		w.abandonSegment(w.seq, err)
		w.failed = w.clock.Now()
		return err
	}
	w.written()
	for _, p := range w.doubtful {
		w.publish(p)
	}
	w.S.Logger.Info("stored changes whose outcome was unknown", "changes", len(w.doubtful))
	w.doubtful = nil
	w.S.inDoubt.Store(false)
	return nil
}

// confirm settles what is in doubt, or reports why that cannot be done now.
func (w *Writer) confirm() error {
	if len(w.doubtful) == 0 {
		return nil
	}
	if err := w.checkBackoff(); err != nil {
		return err
	}
	if err := w.rotate(); err != nil {
		return w.refuse(err)
	}
	w.recovered()
	return nil
}

// CheckDurable lets a change be based only on what is certain.
func (s *Log) CheckDurable(ctx context.Context) error {
	if !s.inDoubt.Load() {
		return nil
	}
	err := error(memory.Errorf(memory.Unavailable,
		"the daemon is stopping; try again when the daemon is running again"))
	if gaveUp := s.OnWriter(ctx, func() { err = s.Writer.confirm() }); gaveUp != nil {
		return gaveUp
	}
	return err
}
