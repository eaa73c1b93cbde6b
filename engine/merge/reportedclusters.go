package merge

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"emberd/engine/core"
	"emberd/internal/dedupe"
	"emberd/internal/durable"
	"emberd/op"
)

// clusterOptions are the options with which a cluster was found.
type clusterOptions struct {
	Threshold float64 `json:"threshold"`
	MaxSize   int     `json:"max_size"`
}

// usualClusters returns the default options.
func usualClusters(opt *core.Options) clusterOptions {
	return clusterOptions{cmp.Or(opt.Agents.Threshold, op.ClusterThreshold), min(opt.Agents.MaxSize, MaxClusterSize)}
}

// maxListed is how many clusters found with other options are remembered.
const maxListed = 1000

// ReportedClusters remembers the options of the clusters in answers, so that a caller can name
// one by its ID, also in the next run of the daemon. For clusters with default options it
// remembers only that they were reported. It drops the oldest ones.
type ReportedClusters struct {
	fs    durable.FS
	file  string
	usual clusterOptions

	mu   sync.Mutex // guards the fields below
	told map[string]bool
	all  []customCluster // oldest first
}

// A customCluster is a cluster that was not found with the default options.
type customCluster struct {
	ID string `json:"id"`
	clusterOptions
}

// NewReportedClusters continues from the file of the last run.
func NewReportedClusters(opt *core.Options) *ReportedClusters {
	l := &ReportedClusters{fs: opt.FS, file: filepath.Join(opt.State, "clusters.json"), usual: usualClusters(opt),
		told: make(map[string]bool)}
	data, err := durable.ReadAll(l.fs, l.file)
	if err == nil {
		err = json.Unmarshal(data, &l.all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		opt.Logger.Warn("IDs of earlier groups not read", "err", err)
	}
	return l
}

// add records reported clusters.
func (l *ReportedClusters) add(found []dedupe.Cluster, how clusterOptions) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if how == l.usual {
		for _, c := range found {
			l.tell(c.ID)
		}
		return nil
	}
	known := make(map[string]clusterOptions, len(l.all))
	for _, o := range l.all {
		known[o.ID] = o.clusterOptions
	}
	before := len(l.all)
	for _, c := range found {
		if known[c.ID] != how {
			l.all = append(l.all, customCluster{c.ID, how})
		}
	}
	if len(l.all) == before {
		return nil
	}
	l.all = l.all[max(0, len(l.all)-maxListed):]
	data, err := json.Marshal(l.all)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(l.fs, l.file, data)
}

// tell records a reported ID. At the limit it drops all: that only changes the message for a
// cluster that no longer exists.
func (l *ReportedClusters) tell(id string) {
	if len(l.told) == 10*maxListed {
		clear(l.told)
	}
	l.told[id] = true
}

// options returns the options of a reported cluster, and whether it was reported.
func (l *ReportedClusters) options(id string) (clusterOptions, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.all) - 1; i >= 0; i-- {
		if l.all[i].ID == id {
			return l.all[i].clusterOptions, true
		}
	}
	return l.usual, l.told[id]
}
