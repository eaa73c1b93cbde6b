package ltm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
)

// maxPending is how many batches may wait for the disk before Update waits too.
const maxPending = 8

// mergeFloor is how many documents a segment has to have to be spared from merging with
// smaller ones. Bleve's 2,000 leaves a vault of 10,000 notes in twice as many segments,
// which take a tenth more on the disk and in every search.
const mergeFloor = 3000

// mergeCeiling is how many documents a merge makes a segment of at most: merging holds it in memory
// beside those that it is made of.
const mergeCeiling = 20_000

// abandonBound is how long an index that does not work may take to close. Its merges
// stop within milliseconds.
const abandonBound = 3 * time.Second

// generationKey is the internal key under which each batch stores its number.
const generationKey = "generation"

// store is the scorch index.
type store struct {
	scorch *scorch.Scorch
	queue  *index.AnalysisQueue
}

// registry guards Bleve's package variables: it takes segment plugins and callbacks from
// there by name, when an index is made and opened.
var registry sync.Mutex

// openStore opens the index in dir. Every failure, also a panic, is an error.
func openStore(dir string, h *health) (s store, err error) {
	registry.Lock()
	defer registry.Unlock()
	scorch.RegisterSegmentPlugin(plugin{}, false)
	name := "emberd:" + dir
	scorch.RegistryAsyncErrorCallbacks[name] = h.asyncError
	scorch.RegistryEventCallbacks[name] = h.event
	defer delete(scorch.RegistryAsyncErrorCallbacks, name)
	defer delete(scorch.RegistryEventCallbacks, name)

	// A damaged page of the file with the snapshots makes bbolt panic, or fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the snapshot file of the note index is damaged: %v", r)
		}
	}()
	queue := index.NewAnalysisQueue(1)
	opened := false
	defer func() {
		if !opened {
			queue.Close()
		}
	}()
	idx, err := scorch.NewScorch("emberd", configuration(dir, name, h), queue)
	if err != nil {
		return store{}, err
	}
	if err := idx.Open(); err != nil {
		if strings.Contains(err.Error(), "timeout") {
			return store{}, errInUse
		}
		return store{}, err
	}
	opened = true
	s = store{scorch: idx.(*scorch.Scorch), queue: queue}
	// Bleve logs a snapshot that it cannot load and takes an older one, or none.
	if err := h.opened(); err != nil {
		s.abandon()
		return store{}, err
	}
	return s, nil
}

// configuration returns Bleve's configuration. name is that of the callbacks in its registry.
func configuration(dir, name string, h *health) map[string]any {
	return map[string]any{
		"path":                   dir,
		"bolt_timeout":           "1s",
		"unsafe_batch":           true, // Update waits for memory; see maxPending
		"asyncErrorCallbackName": name,
		"eventCallbackName":      name,
		"forceSegmentType":       plugin{}.Type(),
		"forceSegmentVersion":    int(plugin{}.Version()),
		"scorchMergePlanOptions": map[string]any{"FloorSegmentSize": mergeFloor, "MaxSegmentSize": mergeCeiling},
		// With 0 Bleve's persister asks before it first touches the snapshots; see health.event.
		"scorchPersisterOptions": map[string]any{"PersisterNapUnderNumFiles": 0},
		"segmentConfig":          map[string]any{healthKey: h},
	}
}

// close closes the index, whose batches should be on the disk.
func (s store) close() error {
	s.queue.Close()
	return s.scorch.Close()
}

// abandon closes an index that does not work, so that it no longer touches the folder. Closing
// bbolt after a panic inside it may never end; by then it only holds some memory, so the wait has
// a bound.
func (s store) abandon() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { _ = recover() }() // there is nothing left to save
		_ = s.close()
	}()
	bound := time.NewTimer(abandonBound)
	defer bound.Stop()
	select {
	case <-done:
	case <-bound.C:
	}
}

// view is one consistent state of the index.
type view struct {
	reader     index.IndexReader
	snapshot   *scorch.IndexSnapshot
	generation uint64
	segments   []segmentView
}

// segmentView is a segment as it is seen in a view.
type segmentView struct {
	*segmentBase
	deleted *roaring.Bitmap // documents; nil for none
}

// view returns the state that the last batch left. Close it.
func (s store) view() (*view, error) {
	reader, err := s.scorch.Reader()
	if err != nil {
		return nil, err
	}
	snapshot, ok := reader.(*scorch.IndexSnapshot)
	if !ok || snapshot == nil {
		return nil, ErrClosed
	}
	v := &view{reader: reader, snapshot: snapshot}
	if b := snapshot.Internal()[generationKey]; len(b) == 8 {
		v.generation = binary.BigEndian.Uint64(b)
	}
	for _, ss := range snapshot.Segments() {
		of, ok := ss.Segment().(interface{ base() *segmentBase })
		if !ok {
			v.close()
			return nil, fmt.Errorf("unknown type of index segment: %T", ss.Segment())
		}
		v.segments = append(v.segments, segmentView{segmentBase: of.base(), deleted: ss.Deleted()})
	}
	return v, nil
}

func (v *view) close() { _ = v.reader.Close() } // only counts references down

// live reports whether a document has not been deleted.
func (s *segmentView) live(local uint32) bool {
	return s.deleted == nil || !s.deleted.Contains(local)
}

var errMissing = errors.New("a note is missing from its index segment")

// document returns where the document of a part is.
func (v *view) document(r ref) (segment int, doc uint32, ok bool) {
	for i := range v.segments {
		for _, doc := range v.segments[i].documents(r) {
			if v.segments[i].live(doc) {
				return i, doc, true
			}
		}
	}
	return 0, 0, false
}
