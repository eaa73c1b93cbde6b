package ltm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
)

// scrubMark is the path of a note that Scrub adds and removes. No note of a vault has it.
const scrubMark = "\x00scrub"

// scrubBound is how long Scrub waits for the files. An index of 10,000 notes takes two seconds.
const scrubBound = 30 * time.Second

var errNotScrubbed = errors.New("emberd is merging the files of the note index; try again")

// scrubPause is how often Scrub looks whether the replaced files are gone.
const scrubPause = 5 * time.Millisecond

// Scrub writes the index again without the texts of notes that were removed or replaced, which
// otherwise stay in its files until Bleve merges them. When it returns nil, the files contain the
// texts of the current notes alone, and no folder of an unusable index is left. It takes as long
// as writing the whole index.
func (x *Index) Scrub(ctx context.Context) error {
	x.scrubbing.Lock()
	defer x.scrubbing.Unlock()
	if err := os.RemoveAll(x.dir + asideSuffix); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, scrubBound, errNotScrubbed)
	defer cancel()
	if err := x.written(ctx); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(x.dir, "*.zap"))
	if err != nil || len(old) == 0 {
		return err
	}
	// Bleve merges two segments or more. The mark makes a second one.
	if err := x.Update(ctx, []Doc{{Path: scrubMark}}, nil); err != nil {
		return err
	}
	err = x.rewrite(ctx, old)
	return errors.Join(err, x.Update(context.WithoutCancel(ctx), nil, []string{scrubMark}))
}

// rewrite merges all segments into one and waits until the old files are gone.
func (x *Index) rewrite(ctx context.Context, old []string) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	if err := x.written(ctx); err != nil {
		return err
	}
	release := x.health.merges.hurry()
	defer release()
	if err := x.merge(ctx); err != nil {
		return err
	}
	return x.replaced(ctx, old)
}

// merge merges all segments. Bleve waits for its merger for good if that has ended in a panic: then the goroutine here
// ends when the index is closed.
func (x *Index) merge(ctx context.Context) error {
	merged := make(chan error, 1)
	go func() { merged <- x.store.scorch.ForceMerge(ctx, &mergeplan.SingleSegmentMergePlanOptions) }()
	select {
	case err := <-merged:
		return err
	case <-x.health.failed:
		return ErrRebuild
	}
}

// written waits until all batches are on the disk.
func (x *Index) written(ctx context.Context) error {
	taken := 0
	defer func() {
		for range taken {
			<-x.pending
		}
	}()
	for ; taken < maxPending; taken++ {
		select {
		case x.pending <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-x.closing:
			return ErrClosed
		case <-x.health.failed:
			return ErrRebuild
		}
	}
	return nil
}

// replaced waits until none of the files is there any more. Bleve removes files when it writes a
// batch, so an empty one follows as long as some are there.
func (x *Index) replaced(ctx context.Context, files []string) error {
	for len(files) > 0 {
		if _, err := os.Lstat(files[0]); err != nil {
			files = files[1:]
			continue
		}
		if err := x.update(ctx, nil, nil); err != nil {
			return err
		}
		if err := x.written(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(scrubPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
