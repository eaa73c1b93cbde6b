package vectors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"emberd/internal/testutil/crashdisk"
)

// vocabulary is every text that tests embed on a disk that fails.
func vocabulary() []string {
	return []string{"apple", "banana", "cherry", "damson", "elder", "fig", "grape"}
}

// world is what may and what must be in a store. A document is its words, joined; "" is none.
type world struct {
	vectors map[string]bool     // there now
	must    map[string]bool     // there after every crash
	docs    map[string]string   // now
	may     map[string][]string // what a document may be after a crash, if not as it is now
	failed  map[string][]string // what a failed operation may have made of it
}

func newWorld() *world {
	return &world{
		vectors: map[string]bool{}, must: map[string]bool{},
		docs: map[string]string{}, may: map[string][]string{}, failed: map[string][]string{},
	}
}

func (w *world) copy() *world {
	return &world{maps.Clone(w.vectors), maps.Clone(w.must), maps.Clone(w.docs), maps.Clone(w.may),
		maps.Clone(w.failed)}
}

// place is what an operation does to a document.
func (w *world) place(name, is string, err error) {
	if err != nil {
		w.failed[name] = append(slices.Clip(w.failed[name]), is)
		return
	}
	delete(w.failed, name)
	w.now(name, is)
}

// now is what a document is from now on, and until the next sync may not be after a crash.
func (w *world) now(name, is string) {
	w.may[name] = append(slices.Clip(w.may[name]), w.docs[name])
	w.docs[name] = is
}

// settle is what a sync does.
func (w *world) settle() {
	w.must = maps.Clone(w.vectors)
	clear(w.may)
}

// purge is what a purge does: what no document has may be gone, even if it fails.
func (w *world) purge() {
	for text := range w.vectors {
		if !w.placed(text) {
			delete(w.vectors, text)
			delete(w.must, text)
		}
	}
}

// placed reports whether a document has a text, or may have it after a crash.
func (w *world) placed(text string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(w.docs)), func(is string) bool { return hasWord(is, text) })
}

func hasWord(is, text string) bool { return slices.Contains(strings.Fields(is), text) }

// step is something that is done to a store.
type step struct {
	name string
	do   func(m *machine) error
}

func putting(texts ...string) step {
	return step{"put " + strings.Join(texts, " "), func(m *machine) error {
		err := m.Put(words(texts...))
		for _, text := range texts {
			if err == nil {
				m.world.vectors[text] = true
			}
		}
		return err
	}}
}

func placing(name, is string) step {
	return step{"place " + name, func(m *machine) error {
		err := m.Place([]Doc{doc(name, strings.Fields(is)...)}, nil)
		m.world.place(name, is, err)
		return err
	}}
}

func removing(name string) step {
	return step{"remove " + name, func(m *machine) error {
		err := m.Place(nil, []string{name})
		m.world.place(name, "", err)
		return err
	}}
}

func syncing() step {
	return step{"sync", func(m *machine) error {
		err := m.Sync()
		if err == nil {
			m.world.settle()
		}
		return err
	}}
}

func compacting() step {
	return step{"compact", func(m *machine) error {
		err := m.Compact(context.Background())
		if err == nil {
			m.world.settle()
			clear(m.world.failed)
		}
		return err
	}}
}

func purging() step {
	return step{"purge", func(m *machine) error {
		m.world.purge()
		err := m.Purge(context.Background())
		if err != nil {
			return err
		}
		m.world.settle()
		for _, text := range vocabulary() {
			if !m.world.vectors[text] && onDisk(m.disk, text) {
				return fmt.Errorf("purged, but the bytes of %q are on the disk", text)
			}
		}
		return nil
	}}
}

// reopening closes the store, which syncs it, and opens it again.
func reopening() step {
	return step{"reopen", func(m *machine) error {
		if !m.closed {
			if m.Close() == nil {
				m.world.settle()
			}
		}
		s, err := Open(folder, options(m.disk))
		if err != nil {
			return err
		}
		m.Store = s
		if err := m.world.restarted(s); err != nil {
			return fmt.Errorf("wrong: %w", err)
		}
		return nil
	}}
}

// onDisk reports whether the vector of a text is in a file, whole or as part of something.
func onDisk(disk *crashdisk.Disk, text string) bool {
	bytes := vectorBytes(text)
	entries, err := disk.ReadDir(folder)
	for _, e := range entries {
		if err == nil && strings.Contains(content(disk, folder+"/"+e.Name()), string(bytes)) {
			return true
		}
	}
	return err != nil
}

// restarted checks a store that was opened just now, and takes over what it has of what may be.
func (w *world) restarted(s *Store) error {
	names := slices.Concat(slices.Collect(maps.Keys(w.docs)), slices.Collect(maps.Keys(w.may)),
		slices.Collect(maps.Keys(w.failed)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		is := wordsOf(s, name)
		if is != w.docs[name] && !slices.Contains(w.may[name], is) && !slices.Contains(w.failed[name], is) {
			return fmt.Errorf("document %s is %q, want %q or one of %q or %q", name, is, w.docs[name], w.may[name],
				w.failed[name])
		}
		w.now(name, is)
	}
	for _, text := range vocabulary() {
		if has := s.Has(KeyOf(text)); w.must[text] && !has {
			return fmt.Errorf("the vector of %q was synced and is lost", text)
		} else if w.vectors[text] = has; !has {
			delete(w.vectors, text)
		}
	}
	return w.check(s)
}

// check compares a store with what is there now.
func (w *world) check(s *Store) error {
	for _, text := range vocabulary() {
		entry := word(text)
		v, ok := s.Vector(entry.Key)
		if ok != w.vectors[text] || ok && !slices.Equal(v, entry.Vector) {
			return fmt.Errorf("the vector of %q is %v %t, want %t", text, v, ok, w.vectors[text])
		}
		if err := w.checkNearest(s, text); err != nil {
			return err
		}
	}
	for name, is := range w.docs {
		if got := wordsOf(s, name); got != is {
			return fmt.Errorf("document %s is %q, want %q", name, got, is)
		}
	}
	if idle := s.index.droppable(time.Now()); s.index.idle != idle && !s.opt.Others {
		return fmt.Errorf("%d vectors are counted as of no document, and %d are", s.index.idle, idle)
	}
	return w.checkStatus(s.Status())
}

// checkNearest looks for a text: exactly the documents that have it are at cosine 1.
func (w *world) checkNearest(s *Store, text string) error {
	matches, err := one(s.Nearest(context.Background(), word(text).Vector, Query{N: 10}))
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, m := range matches {
		found[m.Doc] = true
		if !w.vectors[text] {
			continue
		}
		if same := m.Cosine > 0.9999; same != hasWord(w.docs[m.Doc], text) {
			return fmt.Errorf("near %q is %+v, which has %q", text, m, w.docs[m.Doc])
		}
	}
	for name, is := range w.docs {
		want := slices.ContainsFunc(strings.Fields(is), func(text string) bool { return w.vectors[text] })
		if found[name] != want {
			return fmt.Errorf("near %q, document %s is found: %t, want %t", text, name, found[name], want)
		}
	}
	return nil
}

func (w *world) checkStatus(st Status) error {
	docs, chunks, covered := 0, 0, 0
	for _, is := range w.docs {
		for text := range strings.FieldsSeq(is) {
			if chunks++; w.vectors[text] {
				covered++
			}
		}
		if is != "" {
			docs++
		}
	}
	if st.Docs != docs || st.Chunks != chunks || st.Covered != covered || st.Vectors != len(w.vectors) {
		return fmt.Errorf("status is %+v, want %d documents, %d of %d chunks, %d vectors", st, docs, covered, chunks,
			len(w.vectors))
	}
	return nil
}

// wordsOf is the document of a name as its words, "" if there is none.
func wordsOf(s *Store, name string) string {
	d, _ := s.Doc(name)
	var is []string
	for _, c := range d.Chunks {
		i := slices.IndexFunc(vocabulary(), func(text string) bool { return KeyOf(text) == c.Key })
		is = append(is, vocabulary()[i])
	}
	return strings.Join(is, " ")
}

// machine is a store on a disk that may fail, and what is known of it.
type machine struct {
	*Store
	disk  *crashdisk.Disk
	world *world
}

// on is a machine that finds a disk after a crash.
func (m *machine) on(disk *crashdisk.Disk) *machine {
	return &machine{disk: disk, world: m.world.copy()}
}

func (m *machine) start() error {
	s, err := Open(folder, options(m.disk))
	m.Store = s
	return err
}

// live starts and takes the steps, as far as they go.
func (m *machine) live(steps []step) error {
	if err := m.start(); err != nil {
		return err
	}
	for _, st := range steps {
		if err := st.do(m); err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
	}
	return m.Close()
}
