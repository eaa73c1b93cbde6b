package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"

	"emberd/internal/cluster"
	"emberd/internal/durable"
	"emberd/op"
)

// foundBy is how a cluster was found.
type foundBy struct {
	Threshold float64 `json:"threshold"`
	MaxSize   int     `json:"max_size"`
}

// usualClusters is how clusters are found unless somebody asks otherwise.
func usualClusters(opt *Options) foundBy {
	return foundBy{cmp.Or(opt.Agents.Threshold, op.ClusterThreshold), min(opt.Agents.MaxSize, largestCluster)}
}

// mostListed is how many clusters that were found otherwise are known by their ids.
const mostListed = 1000

// listed knows how the clusters were found that somebody was told of, so that one can be
// found again by its id, by the next run of the daemon too. Those that were found as usual
// need no more than that they were told. It forgets the oldest ones.
type listed struct {
	fs    durable.FS
	file  string
	usual foundBy

	mu   sync.Mutex // guards what follows
	told map[string]bool
	all  []otherwise // oldest first
}

// otherwise is a cluster that was not found as usual.
type otherwise struct {
	ID string `json:"id"`
	foundBy
}

// newListed goes on where the last run ended.
func newListed(opt *Options) *listed {
	l := &listed{fs: opt.FS, file: filepath.Join(opt.State, "clusters.json"), usual: usualClusters(opt), told: make(map[string]bool)}
	data, err := durable.ReadAll(l.fs, l.file)
	if err == nil {
		err = json.Unmarshal(data, &l.all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		opt.Logger.Warn("clusters that were found before are not known by their ids", "err", err)
	}
	return l
}

// add takes in that somebody is told of clusters.
func (l *listed) add(found []cluster.Cluster, how foundBy) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if how == l.usual {
		for _, c := range found {
			l.tell(c.ID)
		}
		return nil
	}
	known := make(map[string]foundBy, len(l.all))
	for _, o := range l.all {
		known[o.ID] = o.foundBy
	}
	before := len(l.all)
	for _, c := range found {
		if known[c.ID] != how {
			l.all = append(l.all, otherwise{c.ID, how})
		}
	}
	if len(l.all) == before {
		return nil
	}
	l.all = l.all[max(0, len(l.all)-mostListed):]
	data, err := json.Marshal(l.all)
	if err != nil {
		return err
	}
	return durable.ReplaceFile(l.fs, l.file, data)
}

// tell forgets all at the bound: what is lost is only in which words a cluster that is
// gone is refused.
func (l *listed) tell(id string) {
	if len(l.told) == 10*mostListed {
		clear(l.told)
	}
	l.told[id] = true
}

// options are how a cluster was found last, and whether somebody was told of it.
func (l *listed) options(id string) (foundBy, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.all) - 1; i >= 0; i-- {
		if l.all[i].ID == id {
			return l.all[i].foundBy, true
		}
	}
	return l.usual, l.told[id]
}
