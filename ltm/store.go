package ltm

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// maxPending is how many batches may wait for the disk before Update does.
const maxPending = 8

// mergeFloor is how many documents a segment has to have to be spared from merging with
// smaller ones. Bleve's 2,000 leaves a vault of 10,000 notes in twice as many segments,
// which take a tenth more on the disk and in every search.
const mergeFloor = 3000

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

// openStore opens the index in dir. Whatever goes wrong, in whatever way, is an error.
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
			err = fmt.Errorf("snapshot file is damaged: %v", r)
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

// configuration is what Bleve is told. name is that of the callbacks in its registry.
func configuration(dir, name string, h *health) map[string]any {
	return map[string]any{
		"path":                   dir,
		"bolt_timeout":           "1s",
		"unsafe_batch":           true, // Update waits for memory; see maxPending
		"asyncErrorCallbackName": name,
		"eventCallbackName":      name,
		"forceSegmentType":       plugin{}.Type(),
		"forceSegmentVersion":    int(plugin{}.Version()),
		"scorchMergePlanOptions": map[string]any{"FloorSegmentSize": mergeFloor},
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

// abandon closes an index that does not work, so that nothing of it touches the folder
// any more. Closing bbolt after a panic inside it may never end, which by then only holds
// some memory; so the wait has a bound.
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
	docs       uint32 // numbers of documents, deleted ones included
}

// segmentView is a segment as it is seen in a view.
type segmentView struct {
	segment.Segment
	refs    []ref
	deleted *roaring.Bitmap
	base    uint32 // of its documents in the view
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
		held, ok := ss.Segment().(interface{ documents() []ref })
		if !ok {
			v.close()
			return nil, fmt.Errorf("segment of unknown kind %T", ss.Segment())
		}
		sv := segmentView{Segment: ss.Segment(), refs: held.documents(), deleted: ss.Deleted(), base: v.docs}
		v.segments = append(v.segments, sv)
		v.docs += uint32(len(sv.refs))
	}
	return v, nil
}

func (v *view) close() { _ = v.reader.Close() } // only counts references down

// live reports whether a document has not been deleted.
func (s *segmentView) live(local uint32) bool {
	return s.deleted == nil || !s.deleted.Contains(local)
}

// stored returns a copy of the record stored with a document.
func (s *segmentView) stored(local uint32) ([]byte, error) {
	var b []byte
	err := s.VisitStoredFields(uint64(local), func(field string, _ byte, value []byte, _ []uint64) bool {
		if field == recordField {
			b = slices.Clone(value)
		}
		return b == nil
	})
	if err != nil {
		return nil, fmt.Errorf("read a note's record: %w", err)
	}
	return b, nil
}

// find returns the document of a part.
func (v *view) find(r ref) (*segmentView, uint32, error) {
	for i := range v.segments {
		s := &v.segments[i]
		docs, err := s.DocNumbers([]string{r.id()})
		if err != nil {
			return nil, 0, err
		}
		for _, local := range docs.ToArray() {
			if s.live(local) {
				return s, local, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("part %d of note number %d is missing", r.part, r.note)
}

// posting is a term in a part of a note.
type posting struct {
	packed uint64 // occurrence
	note   uint32
	doc    uint32 // in the view
	part   uint16
}

// postings appends the postings of a term, ascending by document.
func (v *view) postings(to []posting, term string) ([]posting, error) {
	key := []byte(term)
	for i := range v.segments {
		s := &v.segments[i]
		dictionary, err := s.Dictionary(termField)
		if err != nil {
			return to, err
		}
		list, err := dictionary.PostingsList(key, s.deleted, nil)
		if err != nil {
			return to, err
		}
		iterator := list.Iterator(true, false, false, nil)
		p, err := iterator.Next()
		for ; err == nil && p != nil; p, err = iterator.Next() {
			local := uint32(p.Number())
			r := s.refs[local]
			to = append(to, posting{packed: p.Frequency(), note: r.note, doc: s.base + local, part: r.part})
		}
		if err != nil {
			return to, err
		}
	}
	return to, nil
}

// documentsWith returns how many documents hold a term, without reading its postings.
func (v *view) documentsWith(term string) (int, error) {
	count := 0
	for i := range v.segments {
		dictionary, err := v.segments[i].Dictionary(termField)
		if err != nil {
			return 0, err
		}
		list, err := dictionary.PostingsList([]byte(term), v.segments[i].deleted, nil)
		if err != nil {
			return 0, err
		}
		count += int(list.Count())
	}
	return count, nil
}
