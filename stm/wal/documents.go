package wal

import (
	"context"
	"path/filepath"
	"sync"

	"emberd/stm/offload"
	"emberd/stm/repair"
	"emberd/stm/snapshot"
	"emberd/stm/table"
)

// documentStore is the log as far as documents of rows are in files.
type documentStore struct{ *Log }

// documents are the files that documents of rows are in, see package offload.
type documents struct {
	tidy    bool       // leave nothing dead; guarded by the lock of the snapshot
	finding sync.Mutex // held by one search of the log for a document
}

// mover moves documents to files. The lock of the snapshot is held while it does.
func (s documentStore) mover() *offload.Mover {
	return &offload.Mover{FS: s.FS, Dir: filepath.Dir(s.SnapshotPath()), Table: s.Table, InMemory: s.documentBytes,
		Again: s.findAgain, Exclusive: s.betweenBatches}
}

// betweenBatches runs fn on the writer's goroutine, or, when the writer has ended, here.
func (s documentStore) betweenBatches(ctx context.Context, fn func()) error {
	ran := false
	err := s.OnWriter(ctx, func() {
		fn()
		ran = true
	})
	if err == nil && !ran {
		s.Writer.stopped.Wait()
		fn()
	}
	return err
}

// findAgain finds a document that cannot be read in the files of the log, and has it in memory from then on. The
// row's file is not referred to by the next snapshot.
func (s documentStore) findAgain(r *table.Row) ([]byte, error) {
	s.Snapshot.documents.finding.Lock()
	defer s.Snapshot.documents.finding.Unlock()
	in, _ := table.Away(r)
	in.Shun()
	row, err := repair.Document(s.FS, s.Data, r, s.Table.Purged())
	if err != nil {
		s.Logger.Error("cannot read a document from its file or from the log", "file", filepath.Base(in.Name()),
			"memory", r.ID(), "error", err)
		return nil, err
	}
	s.Logger.Warn("cannot read a document file; emberd read the document from the log instead", "file",
		filepath.Base(in.Name()), "memory", r.ID())
	if c := s.Table.Cell(r.Key); c != nil {
		c.Return(r, row.Doc)
	}
	return row.Doc, nil
}

// sweep removes the files of documents that no snapshot refers to, or returns an error.
func (s documentStore) sweep() error {
	s.Snapshot.mu.Lock()
	defer s.Snapshot.mu.Unlock()
	return snapshot.Sweep(s.FS, s.State)
}

// drop removes all files of documents of this log, which no snapshot refers to any more. Rows go on with the
// open ones until the next snapshot writes all again.
func (s documentStore) drop() error {
	s.Snapshot.mu.Lock()
	defer s.Snapshot.mu.Unlock()
	live, _ := offload.InFiles(s.Table)
	for f := range live {
		f.Shun()
	}
	return snapshot.Sweep(s.FS, s.State)
}

// sweepLater removes the files of documents that no snapshot refers to. What is left is tried again later.
func (s documentStore) sweepLater() {
	if err := snapshot.Sweep(s.FS, s.State); err != nil {
		s.Logger.Warn("cannot remove unused document files yet", "error", err)
	}
}

// tidyNext has the next snapshot leave nothing in files of documents that no row refers to.
func (s documentStore) tidyNext() {
	s.Snapshot.mu.Lock()
	defer s.Snapshot.mu.Unlock()
	s.Snapshot.tidy = true
}
