package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/embedding"
	"emberd/internal/durable"
	"emberd/vectors"
)

// rackFile is what is kept beside the vectors of a model, by each device.
type rackFile struct {
	Identity  embedding.Identity `json:"identity"`
	Grade     embedding.Grade    `json:"grade"`
	Completed time.Time          `json:"completed,omitzero"` // when everything had its vectors first
}

// alone is what a device is called where no other one can write.
const alone = "here"

// writer is what this device is called beside the vectors of others. Where there are none
// it goes by one name, even when it is given a new identity.
func (e *Engine) writer() string {
	if e.meaning.Shared {
		return e.stm.Status().Device
	}
	return alone
}

// rackName is that file's.
func (e *Engine) rackName(dir string) string { return filepath.Join(dir, e.writer()+".json") }

// kept are the racks of this device, latest first.
func (e *Engine) keptRacks() []rackFile {
	dirs, err := e.opt.FS.ReadDir(e.meaning.Dir)
	if err != nil {
		return nil // there are none yet, or opening one tells
	}
	var out []rackFile
	for _, d := range dirs {
		var f rackFile
		data, err := durable.ReadAll(e.opt.FS, e.rackName(filepath.Join(e.meaning.Dir, d.Name())))
		if err == nil && json.Unmarshal(data, &f) == nil && f.Identity.Key() == d.Name() {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b rackFile) int {
		return cmp.Or(b.Completed.Compare(a.Completed), strings.Compare(a.Identity.Key(), b.Identity.Key()))
	})
	return out
}

// openRack opens the vectors that an embedder makes.
func (e *Engine) openRack(embedder *embedding.Embedder, id embedding.Identity) (*rack, error) {
	s := &rack{dir: filepath.Join(e.meaning.Dir, id.Key()), identity: id, embedder: embedder}
	for _, f := range e.keptRacks() {
		if f.Identity.Key() == id.Key() {
			s.grade, s.complete = f.Grade, !f.Completed.IsZero()
		}
	}
	if err := durable.MkdirAll(e.opt.FS, s.dir); err != nil {
		return nil, err
	}
	e.racks.mu.Lock()
	defer e.racks.mu.Unlock()
	store, err := vectors.Open(s.dir, &vectors.Options{FS: e.opt.FS, Logger: e.opt.Logger, Identity: id.Key(), Dim: id.Dim,
		Device: e.writer(), Others: e.meaning.Shared, Now: e.opt.Now})
	s.store = store
	if err == nil {
		e.racks.dirs = append(e.racks.dirs, s.dir)
		s.shut = e.racks.closed
	}
	return s, err
}

// openRacks are the folders of vectors that are open.
type openRacks struct {
	mu   sync.Mutex // guards dirs, and is held while one is opened, or purged without being open
	dirs []string
}

func (r *openRacks) closed(dir string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.dirs, dir); i >= 0 {
		r.dirs = slices.Delete(r.dirs, i, i+1)
	}
}

// remember writes what is known of a rack.
func (e *Engine) remember(s *rack) error {
	f := rackFile{Identity: s.identity, Grade: s.grade}
	if s.complete {
		f.Completed = e.opt.Now().UTC()
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(e.opt.FS, e.rackName(s.dir), data)
}

// close keeps what the rack has.
func (s *rack) close() error {
	err := s.store.Close()
	s.shut(s.dir)
	if s.own {
		err = errors.Join(err, s.embedder.Close())
	}
	return err
}

// graded makes sure that it is known what the vectors of a rack are worth.
func (e *Engine) graded(ctx context.Context, s *rack) error {
	m := e.meaning
	grade := m.grade
	if !grade.Current() {
		grade = s.grade
	}
	if !grade.Current() {
		var err error
		if grade, err = s.embedder.Grade(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	changed := s.grade != grade
	s.grade = grade
	m.mu.Unlock()
	if !changed {
		return nil
	}
	return e.remember(s)
}

// serveEarlier has searches ask the vectors of an earlier model, of which there are all,
// while those of another one are made.
func (e *Engine) serveEarlier(ctx context.Context, but string) {
	m := e.meaning
	if m.serving.Load() != nil {
		return
	}
	for _, f := range e.keptRacks() {
		if f.Completed.IsZero() || f.Identity.Key() == but {
			continue
		}
		s, err := e.reopenRack(ctx, f)
		if err != nil {
			e.opt.Logger.Info("vectors of an earlier model do not serve", "model", f.Identity.Model, "err", err)
			continue
		}
		m.mu.Lock()
		m.earlier = s
		m.mu.Unlock()
		m.serving.Store(s)
		return
	}
}

func (e *Engine) reopenRack(ctx context.Context, f rackFile) (*rack, error) {
	embedder, err := e.meaning.Embedder.Reopen(f.Identity)
	if err != nil {
		return nil, err
	}
	id, err := embedder.Ready(ctx)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	s, err := e.openRack(embedder, id)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	s.own = true
	if err := e.graded(ctx, s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// retire ends the service of an earlier model, and removes the vectors of this device of
// all models but one.
func (e *Engine) retire(keep *rack) error {
	m := e.meaning
	m.serving.Store(keep)
	m.mu.Lock()
	earlier := m.earlier
	m.earlier = nil
	m.mu.Unlock()
	var err error
	if earlier != nil {
		err = earlier.close()
	}
	for _, f := range e.keptRacks() {
		if f.Identity.Key() != keep.identity.Key() {
			err = errors.Join(err, e.removeRack(filepath.Join(m.Dir, f.Identity.Key())))
		}
	}
	return err
}

// removeRack removes the files of this device, what tells of them last, and the folder if
// that was all.
func (e *Engine) removeRack(dir string) error {
	entries, err := e.opt.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(strings.TrimPrefix(entry.Name(), "."), e.writer()+"-") {
			err = errors.Join(err, e.opt.FS.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	if err := e.opt.FS.Remove(e.rackName(dir)); err != nil {
		return err
	}
	if rest, err := e.opt.FS.ReadDir(dir); err != nil || len(rest) > 0 {
		return err
	}
	if err := e.opt.FS.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return e.opt.FS.SyncDir(e.meaning.Dir)
}
