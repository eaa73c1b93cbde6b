package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"emberd/embedding"
	"emberd/vectors"
)

// How long the making of vectors waits after a failure, at first and at most, after how
// many texts in a row that fail it does, and how many vectors may be lost to a power cut.
const (
	meaningRetry  = 5 * time.Second
	meaningLatest = 10 * time.Minute
	mostFailed    = 3
	syncAfter     = 64
)

// meaningPace is how fast vectors are made.
type meaningPace struct {
	text time.Duration // that a text takes on average, rest included
}

// tell takes in how long a text took.
func (p *meaningPace) tell(text time.Duration) {
	if p.text == 0 {
		p.text = text
	}
	p.text += (text - p.text) / 16
}

// restFor is how long to rest for the time that a text took, so that no more than a share
// of one processor is used.
func restFor(took time.Duration, share float64) time.Duration {
	if share <= 0 || share >= 1 {
		return 0
	}
	return time.Duration(float64(took) * (1 - share) / share)
}

// keepMeaning gives everything its vectors until ctx is done. No timer runs while there is
// nothing to do.
func (e *Engine) keepMeaning(ctx context.Context) {
	const name = "making of vectors"
	m := e.meaning
	defer e.chores.disarm(name)
	defer e.closeRacks()
	wait, changed := meaningRetry, false
	for ctx.Err() == nil {
		made := m.made.Load()
		err := e.fillRack(ctx)
		if ctx.Err() != nil || errors.Is(err, embedding.ErrClosed) {
			return
		}
		was := changed
		if changed = errors.Is(err, embedding.ErrChanged); changed {
			e.closeFilling()
		}
		if changed && !was { // a server with another model each time is not asked without end
			continue
		}
		changed = false
		if m.made.Load() > made {
			wait = meaningRetry
		}
		level := slog.LevelWarn
		if again := m.stuck(err.Error(), e.opt.Now().Add(wait)); again {
			level = slog.LevelDebug
		}
		e.opt.Logger.Log(ctx, level, "vectors are not made for now", "err", err, "again", wait)
		e.chores.arm(name, wait)
		select {
		case <-ctx.Done():
		case <-m.retry:
			wait = meaningRetry
		case <-time.After(wait):
			wait = min(2*wait, meaningLatest)
		}
		e.chores.disarm(name)
	}
}

// stuck takes in why nothing goes on, and reports whether that was why before.
func (m *meaning) stuck(why string, again time.Time) (known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known = m.problem == why
	m.problem, m.again = why, again
	return known
}

// fillRack makes the vectors of the embedder's model until something fails.
func (e *Engine) fillRack(ctx context.Context) error {
	m := e.meaning
	var known []embedding.Identity
	for _, f := range e.keptRacks() {
		known = append(known, f.Identity)
	}
	m.Embedder.Keep(known)
	id, err := m.Embedder.Ready(ctx)
	if err != nil {
		e.serveEarlier(ctx, "")
		return err
	}
	e.letGoOf(id.Key())
	s, err := e.rackToFill(id)
	if err != nil {
		return err
	}
	if !s.complete {
		e.serveEarlier(ctx, id.Key())
	}
	if err := e.graded(ctx, s); err != nil {
		return err
	}
	if !s.complete {
		m.serving.CompareAndSwap(nil, s)
	} else if err := e.retire(s); err != nil {
		return err
	}
	if m.weightOf(s) == 0 {
		return e.leaveOut(ctx, s)
	}
	f := &filer{e: e, on: s}
	return f.run(ctx)
}

// rackToFill is that of a model: after a failure the one that is open, which serves all the
// while.
func (e *Engine) rackToFill(id embedding.Identity) (*rack, error) {
	m := e.meaning
	if s := m.filling; s != nil && s.identity.Key() == id.Key() {
		return s, nil
	}
	e.closeFilling()
	s, err := e.openRack(m.Embedder, id)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.filling, m.idle, m.counting = s, "", true
	return s, nil
}

// leaveOut makes no vectors, since nothing would ask for them, until the model is another one.
func (e *Engine) leaveOut(ctx context.Context, s *rack) error {
	why := "search.meaning is off"
	if e.meaning.Weight < 0 {
		why = "the vectors of this model do not tell what texts mean, so none are made; search.meaning can be set to a number all the same"
	}
	m := e.meaning
	m.mu.Lock()
	m.idle, m.problem = why, ""
	m.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.wake:
			if m.stale.Swap(false) {
				return embedding.ErrChanged
			}
		}
	}
}

// letGoOf closes the rack of an earlier model that is asked for again.
func (e *Engine) letGoOf(key string) {
	m := e.meaning
	m.mu.Lock()
	s := m.earlier
	if s != nil && s.identity.Key() == key {
		m.earlier = nil
		m.serving.CompareAndSwap(s, nil)
	} else {
		s = nil
	}
	m.mu.Unlock()
	e.closeRack(s)
}

// closeFilling lets go of the rack that is being filled, which is opened anew.
func (e *Engine) closeFilling() {
	m := e.meaning
	m.mu.Lock()
	s := m.filling
	m.filling = nil
	m.serving.CompareAndSwap(s, nil)
	m.mu.Unlock()
	e.closeRack(s)
}

func (e *Engine) closeRack(s *rack) {
	if s == nil {
		return
	}
	if err := s.close(); err != nil {
		e.opt.Logger.Warn("vectors not kept, they are made again", "err", err)
	}
}

// closeRacks keeps what there is.
func (e *Engine) closeRacks() {
	m := e.meaning
	m.serving.Store(nil)
	m.mu.Lock()
	open := []*rack{m.filling, m.earlier}
	m.filling, m.earlier = nil, nil
	m.news.begun = false
	m.mu.Unlock()
	for _, s := range open {
		e.closeRack(s)
	}
}

// run fills the rack, newest first, and follows what changes.
func (f *filer) run(ctx context.Context) error {
	if err := f.compare(ctx); err != nil {
		return err
	}
	for {
		if f.e.meaning.stale.Swap(false) {
			return embedding.ErrChanged
		}
		known, err := f.catchUp(ctx)
		if err == nil && !known {
			err = f.compare(ctx)
		}
		if err != nil {
			return err
		}
		name, more := f.next()
		if more {
			err = f.step(ctx, name)
		} else {
			err = f.rest(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// next is the document to go on with, false if there is none or nothing is to be done.
func (f *filer) next() (name string, more bool) {
	m := f.e.meaning
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paused {
		return "", false
	}
	return m.todo.first()
}

// step makes one vector of a document, or finds that it has all.
func (f *filer) step(ctx context.Context, name string) error {
	begun := time.Now()
	if f.now == nil || f.now.name != name {
		now, err := f.read(ctx, name)
		if err != nil {
			return err
		}
		if f.now = now; now == nil {
			f.leave(name)
			return nil
		}
	}
	for len(f.now.rest) > 0 {
		p := f.now.rest[0]
		f.now.rest = f.now.rest[1:]
		if !f.on.store.Has(p.key) {
			return f.embed(ctx, p, begun)
		}
	}
	f.now = nil
	m := f.e.meaning
	m.mu.Lock()
	defer m.mu.Unlock()
	m.todo.done(name)
	return nil
}

// leave puts a document aside until it changes, or everything is looked at again.
func (f *filer) leave(name string) {
	f.now = nil
	f.e.meaning.mu.Lock()
	defer f.e.meaning.mu.Unlock()
	f.e.meaning.todo.putAside(name)
}

// embed makes a vector and rests for it.
func (f *filer) embed(ctx context.Context, p piece, begun time.Time) error {
	m := f.e.meaning
	for m.asking.Load() > 0 { // queries come first
		select {
		case <-m.quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	start := time.Now()
	by := f.on.provider()
	made, err := m.vitals.embed(ctx, f.on.embedder, embedding.Passage, []string{p.text})
	if err != nil {
		f.failing = by
		return f.refused(err)
	}
	took := time.Since(start)
	vector := made[0]
	if vector == nil { // the model can make nothing of it, which need not be tried again
		vector = make([]float32, f.on.identity.Dim)
	}
	if err := f.on.store.Put([]vectors.Entry{{Key: p.key, Vector: vector}}); err != nil {
		return err
	}
	m.made.Add(1)
	f.failed = 0
	f.takenOver()
	if f.unsynced++; f.unsynced >= syncAfter {
		if err := f.sync(); err != nil {
			return err
		}
	}
	if pause := restFor(took, m.Share); pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = ""
	m.pace.tell(time.Since(begun))
	return nil
}

// takenOver has texts that one provider failed on tried by the one that took over from it.
func (f *filer) takenOver() {
	if f.failing != "" && f.failing != f.on.provider() {
		f.failing = ""
		f.e.meaning.anything()
	}
}

// refused says what a failure to make a vector means: of one text little.
func (f *filer) refused(err error) error {
	f.failed++
	for _, all := range []error{embedding.ErrAway, embedding.ErrChanged, embedding.ErrNone, embedding.ErrClosed, context.Canceled} {
		if errors.Is(err, all) {
			return err
		}
	}
	if f.failed >= mostFailed {
		return err
	}
	f.e.opt.Logger.Warn("a text has no vector", "err", err)
	f.leave(f.now.name)
	return nil
}

func (f *filer) sync() error {
	f.unsynced = 0
	return f.on.store.Sync()
}

// rest waits for something to do, when all is kept that was made.
func (f *filer) rest(ctx context.Context) error {
	m := f.e.meaning
	if f.unsynced > 0 {
		if err := f.sync(); err != nil {
			return err
		}
	}
	if err := f.finish(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-m.wake:
	}
	return nil
}

// finish has the rack serve, if it has everything.
func (f *filer) finish(ctx context.Context) error {
	m := f.e.meaning
	m.mu.Lock()
	all := m.todo.left() == 0 && !m.news.all && len(m.news.memories)+len(m.news.notes) == 0 && (f.e.notes == nil || f.e.notes.complete.Load())
	if all {
		m.problem = ""
	}
	m.mu.Unlock()
	if !all {
		return nil
	}
	if !f.on.complete {
		f.on.complete = true
		if err := errors.Join(f.on.store.Sync(), f.e.remember(f.on), f.e.retire(f.on)); err != nil {
			return err
		}
	}
	if f.on.store.Status().Due {
		return f.on.store.Compact(ctx)
	}
	return nil
}
