package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"emberd/internal/durable"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// Outcome is the outcome of a change to a note.
type Outcome string

// The outcomes. Only after Written has the note what it should have; that is for
// good, also when it had it before. After Conflict the user's bytes have the note's
// name.
const (
	Written  Outcome = "written"
	Later    Outcome = "later"
	Refused  Outcome = "refused"
	Conflict Outcome = "conflict"
)

// Result is the outcome of a change, and the reason for it.
type Result struct {
	Outcome Outcome
	Reason  Reason            // unless Written
	Until   time.Time         // of Later: not to be tried before
	Digest  [sha256.Size]byte // of Written: the note's, as in [Note]
	Backup  string            // what was at the name before, "" if nothing was displaced
	Taken   string            // of [NameTaken]: the path of the note that is there
}

// WriterOptions are the options of OpenWriter. The zero value selects the defaults.
type WriterOptions struct {
	// Now is the time; nil is [time.Now].
	Now func() time.Time
	// Wrote reports whether the caller wrote a note of these bytes at a path. If such a note has not changed since the
	// Writer was opened, its last change is no sign of a user at work for a [Reviser]. It must not call the Writer; nil
	// is none.
	Wrote func(name string, sum [sha256.Size]byte) bool
}

// A Writer changes notes that a user may be editing. Several goroutines may use it; they wait for
// each other.
//
// A vault and its state folder must have one Writer at a time, which the caller ensures. Writers
// of other devices do not disturb it.
type Writer struct {
	guard   // does not change after OpenWriter
	journal // its files change only with mu held

	// mu is held from the first check of a write to its answer, and through a whole
	// [Writer.Check], so that one caller at a time changes notes, records and backups. It
	// guards the fields below. Within CreateAll the holder starts goroutines that each write
	// the files of one record; they touch no field of the Writer, and have ended before the
	// holder goes on.
	mu       sync.Mutex
	fallback bool                 // names cannot be exchanged here; never becomes false again
	open     []*record            // writes that are not over, and displaced files that a program may still save
	pruned   time.Time            // when Check last removed old backups
	made     map[string]*madeNote // by path; those that have been there for longer than pace.quiet may be missing
}

// pace contains the intervals of a Writer.
type pace struct {
	quiet time.Duration // that a note must have been left alone
	looks []time.Duration
	keep  time.Duration // backups
}

const day = 24 * time.Hour

func usualPace() pace {
	return pace{quiet: 10 * time.Second, looks: []time.Duration{time.Second, time.Minute}, keep: 30 * day}
}

// OpenWriter makes a Writer that keeps backups and its own records below the folder
// state, outside the vault. It first brings to an end what the last one left
// unfinished: afterwards each note is as before its write or as after it, no
// temporary file is left, and what a user saved in the meantime has the note's name or is
// among the backups. A write that cannot be ended now is tried again, and its error
// returned, by [Writer.Check]. opt may be nil.
func OpenWriter(v *Vault, state string, opt *WriterOptions) (*Writer, error) {
	notes := rootDisk{durable.NewRoot(v.root), v.root}
	w := newWriter(v, notes, durable.OS{}, state)
	if opt != nil && opt.Now != nil {
		w.now = opt.Now
	}
	if opt != nil {
		w.wrote = opt.Wrote
	}
	err := w.recover()
	w.opened = w.now()
	return w, err
}

func newWriter(v *Vault, notes noteDisk, disk durable.FS, state string) *Writer {
	w := &Writer{
		guard: guard{vault: v, notes: notes, now: time.Now, pace: usualPace()}, made: make(map[string]*madeNote),
		journal: journal{
			state: disk, records: filepath.Join(state, "writing"), backups: filepath.Join(state, "backups", "notes"),
		},
	}
	w.recent = w.waiting
	w.own = func(name string) *madeNote { return w.made[name] }
	return w
}

// noteMade records a note that emberd has just given its name. A change that a program makes before this
// call shows in the digest.
func noteMade(w *Writer, name string, of digest) {
	w.dropMade()
	noteIsMade(w, name, of)
}

// dropMade drops the notes whose making no longer matters.
func (w *Writer) dropMade() {
	now := w.now()
	maps.DeleteFunc(w.made, func(_ string, m *madeNote) bool { return now.Sub(m.file.lastChange()) > w.pace.quiet })
}

// noteIsMade is noteMade for one of many notes, before which the caller has called dropMade.
func noteIsMade(w *Writer, name string, of digest) {
	if info, err := w.notes.Lstat(name); err == nil {
		w.made[name] = &madeNote{file: fileOf(name, info), digest: of}
	}
}

// waiting returns why a note that was written a moment ago must wait, nil if it need not. mu
// must be held.
func (w *Writer) waiting(name string) *Result {
	for _, r := range w.open {
		if r.Path == name || r.Target == name {
			last := w.pace.looks[len(w.pace.looks)-1]
			return &Result{Outcome: Later, Reason: RecentlyOurs, Until: r.Begun.Add(last)}
		}
	}
	return nil
}

// Fallback reports whether the vault lies on a file system that cannot exchange two
// names, so that a note is missing for a moment while it is written. It is known
// after the first write to an existing note.
func (w *Writer) Fallback() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fallback
}

// restarts bounds how often a write begins anew because the note changed.
const restarts = 5

// Update applies an edit to a note, as [noteedit.Splice] does. The error is of the disk, or a
// mistake in the edit; everything that lies in the note is in the Result.
func (w *Writer) Update(ctx context.Context, name string, e noteedit.Edit) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range restarts {
		s, held, err := w.ready(ctx, name)
		if held != nil || err != nil {
			return result(held), err
		}
		if e.Of != nil && s.sum != *e.Of {
			return Result{Outcome: Conflict, Reason: HumanChanged}, nil
		}
		data, err := noteedit.Splice(s.data, e)
		if refused, ok := errors.AsType[*frontmatter.EditError](err); ok {
			return editResult(refused), nil
		}
		if err != nil {
			return Result{}, err
		}
		if digestOf(data) == s.digest {
			return Result{Outcome: Written, Digest: sha256.Sum256(data)}, nil
		}
		if res, done, err := w.replace(name, s, data); done || err != nil {
			return res, err
		}
	}
	return w.later(Unsettled, w.pace.quiet), nil
}

// Steady reads a note that may be written now and was left alone for quiet, or longer if a
// write wants that. Without text the Result says why not; with it, it has the digest.
func (w *Writer) Steady(ctx context.Context, name string, quiet time.Duration) ([]byte, Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.ready(ctx, name)
	if held != nil || err != nil {
		return nil, result(held), err
	}
	info, err := w.notes.Lstat(name)
	if err != nil {
		return nil, w.later(Unsettled, w.pace.quiet), nil
	}
	if until := fileOf(name, info).lastChange().Add(quiet); until.After(w.now()) {
		return nil, Result{Outcome: Later, Reason: NotQuiet, Until: until}, nil
	}
	return s.data, Result{Outcome: Written, Digest: s.sum}, nil
}

func editResult(err *frontmatter.EditError) Result {
	if err.Reason == noteedit.TextChanged {
		return Result{Outcome: Conflict, Reason: noteedit.TextChanged}
	}
	return Result{Outcome: Refused, Reason: Reason(err.Reason)}
}

func result(r *Result) Result {
	if r == nil {
		return Result{}
	}
	return *r
}

// replace carries out the steps V3 to V8 of a write; done is false when the note
// changed before anything was.
func (w *Writer) replace(name string, s *snapshot, data []byte) (res Result, done bool, err error) {
	r, err := w.begin(opUpdate, name, s.digest, digestOf(data))
	if err != nil {
		return Result{}, false, err
	}
	err = w.prepare(r, data) // V3
	if err == nil {
		err = w.notes.SyncFile(name)
	}
	var now digest
	if err == nil {
		now, err = look(w.notes, name) // V4
	}
	if err != nil || now != s.digest {
		return w.abandon(r, err)
	}
	if err := w.swap(r); err != nil { // V5
		return w.swapFailed(r, err)
	}
	res, err = w.settle(r)
	return res, true, err
}

// prepare makes the temporary file, with all that the note has but its text.
func (w *Writer) prepare(r *record, data []byte) error {
	f, err := w.notes.CreateAppend(r.Temp)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	switch {
	case err != nil:
	case r.Op == opCreate:
		err = w.notes.share(r.Temp, r.dir())
	default:
		err = w.notes.dress(r.Temp, r.Path)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// abandon reverts a write that has not touched the note.
func (w *Writer) abandon(r *record, cause error) (Result, bool, error) {
	if err := w.discard(r); err != nil {
		r.unsettled = true
		w.open = append(w.open, r)
	}
	if why := refusal(cause); why != "" {
		return Result{Outcome: Refused, Reason: why}, true, nil
	}
	if cause != nil {
		cause = fmt.Errorf("cannot write note %q: %w", r.Path, cause)
	}
	return Result{}, false, cause
}

// swapFailed ends a write that failed at the exchange.
func (w *Writer) swapFailed(r *record, cause error) (Result, bool, error) {
	if at, err := look(w.notes, r.Temp); err == nil && at == r.New && !w.exists(r.aside()) {
		return w.abandon(r, cause)
	}
	r.unsettled = true
	w.open = append(w.open, r)
	return Result{}, true, fmt.Errorf("cannot write note %q: %w", r.Path, cause)
}

// refusal returns the reason behind an error of the file system that no retry helps against, ""
// for other errors.
func refusal(err error) Reason {
	switch {
	case errors.Is(err, errDress):
		return NotKept
	case errors.Is(err, syscall.EROFS):
		return DiskReadOnly
	case errors.Is(err, fs.ErrPermission):
		return NotYours
	case errors.Is(err, fs.ErrNotExist):
		return Gone
	}
	return ""
}

// Create makes a new note, and the folders to it. Where there is a note of that name
// with these bytes it is [Written]; with others, or of a name that looks alike,
// [NameTaken]. Unless it is Written, or the error is of the last sync, nothing is left.
func (w *Writer) Create(ctx context.Context, name string, data []byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return createGuarded(ctx, w, &w.guard, name, data)
}

// createGuarded is Create if g lets it.
func createGuarded(ctx context.Context, w *Writer, g *guard, name string, data []byte) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	if held, err := g.free(name, digestOf(data)); held != nil || err != nil {
		return result(held), err
	}
	made, err := makeFolder(w.notes, path.Dir(name))
	if err != nil {
		w.unmake(made)
		return w.refuseOn(name, err)
	}
	res, err := w.create(name, data)
	if res.Outcome != Written && !w.exists(name) {
		w.unmake(made)
	}
	return res, err
}

// CanCreate returns what Create would return now, and writes nothing.
func (w *Writer) CanCreate(name string, data []byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return canCreateGuarded(&w.guard, name, data)
}

func canCreateGuarded(g *guard, name string, data []byte) (Result, error) {
	held, err := g.free(name, digestOf(data))
	if held != nil || err != nil {
		return result(held), err
	}
	return Result{Outcome: Written, Digest: sha256.Sum256(data)}, nil
}

func (w *Writer) create(name string, data []byte) (Result, error) {
	r, err := w.begin(opCreate, name, absent, digestOf(data))
	if err != nil {
		return Result{}, err
	}
	if err = w.prepare(r, data); err == nil {
		err = put(w.notes, r.Temp, name)
	}
	if err != nil {
		res, _, err := w.abandon(r, err)
		if errors.Is(err, fs.ErrExist) {
			return Result{Outcome: Refused, Reason: NameTaken, Taken: name}, nil
		}
		return res, err
	}
	if err := w.notes.SyncDir(r.dir()); err != nil {
		r.unsettled = true
		w.open = append(w.open, r)
		return Result{}, fmt.Errorf("cannot write note %q: %w", name, err)
	}
	noteMade(w, name, r.New)
	return Result{Outcome: Written, Digest: sha256.Sum256(data)}, w.forget(r)
}

// refuseOn returns the result for an error that came before anything was written.
func (w *Writer) refuseOn(name string, err error) (Result, error) {
	if why := refusal(err); why != "" {
		return Result{Outcome: Refused, Reason: why}, nil
	}
	return Result{}, fmt.Errorf("cannot write note %q: %w", name, err)
}

// unmake removes the folders that were made for a note that was not created. A folder that has
// content by now stays.
func (w *Writer) unmake(made []string) {
	for _, dir := range slices.Backward(made) {
		if w.notes.Remove(dir) != nil {
			return
		}
	}
}

// Move renames a note, in the same folder or to another one, which it makes. It does not look at
// the text, and a program that has the note open continues to write to it.
func (w *Writer) Move(ctx context.Context, name, to string) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.ready(ctx, name)
	if held != nil || err != nil {
		return result(held), err
	}
	return move(w, &w.guard, s, name, to)
}

// move renames a note that was read.
func move(w *Writer, g *guard, s *snapshot, name, to string) (Result, error) {
	if held, err := g.free(to, odd); held != nil || err != nil {
		return result(held), err
	}
	if made, err := makeFolder(w.notes, path.Dir(to)); err != nil {
		w.unmake(made)
		return w.refuseOn(name, err)
	}
	r, err := w.begin(opMove, name, s.digest, s.digest)
	if err != nil {
		return Result{}, err
	}
	r.Target = to
	if err = w.save(r); err == nil {
		err = put(w.notes, name, to)
	}
	if err != nil {
		res, _, err := w.abandon(r, err)
		if errors.Is(err, fs.ErrExist) {
			return Result{Outcome: Refused, Reason: NameTaken, Taken: to}, nil
		}
		return res, err
	}
	if err := w.finishMove(r); err != nil {
		r.unsettled = true
		w.open = append(w.open, r)
		return Result{}, fmt.Errorf("cannot move note %q: %w", name, err)
	}
	noteMade(w, to, s.digest)
	return Result{Outcome: Written, Digest: s.sum}, nil
}

// finishMove makes the new name safe before the old one is given up.
func (w *Writer) finishMove(r *record) error {
	for _, dir := range []string{path.Dir(r.Target), r.dir()} {
		if err := w.notes.SyncDir(dir); err != nil {
			return err
		}
	}
	return w.forget(r)
}

// Remove moves a note out of the vault into the backups, if its bytes have this digest; for others
// the outcome is [Conflict]. If a program that had the note open saves it within a minute, Check
// restores it.
func (w *Writer) Remove(ctx context.Context, name string, want [sha256.Size]byte) (Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, held, err := w.ready(ctx, name)
	if held != nil || err != nil {
		return result(held), err
	}
	if s.sum != want {
		return Result{Outcome: Conflict, Reason: HumanChanged}, nil
	}
	return w.remove(name, s)
}

func (w *Writer) remove(name string, s *snapshot) (Result, error) {
	r, err := w.begin(opRemove, name, s.digest, absent)
	if err != nil {
		return Result{}, err
	}
	if err = w.notes.SyncFile(name); err == nil {
		err = w.notes.Rename(name, r.Temp)
	}
	if err != nil {
		res, _, err := w.abandon(r, err)
		return res, err
	}
	return w.settle(r)
}
