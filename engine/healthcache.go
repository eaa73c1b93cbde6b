package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"emberd/internal/durable"
	"emberd/op"
)

// Reports stand for a day, unless more than one memory in twenty came or went, or this
// process saw more than one in five change; but of few memories a few may change.
const (
	reportStands  = 24 * time.Hour
	reportChanges = 20
	fewMemories   = 20
	manyChanges   = 5
)

// healthReports are the latest of each collection, in a file of the state folder. Losing them
// costs making them anew.
type healthReports struct {
	fs   durable.FS
	file string
	now  func() time.Time
	log  *slog.Logger
	// process tells this process from others that wrote the file.
	process uint64
	changed atomic.Uint64 // memories, each as often as it was

	mu   sync.Mutex
	kept map[string]healthReport // nil until the file was read
}

// healthReport is one with what the store was like. Process had seen so many changes;
// another one has seen none of them.
type healthReport struct {
	Result  op.HealthResult `json:"report"`
	All     int             `json:"all"` // memories of every collection
	Process uint64          `json:"process"`
	Changed uint64          `json:"changed"`
}

// mostReports is of how many collections reports are kept.
const mostReports = 50

func newHealthReports(opt *Options) *healthReports {
	return &healthReports{fs: opt.FS, file: filepath.Join(opt.State, "health.json"), now: opt.Now, log: opt.Logger,
		process: rand.Uint64()}
}

// get returns a report that still stands, nil if there is none.
func (r *healthReports) get(s healthScope) *op.HealthResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	kept, ok := r.kept[s.name]
	if !ok || !r.stands(&kept, s.e) {
		return nil
	}
	res := kept.Result
	res.Cached = true
	return &res
}

func (r *healthReports) stands(kept *healthReport, e *Engine) bool {
	age := r.now().Sub(kept.Result.At)
	now := e.stm.Len()
	if age < 0 || age >= reportStands || max(now-kept.All, kept.All-now) > max(1, kept.All/reportChanges) {
		return false
	}
	return kept.Process != r.process || r.changed.Load()-kept.Changed <= uint64(max(fewMemories, kept.All/manyChanges))
}

// put keeps a report that was begun after so many changes.
func (r *healthReports) put(s healthScope, changed uint64, res *op.HealthResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	if len(r.kept) >= mostReports {
		clear(r.kept)
	}
	r.kept[s.name] = healthReport{Result: *res, All: s.e.stm.Len(), Process: r.process, Changed: changed}
	r.write()
}

// outdated says that something mended what reports tell of.
func (r *healthReports) outdated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	if len(r.kept) == 0 {
		return
	}
	clear(r.kept)
	r.write()
}

// forget has none left, on the disk either.
func (r *healthReports) forget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read(); len(r.kept) == 0 {
		return nil
	}
	clear(r.kept)
	return r.replace()
}

// write is called with the lock held.
func (r *healthReports) write() {
	if err := r.replace(); err != nil {
		r.log.Warn("health report not kept", "err", err)
	}
}

func (r *healthReports) replace() error {
	data, err := json.Marshal(r.kept)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(r.fs, r.file, data)
}

// read takes in the file once. What cannot be read is made anew.
func (r *healthReports) read() {
	if r.kept != nil {
		return
	}
	r.kept = make(map[string]healthReport)
	data, err := durable.ReadAll(r.fs, r.file)
	if err == nil {
		err = json.Unmarshal(data, &r.kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Info("health reports are made anew", "err", err)
		r.kept = make(map[string]healthReport)
	}
}
