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

// maxPending is how many batches may wait for the disk before Update waits too.
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
	docs       uint32 // numbers of documents, deleted ones included
}

// segmentView is a segment as it is seen in a view.
type segmentView struct {
	segment.Segment
	refs    []ref
	further *roaring.Bitmap // documents that are not the first part of their note
	deleted *roaring.Bitmap
	base    uint32                 // of its documents in the view
	terms   segment.TermDictionary // nil until a term is looked up
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
		held, ok := ss.Segment().(interface{ documents() documents })
		if !ok {
			v.close()
			return nil, fmt.Errorf("segment of unknown kind %T", ss.Segment())
		}
		in := held.documents()
		sv := segmentView{Segment: ss.Segment(), refs: in.refs, further: in.further, deleted: ss.Deleted(),
			base: v.docs}
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

// document returns the document of a part.
func (v *view) document(r ref) (*segmentView, uint32, error) {
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

// place returns the segment that holds a document of the view, and its number there.
func (v *view) place(doc uint32) (*segmentView, uint32) {
	i := len(v.segments) - 1
	for i > 0 && v.segments[i].base > doc {
		i--
	}
	return &v.segments[i], doc - v.segments[i].base
}

// posting is a term in a part of a note.
type posting struct {
	packed uint64 // occurrence
	note   uint32
	doc    uint32 // in the view
	part   uint16
}

// room is the memory for reading postings, kept for the next term.
type room struct {
	list     segment.PostingsList
	iterator segment.PostingsIterator
}

// find looks a term up.
func (s *segmentView) find(term string, r *room) (err error) {
	if s.terms == nil {
		if s.terms, err = s.Dictionary(termField); err != nil {
			return err
		}
	}
	r.list, err = s.terms.PostingsList([]byte(term), s.deleted, r.list)
	return err
}

// postings appends the postings of a term, ascending by document.
func (v *view) postings(to []posting, term string, r *room) ([]posting, error) {
	for i := range v.segments {
		s := &v.segments[i]
		if err := s.find(term, r); err != nil {
			return to, err
		}
		to = slices.Grow(to, int(r.list.Count()))
		r.iterator = r.list.Iterator(true, false, false, r.iterator)
		p, err := r.iterator.Next()
		for ; err == nil && p != nil; p, err = r.iterator.Next() {
			local := uint32(p.Number())
			ref := s.refs[local]
			to = append(to, posting{packed: p.Frequency(), note: ref.note, doc: s.base + local, part: ref.part})
		}
		if err != nil {
			return to, err
		}
	}
	return to, nil
}

// documentsWith returns how many documents contain a term, without reading its postings.
func (v *view) documentsWith(term string, r *room) (int, error) {
	count := 0
	for i := range v.segments {
		if err := v.segments[i].find(term, r); err != nil {
			return 0, err
		}
		count += int(r.list.Count())
	}
	return count, nil
}

// notesWith returns how many notes contain a term. It looks at single documents only where notes
// have several.
func (v *view) notesWith(term string, r *room) (int, error) {
	count := 0
	for i := range v.segments {
		s := &v.segments[i]
		if err := s.find(term, r); err != nil {
			return 0, err
		}
		n := int(r.list.Count())
		if n > 1 && !s.further.IsEmpty() {
			n -= s.doubles(r)
		}
		count += n
	}
	return count, nil
}

// doubles returns how many documents of the postings in r come after another of their note.
func (s *segmentView) doubles(r *room) int {
	r.iterator = r.list.Iterator(false, false, false, r.iterator)
	in := r.iterator.(segment.OptimizablePostingsIterator).ActualBitmap() // zap's has two at least
	n := 0
	for it := roaring.And(in, s.further).Iterator(); it.HasNext(); {
		doc := it.Next()
		for part := uint32(s.refs[doc].part); part > 0; part-- {
			if in.Contains(doc - part) {
				n++
				break
			}
		}
	}
	return n
}
