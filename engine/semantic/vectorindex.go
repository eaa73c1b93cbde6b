package semantic

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

// VectorIndexFile is the file that each device keeps beside the embeddings of a model.
type VectorIndexFile struct {
	Identity  embedding.Identity    `json:"identity"`
	Grade     embedding.Calibration `json:"grade"`
	Completed time.Time             `json:"completed,omitzero"` // when every text first had its embedding
}

// Alone is the name of this device if no other one writes to the folder.
const Alone = "here"

// writer returns the name of this device among the embeddings of others. Without others it is
// always the same, even if the device gets a new ID.
func (e *Semantic) writer() string {
	if e.Meaning.Shared {
		return e.Stm.Status().Device
	}
	return Alone
}

// indexFileName returns the path of the VectorIndexFile.
func (e *Semantic) indexFileName(dir string) string { return filepath.Join(dir, e.writer()+".json") }

// describedFolders returns what this device says of the indexes in each folder, by its name: the key
// that the identity had for the version that made it.
func (e *Semantic) describedFolders() map[string]VectorIndexFile {
	dirs, err := e.Opt.FS.ReadDir(e.Meaning.Dir)
	if err != nil {
		return nil // there are none yet, or opening one returns the error
	}
	out := make(map[string]VectorIndexFile)
	for _, d := range dirs {
		var f VectorIndexFile
		data, err := durable.ReadAll(e.Opt.FS, e.indexFileName(filepath.Join(e.Meaning.Dir, d.Name())))
		if err == nil && json.Unmarshal(data, &f) == nil {
			out[d.Name()] = f
		}
	}
	return out
}

// storedIndexes returns the indexes of this device whose vectors this version would make alike,
// newest first.
func (e *Semantic) storedIndexes() []VectorIndexFile {
	var out []VectorIndexFile
	for name, f := range e.describedFolders() {
		if f.Identity.Key() == name {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b VectorIndexFile) int {
		return cmp.Or(b.Completed.Compare(a.Completed), strings.Compare(a.Identity.Key(), b.Identity.Key()))
	})
	return out
}

// openVectorIndex opens the vector index of an embedder.
func (e *Semantic) openVectorIndex(embedder *embedding.Embedder, id embedding.Identity) (*VectorIndex, error) {
	s := &VectorIndex{Dir: filepath.Join(e.Meaning.Dir, id.Key()), Identity: id, embedder: embedder}
	for _, f := range e.storedIndexes() {
		if f.Identity.Key() == id.Key() {
			s.Grade, s.complete = f.Grade, !f.Completed.IsZero()
		}
	}
	if err := durable.MkdirAll(e.Opt.FS, s.Dir); err != nil {
		return nil, err
	}
	e.Indexes.Mu.Lock()
	defer e.Indexes.Mu.Unlock()
	store, err := vectors.Open(s.Dir,
		&vectors.Options{FS: e.Opt.FS, Logger: e.Opt.Logger, Identity: id.Key(), Dim: id.Dim,
			Device: e.writer(), Others: e.Meaning.Shared, Now: e.Opt.Now})
	s.Store = store
	if err == nil {
		e.Indexes.Dirs = append(e.Indexes.Dirs, s.Dir)
		s.onClose = e.Indexes.closed
	}
	return s, err
}

// OpenIndexes are the folders of open vector indexes.
type OpenIndexes struct {
	Mu   sync.Mutex // guards Dirs; held while an index is opened, or purged without being open
	Dirs []string
}

func (r *OpenIndexes) closed(dir string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if i := slices.Index(r.Dirs, dir); i >= 0 {
		r.Dirs = slices.Delete(r.Dirs, i, i+1)
	}
}

// remember writes the file of an index.
func (e *Semantic) remember(s *VectorIndex) error {
	f := VectorIndexFile{Identity: s.Identity, Grade: s.Grade}
	if s.complete {
		f.Completed = e.Opt.Now().UTC()
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(e.Opt.FS, e.indexFileName(s.Dir), data)
}

// close closes the index; its files stay.
func (s *VectorIndex) close() error {
	err := s.Store.Close()
	s.onClose(s.Dir)
	if s.own {
		err = errors.Join(err, s.embedder.Close())
	}
	return err
}

// ensureCalibrated ensures that the index has a current calibration.
func (e *Semantic) ensureCalibrated(ctx context.Context, s *VectorIndex) error {
	m := e.Meaning
	grade := m.Grade
	if !grade.Current() {
		grade = s.Grade
	}
	if !grade.Current() {
		var err error
		if grade, err = s.embedder.Grade(ctx); err != nil {
			return err
		}
	}
	m.Mu.Lock()
	changed := s.Grade != grade
	s.Grade = grade
	m.Mu.Unlock()
	if !changed {
		return nil
	}
	return e.remember(s)
}

// servePreviousIndex makes the complete index of an earlier model serve searches until the
// next one is built.
func (e *Semantic) servePreviousIndex(ctx context.Context, but string) {
	m := e.Meaning
	if m.serving.Load() != nil {
		return
	}
	for _, f := range e.storedIndexes() {
		if f.Completed.IsZero() || f.Identity.Key() == but {
			continue
		}
		s, err := e.reopenIndex(ctx, f)
		if err != nil {
			e.Opt.Logger.Info("embeddings of an earlier model not used", "model", f.Identity.Model, "err", err)
			continue
		}
		m.Mu.Lock()
		m.earlier = s
		m.Mu.Unlock()
		m.serving.Store(s)
		return
	}
}

func (e *Semantic) reopenIndex(ctx context.Context, f VectorIndexFile) (*VectorIndex, error) {
	embedder, err := e.Meaning.Embedder.Reopen(f.Identity)
	if err != nil {
		return nil, err
	}
	id, err := embedder.Ready(ctx)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	s, err := e.openVectorIndex(embedder, id)
	if err != nil {
		return nil, errors.Join(err, embedder.Close())
	}
	s.own = true
	if err := e.ensureCalibrated(ctx, s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// serveAlone has an index serve, and closes the earlier one.
func (m *Embeddings) serveAlone(s *VectorIndex) error {
	m.serving.Store(s)
	m.Mu.Lock()
	earlier := m.earlier
	m.earlier = nil
	m.Mu.Unlock()
	if earlier == nil {
		return nil
	}
	return earlier.close()
}

// keepOnly closes the earlier index, and removes this device's embeddings of all models but one.
func (e *Semantic) keepOnly(keep *VectorIndex) error {
	m := e.Meaning
	err := m.serveAlone(keep)
	for name := range e.describedFolders() {
		if name != keep.Identity.Key() {
			err = errors.Join(err, e.removeIndex(filepath.Join(m.Dir, name)))
		}
	}
	return err
}

// removeIndex removes the files of this device, the description last, and the folder if it is
// empty then.
func (e *Semantic) removeIndex(dir string) error {
	entries, err := e.Opt.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(strings.TrimPrefix(entry.Name(), "."), e.writer()+"-") {
			err = errors.Join(err, e.Opt.FS.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	if err := e.Opt.FS.Remove(e.indexFileName(dir)); err != nil {
		return err
	}
	if rest, err := e.Opt.FS.ReadDir(dir); err != nil || len(rest) > 0 {
		return err
	}
	if err := e.Opt.FS.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return e.Opt.FS.SyncDir(e.Meaning.Dir)
}
