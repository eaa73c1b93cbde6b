package transcripts

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/durable"
	"emberd/ltm"
	"emberd/memory"
)

// batchDocs is how many sessions are indexed at once.
const batchDocs = 32

// open opens the index if there are sessions or was an index of some, and brings it up to the files if the folder was
// changed since the last look, by whomever. The caller holds the lock.
func (e *Transcripts) open(ctx context.Context) error {
	if e.closed {
		return memory.Errorf(memory.Unavailable, "the daemon is stopping; try again later")
	}
	if e.index == nil {
		if !e.there(e.dir) && !e.there(e.indexDir) {
			return nil
		}
		if err := e.begin(); err != nil {
			return err
		}
	}
	if e.index.NeedsRebuild() {
		return e.renew(ctx)
	}
	info, err := e.Opt.FS.Lstat(e.dir)
	if err == nil && info.ModTime().Equal(e.listed) && !e.listed.IsZero() {
		return nil
	}
	if err := e.reconcile(ctx); !errors.Is(err, ltm.ErrRebuild) {
		return err
	}
	return e.renew(ctx)
}

// renew builds a damaged index again.
func (e *Transcripts) renew(ctx context.Context) error {
	if err := e.begin(); err != nil {
		return err
	}
	return e.reconcile(ctx)
}

func (e *Transcripts) there(dir string) bool {
	_, err := e.Opt.FS.Lstat(dir)
	return err == nil
}

// begin opens the index, in place of one that is damaged.
func (e *Transcripts) begin() error {
	if e.index != nil {
		if err := e.index.Close(); err != nil {
			e.Opt.Logger.Warn("damaged index of past sessions not closed", "err", err)
		}
		e.index = nil
	}
	if err := durable.SweepTemps(e.Opt.FS, e.dir); err != nil {
		return err
	}
	index, err := ltm.Open(e.indexDir, &ltm.Options{Logger: e.Opt.Logger, Analyzer: e.Text})
	if err != nil {
		return memory.Errorf(memory.Unavailable, "cannot open the index of past sessions: %w", err)
	}
	e.index = index
	e.heads.Clear()
	return nil
}

// reconcile brings the index up to the files. The caller holds the lock.
func (e *Transcripts) reconcile(ctx context.Context) error {
	files, err := e.files()
	if err != nil {
		return err
	}
	var gone []string
	for name := range e.index.Known() {
		if _, ok := files[name]; !ok {
			gone = append(gone, name)
		}
	}
	var put []ltm.Doc
	for name, info := range files {
		known, ok := e.index.Cursor(name)
		_, headed := e.heads.Load(name)
		if same := ok && known.Size == info.Size() && known.ModTime.Equal(info.ModTime()); same && headed {
			continue
		} else if same {
			err = e.readHead(name)
		} else {
			put, err = e.appendDoc(put, name, info)
		}
		if err == nil && len(put) >= batchDocs {
			err, put = e.index.Update(ctx, put, nil), nil
		}
		if err != nil {
			return err
		}
	}
	return e.update(ctx, put, gone)
}

// files returns the files of sessions by their names.
func (e *Transcripts) files() (map[string]fs.FileInfo, error) {
	files := map[string]fs.FileInfo{}
	entries, err := e.Opt.FS.ReadDir(e.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || filepath.Ext(entry.Name()) != fileExt || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		info, err := e.Opt.FS.Lstat(filepath.Join(e.dir, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files[entry.Name()] = info
	}
	return files, nil
}

// update changes the index, and notes that it is up to the files.
func (e *Transcripts) update(ctx context.Context, put []ltm.Doc, gone []string) error {
	if len(put)+len(gone) > 0 {
		if err := e.index.Update(ctx, put, gone); err != nil {
			return err
		}
	}
	for _, name := range gone {
		e.heads.Delete(name)
	}
	if len(gone) > 0 {
		if err := e.index.Scrub(ctx); err != nil {
			return err
		}
	}
	info, err := e.Opt.FS.Lstat(e.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		e.listed = info.ModTime()
	}
	return err
}

// reindex has the index take one file again. The caller holds the lock and has opened the index.
func (e *Transcripts) reindex(ctx context.Context, name string) error {
	if e.index == nil {
		return e.open(ctx)
	}
	info, err := e.Opt.FS.Lstat(filepath.Join(e.dir, name))
	if err != nil {
		return err
	}
	docs, err := e.appendDoc(nil, name, info)
	if err != nil {
		return err
	}
	if err = e.update(ctx, docs, nil); errors.Is(err, ltm.ErrRebuild) {
		return e.renew(ctx)
	}
	return err
}

// readHead reads what a file tells of its session.
func (e *Transcripts) readHead(name string) error {
	f, err := e.Opt.FS.OpenRead(filepath.Join(e.dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	const most = 8 << 10
	buf := make([]byte, most)
	n, _ := f.ReadAt(buf, 0) // a short file, or a fault that the next reading meets
	e.heads.Store(name, parse(buf[:n]).head)
	return nil
}

// appendDoc appends what the index is told of a file. A file that names no session is left out.
func (e *Transcripts) appendDoc(docs []ltm.Doc, name string, info fs.FileInfo) ([]ltm.Doc, error) {
	data, err := durable.ReadAtMost(e.Opt.FS, filepath.Join(e.dir, name), 2*maxSession)
	if errors.Is(err, durable.ErrTooLarge) {
		e.Opt.Logger.Warn("file of a past session too large and not searched", "file", name)
		return docs, nil
	}
	if err != nil {
		return docs, err
	}
	s := parse(data)
	if s.Agent == "" || s.ID == "" {
		e.Opt.Logger.Warn("file of a past session without session ID not searched", "file", name)
		return docs, nil
	}
	e.heads.Store(name, s.head)
	// The title is left out: it says again what the first message does, and would count for every passage.
	doc := ltm.Doc{Path: name, Created: s.First, Modified: s.Last,
		Cursor: ltm.Cursor{Digest: cursorDigest(data), Size: info.Size(), ModTime: info.ModTime()}}
	for _, p := range []ltm.Property{{Key: "agent", Value: s.Agent}, {Key: "project", Value: s.Project}} {
		if p.Value != "" {
			doc.Properties = append(doc.Properties, p)
		}
	}
	var whole strings.Builder
	for _, part := range s.sections() {
		said := part.text()
		doc.Sections = append(doc.Sections, ltm.Section{Line: part.line(), Text: said})
		whole.WriteString(said)
	}
	doc.Text = whole.String()
	return append(docs, doc), nil
}

// names returns the files that the index has, in order.
func (e *Transcripts) names() (all []string) {
	for name := range e.index.Known() {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
