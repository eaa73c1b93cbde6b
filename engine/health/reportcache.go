package health

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

	"emberd/engine/core"
	"emberd/internal/durable"
	"emberd/op"
)

// A report is valid for a day, unless more than one memory in twenty was added or removed, or
// this process saw more than one in five change. Of few memories, a few may change.
const (
	reportStands  = 24 * time.Hour
	reportChanges = 20
	fewMemories   = 20
	manyChanges   = 5
)

// HealthReports are the latest reports by collection, with a file in the state folder. If the
// file is lost, reports are made again.
type HealthReports struct {
	fs   durable.FS
	file string
	now  func() time.Time
	log  *slog.Logger
	// process identifies this process among those that wrote the file.
	process uint64
	Changed atomic.Uint64 // number of changes of memories

	mu   sync.Mutex
	kept map[string]healthReport // nil until the file was read
}

// healthReport is a report with the state of the store. Its process had seen Changed changes;
// another process has seen none of them.
type healthReport struct {
	Result  op.HealthResult `json:"report"`
	All     int             `json:"all"` // number of memories in all collections
	Process uint64          `json:"process"`
	Changed uint64          `json:"changed"`
}

// maxReports is for how many collections reports are kept.
const maxReports = 50

// NewHealthReports returns the reports in the state folder. It reads the file later.
func NewHealthReports(opt *core.Options) *HealthReports {
	return &HealthReports{fs: opt.FS, file: filepath.Join(opt.State, "health.json"), now: opt.Now, log: opt.Logger,
		process: rand.Uint64()}
}

// get returns a valid report, nil if there is none.
func (r *HealthReports) get(s healthScope) *op.HealthResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	kept, ok := r.kept[s.name]
	if !ok || !r.isValid(&kept, s.e) {
		return nil
	}
	res := kept.Result
	res.Cached = true
	return &res
}

func (r *HealthReports) isValid(kept *healthReport, e *Health) bool {
	age := r.now().Sub(kept.Result.At)
	now := e.Stm.Len()
	if age < 0 || age >= reportStands || max(now-kept.All, kept.All-now) > max(1, kept.All/reportChanges) {
		return false
	}
	return kept.Process != r.process || r.Changed.Load()-kept.Changed <= uint64(max(fewMemories, kept.All/manyChanges))
}

// put stores a report that was started at this number of changes.
func (r *HealthReports) put(s healthScope, changed uint64, res *op.HealthResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	if len(r.kept) >= maxReports {
		clear(r.kept)
	}
	r.kept[s.name] = healthReport{Result: *res, All: s.e.Stm.Len(), Process: r.process, Changed: changed}
	r.write()
}

// outdated marks the reports as outdated after a repair.
func (r *HealthReports) outdated() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read()
	if len(r.kept) == 0 {
		return
	}
	clear(r.kept)
	r.write()
}

// Forget deletes all reports, from the disk too.
func (r *HealthReports) Forget() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.read(); len(r.kept) == 0 {
		return nil
	}
	clear(r.kept)
	return r.replace()
}

// write writes the file. mu must be held.
func (r *HealthReports) write() {
	if err := r.replace(); err != nil {
		r.log.Warn("health report not saved", "err", err)
	}
}

func (r *HealthReports) replace() error {
	data, err := json.Marshal(r.kept)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(r.fs, r.file, data)
}

// read reads the file once. Reports that cannot be read are made again.
func (r *HealthReports) read() {
	if r.kept != nil {
		return
	}
	r.kept = make(map[string]healthReport)
	data, err := durable.ReadAll(r.fs, r.file)
	if err == nil {
		err = json.Unmarshal(data, &r.kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Info("health reports rebuilt", "err", err)
		r.kept = make(map[string]healthReport)
	}
}
