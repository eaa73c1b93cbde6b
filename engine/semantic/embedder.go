package semantic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"emberd/embedding"
	"emberd/vectors"
)

// The first and the longest wait after a failure, the number of failed texts in a row that
// count as one, how many embeddings a power cut may lose, and how long these wait for more: a sync after each text
// would hold up the saves that come meanwhile.
const (
	minEmbedRetry = 5 * time.Second
	maxEmbedRetry = 10 * time.Minute
	maxFailed     = 3
	syncAfter     = 64
	syncDelay     = time.Second
)

// embedPace is how fast texts are embedded.
type embedPace struct {
	text time.Duration // average time of a text, including rest
}

// add records the time of a text.
func (p *embedPace) add(text time.Duration) {
	if p.text == 0 {
		p.text = text
	}
	p.text += (text - p.text) / 16
}

// RestFor returns how long to rest after a text, to use no more than a share of one processor.
func RestFor(took time.Duration, share float64) time.Duration {
	if share <= 0 || share >= 1 {
		return 0
	}
	return time.Duration(float64(took) * (1 - share) / share)
}

// embedderName is what status calls the timer of RunEmbedder.
const embedderName = "embedding of texts"

// RunEmbedder embeds all texts until ctx is done. Without work it has no timer.
func (e *Semantic) RunEmbedder(ctx context.Context) {
	m := e.Meaning
	defer e.Chores.Disarm(embedderName)
	defer e.closeIndexes()
	wait, changed := minEmbedRetry, false
	for ctx.Err() == nil {
		made := m.made.Load()
		err := e.buildIndex(ctx)
		if ctx.Err() != nil || errors.Is(err, embedding.ErrClosed) {
			return
		}
		was := changed
		if changed = errors.Is(err, embedding.ErrChanged); changed {
			e.closeBuilding()
		}
		if changed && !was { // a server whose model changes each time must wait
			continue
		}
		changed = false
		if m.made.Load() > made {
			wait = minEmbedRetry
		}
		level := slog.LevelWarn
		if again := m.recordFailure(err.Error(), e.Opt.Now().Add(wait)); again {
			level = slog.LevelDebug
		}
		e.Opt.Logger.Log(ctx, level, "embeddings not computed; retrying later", "err", err, "again", wait)
		e.Chores.Arm(embedderName, wait)
		select {
		case <-ctx.Done():
		case <-m.retry:
			wait = minEmbedRetry
		case <-time.After(wait):
			wait = min(2*wait, maxEmbedRetry)
		}
		e.Chores.Disarm(embedderName)
	}
}

// recordFailure records why embedding stopped, and reports whether the reason is the same as
// before.
func (m *Embeddings) recordFailure(why string, again time.Time) (known bool) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	known = m.problem == why
	m.problem, m.again = why, again
	return known
}

// buildIndex embeds texts with the current model until an error.
func (e *Semantic) buildIndex(ctx context.Context) error {
	m := e.Meaning
	var known []embedding.Identity
	for _, f := range e.storedIndexes() {
		known = append(known, f.Identity)
	}
	m.Embedder.Keep(known)
	id, err := m.Embedder.Ready(ctx)
	if err != nil {
		e.servePreviousIndex(ctx, "")
		return err
	}
	e.closeEarlier(id.Key())
	s, err := e.indexToBuild(id)
	if err != nil {
		return err
	}
	if !s.complete {
		e.servePreviousIndex(ctx, id.Key())
	}
	if err := e.ensureCalibrated(ctx, s); err != nil {
		return err
	}
	if !s.complete {
		m.serving.CompareAndSwap(nil, s)
	} else if err := e.keepOnly(s); err != nil {
		return err
	}
	if m.weightOf(s) == 0 { // then nothing of an earlier model counts either
		if err := m.serveAlone(s); err != nil {
			return err
		}
		return e.waitForModel(ctx, s)
	}
	f := &indexer{e: e, on: s}
	return f.run(ctx)
}

// indexToBuild returns the index of a model. After a failure it is the open one, which serves in
// the meantime.
func (e *Semantic) indexToBuild(id embedding.Identity) (*VectorIndex, error) {
	m := e.Meaning
	if s := m.Building; s != nil && s.Identity.Key() == id.Key() {
		return s, nil
	}
	e.closeBuilding()
	s, err := e.openVectorIndex(m.Embedder, id)
	if err != nil {
		return nil, err
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Building, m.idle, m.counting = s, "", true
	return s, nil
}

// waitForModel waits until the model changes, because no search would use the embeddings.
func (e *Semantic) waitForModel(ctx context.Context, s *VectorIndex) error {
	why := "search.meaning is off"
	if e.Meaning.Weight < 0 {
		why = fmt.Sprintf("model %s failed calibration, so emberd computes no embeddings; choose another "+
			"model, such as static, with emberd model use, or set search.meaning to a number", s.Identity.Model)
	}
	m := e.Meaning
	m.Mu.Lock()
	m.idle, m.problem = why, ""
	m.Mu.Unlock()
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

// closeEarlier closes the earlier index if its model is the current one again.
func (e *Semantic) closeEarlier(key string) {
	m := e.Meaning
	m.Mu.Lock()
	s := m.earlier
	if s != nil && s.Identity.Key() == key {
		m.earlier = nil
		m.serving.CompareAndSwap(s, nil)
	} else {
		s = nil
	}
	m.Mu.Unlock()
	e.closeIndex(s)
}

// closeBuilding closes the index that is built, so that it is opened again.
func (e *Semantic) closeBuilding() {
	m := e.Meaning
	m.Mu.Lock()
	s := m.Building
	m.Building = nil
	m.serving.CompareAndSwap(s, nil)
	m.Mu.Unlock()
	e.closeIndex(s)
}

func (e *Semantic) closeIndex(s *VectorIndex) {
	if s == nil {
		return
	}
	if err := s.close(); err != nil {
		e.Opt.Logger.Warn("embeddings not stored; emberd computes them again", "err", err)
	}
}

// closeIndexes closes all indexes; their files stay.
func (e *Semantic) closeIndexes() {
	m := e.Meaning
	m.serving.Store(nil)
	m.Mu.Lock()
	open := []*VectorIndex{m.Building, m.earlier}
	m.Building, m.earlier = nil, nil
	m.changes.begun = false
	m.Mu.Unlock()
	for _, s := range open {
		e.closeIndex(s)
	}
}

// run embeds all documents, newest first, and follows changes.
func (f *indexer) run(ctx context.Context) error {
	if err := f.compare(ctx); err != nil {
		return err
	}
	for {
		if f.e.Meaning.stale.Swap(false) {
			return embedding.ErrChanged
		}
		known, err := f.catchUp(ctx)
		if err == nil && !known {
			err = f.compare(ctx)
		}
		if err != nil {
			return err
		}
		name, more := f.next(ctx)
		if more {
			err = f.step(ctx, name)
		} else {
			err = f.waitForWork(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// next returns the document to embed, false if there is none, embedding is paused or the machine is
// on battery.
func (f *indexer) next(ctx context.Context) (name string, more bool) {
	f.e.lookAtBattery(ctx)
	m := f.e.Meaning
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.paused || m.waitsOnBattery() {
		return "", false
	}
	return m.Todo.First()
}

// step embeds one text of a document, or finds that it has all embeddings.
func (f *indexer) step(ctx context.Context, name string) error {
	begun := time.Now()
	if f.now == nil || f.now.name != name {
		now, err := f.readContained(ctx, name)
		if err != nil {
			return err
		}
		if f.now = now; now == nil {
			f.skip(name)
			return nil
		}
	}
	for len(f.now.rest) > 0 {
		p := f.now.rest[0]
		f.now.rest = f.now.rest[1:]
		if !f.on.Store.Has(p.key) {
			return f.embed(ctx, p, begun)
		}
	}
	f.now = nil
	m := f.e.Meaning
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Todo.Done(name)
	return nil
}

// skip postpones a document until it changes or all documents are compared again.
func (f *indexer) skip(name string) {
	f.now = nil
	f.e.Meaning.Mu.Lock()
	defer f.e.Meaning.Mu.Unlock()
	f.e.Meaning.Todo.Postpone(name)
}

// embed embeds a text and rests after it, for what was done since begun and not only for the vector.
func (f *indexer) embed(ctx context.Context, p piece, begun time.Time) error {
	m := f.e.Meaning
	read := time.Since(begun)
	for m.asking.Load() > 0 { // queries come first
		select {
		case <-m.quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	start := time.Now()
	by := f.on.provider()
	made, err := m.Vitals.Embed(ctx, f.on.embedder, embedding.Passage, []string{p.text})
	if err != nil {
		f.failing = by
		return f.textError(err)
	}
	vector := made[0]
	if vector == nil { // the model has no embedding for it; a retry would not help
		vector = make([]float32, f.on.Identity.Dim)
	}
	if err := f.on.Store.Put([]vectors.Entry{{Key: p.key, Vector: vector}}); err != nil {
		return err
	}
	m.made.Add(1)
	f.failed = 0
	f.retryAfterTakeover()
	if f.unsynced++; f.unsynced >= syncAfter {
		if err := f.sync(); err != nil {
			return err
		}
	}
	if pause := RestFor(read+time.Since(start), m.Share); pause > 0 {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.problem = ""
	m.pace.add(time.Since(begun))
	return nil
}

// retryAfterTakeover tries the texts again on which another provider failed.
func (f *indexer) retryAfterTakeover() {
	if f.failing != "" && f.failing != f.on.provider() {
		f.failing = ""
		f.e.Meaning.ChangedAll()
	}
}

// textError returns the error for a failed text. A failure of a single text is no error.
func (f *indexer) textError(err error) error {
	f.failed++
	for _, all := range []error{embedding.ErrAway, embedding.ErrChanged, embedding.ErrNone, embedding.ErrClosed,
		context.Canceled} {
		if errors.Is(err, all) {
			return err
		}
	}
	if f.failed >= maxFailed {
		return err
	}
	f.e.Opt.Logger.Warn("text not embedded", "err", err)
	f.skip(f.now.name)
	return nil
}

func (f *indexer) sync() error {
	f.unsynced = 0
	return f.on.Store.Sync()
}

// waitForWork waits for work, and syncs the index if none comes for a while.
func (f *indexer) waitForWork(ctx context.Context) error {
	if err := f.finish(ctx); err != nil {
		return err
	}
	if f.unsynced == 0 {
		f.sleep(ctx)
		return nil
	}
	if f.sleepFor(ctx, syncDelay) {
		return nil
	}
	return f.sync()
}

// sleep waits until something changed. It has a timer only on battery.
func (f *indexer) sleep(ctx context.Context) {
	m := f.e.Meaning
	m.Mu.Lock()
	waits := m.waitsOnBattery()
	m.Mu.Unlock()
	if waits {
		f.sleepFor(ctx, batteryLook)
		return
	}
	select {
	case <-ctx.Done():
	case <-m.wake:
	}
}

// sleepFor waits until something changed, but not for longer, and reports whether it did.
func (f *indexer) sleepFor(ctx context.Context, most time.Duration) bool {
	f.e.Chores.Arm(embedderName, most)
	defer f.e.Chores.Disarm(embedderName)
	select {
	case <-ctx.Done():
	case <-f.e.Meaning.wake:
	case <-time.After(most):
		return false
	}
	return true
}

// finish makes a complete index the serving one.
func (f *indexer) finish(ctx context.Context) error {
	m := f.e.Meaning
	m.Mu.Lock()
	all := m.Todo.Left() == 0 && !m.changes.all && len(m.changes.memories)+len(m.changes.notes) == 0 &&
		(f.e.Notes.Vault == nil || f.e.Notes.Vault.Complete.Load())
	if all {
		m.problem = ""
	}
	m.Mu.Unlock()
	if !all {
		return nil
	}
	if !f.on.complete {
		f.on.complete = true
		if err := errors.Join(f.on.Store.Sync(), f.e.remember(f.on), f.e.keepOnly(f.on)); err != nil {
			return err
		}
	}
	if f.on.Store.Status().Due {
		return f.on.Store.Compact(ctx)
	}
	return nil
}
