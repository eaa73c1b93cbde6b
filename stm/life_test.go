package stm_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"emberd/stm/record"
)

// life is a machine that rapid drives, and what its client could take back.
type life struct {
	*machine
	standing []taken // entries that undo would take, newest last
	words    int
}

// taken is an entry with what would take it back.
type taken struct{ inverse []effect }

// now is the state of a world in which all is sure.
func (l *life) now() state {
	for _, s := range l.world.legal() {
		return s
	}
	panic("no state at all")
}

// carry does a step that must succeed and remembers its inverse.
func (l *life) carry(t *rapid.T, st step, undoable bool) {
	before := l.now()
	if err := l.do(st, false); err != nil {
		t.Fatalf("%s: %v", st.name, err)
	}
	if !undoable {
		return
	}
	var inverse []effect
	for _, e := range st.effects {
		was := before.live[e.id]
		switch {
		case was == nil:
			inverse = append(inverse, effect{id: e.id, op: record.OpDelete})
		case e.op == record.OpDelete:
			inverse = append(inverse, effect{e.id, record.OpPut, was})
		default:
			back := fields{}
			for key := range e.set {
				back[key] = was[key]
			}
			inverse = append(inverse, effect{e.id, record.OpSet, back})
		}
	}
	l.standing = append(l.standing, taken{inverse})
}

// text is one that was never used before.
func (l *life) text() string {
	l.words++
	return "text" + string([]rune{rune('a' + l.words/676%26), rune('a' + l.words/26%26), rune('a' + l.words%26)}) + "x"
}

// some draws memories that are there, or are not.
func (l *life) some(t *rapid.T, live bool) []int {
	now := l.now()
	var fit []int
	for n := range 6 {
		if (now.live[idOf(n)] != nil) == live {
			fit = append(fit, n)
		}
	}
	if len(fit) == 0 {
		t.Skip("there is none")
	}
	return rapid.SliceOfNDistinct(rapid.SampledFrom(fit), 1, 3, rapid.ID).Draw(t, "memories")
}

func (l *life) save(t *rapid.T) {
	var effects []effect
	for _, n := range l.some(t, false) {
		effects = append(effects, saved(n, l.text()))
	}
	l.carry(t, request(fmt.Sprintf("save %d", l.words), effects...), true)
}

func (l *life) edit(t *rapid.T) {
	var effects []effect
	for _, n := range l.some(t, true) {
		text := l.text()
		key := rapid.SampledFrom([]string{"content", "source"}).Draw(t, "key")
		if key == "source" && rapid.Bool().Draw(t, "remove") {
			text = ""
		}
		effects = append(effects, set(n, key, text))
	}
	l.carry(t, request(fmt.Sprintf("edit %d", l.words), effects...), true)
}

func (l *life) forget(t *rapid.T) {
	var effects []effect
	for _, n := range l.some(t, true) {
		effects = append(effects, del(n))
	}
	l.words++
	l.carry(t, request(fmt.Sprintf("forget %d", l.words), effects...), true)
}

func (l *life) undo(t *rapid.T) {
	if len(l.standing) == 0 {
		t.Skip("nothing to undo")
	}
	last := l.standing[len(l.standing)-1]
	l.carry(t, undo(last.inverse...), false)
	l.standing = l.standing[:len(l.standing)-1]
}

func (l *life) restore(t *rapid.T) {
	now := l.now()
	for n := range 6 {
		if was := now.trash[idOf(n)]; was != nil {
			l.carry(t, restore(effect{idOf(n), record.OpPut, maps.Clone(was)}), true)
			return
		}
	}
	t.Skip("the trash is empty")
}

func (l *life) use(t *rapid.T) { l.carry(t, use(l.some(t, true)[0], 1), false) }

// takeSnapshot leaves out the moment in which a snapshot has uses that the log
// has not: losing both snapshot and process then, within a second, loses them.
func (l *life) takeSnapshot(t *rapid.T) {
	if l.Wal().Uses.Waiting() {
		t.Skip("uses wait for the disk")
	}
	l.carry(t, snapshots(), false)
}

// restart ends the process in one of the ways there are, and starts again.
func (l *life) restart(t *rapid.T) {
	luck := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "luck"), 1))
	how := rapid.SampledFrom([]string{"stop", "kill", "power cut", "no snapshot"}).Draw(t, "how")
	if how == "stop" || how == "no snapshot" {
		l.carry(t, stop(), false)
	}
	old := l.Store
	switch how {
	case "kill":
		l.disk = l.disk.Kill()
	case "power cut":
		l.disk = l.disk.Crash(luck)
	case "no snapshot":
		if err := l.disk.Remove("/state/index/stm.snap"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	old.Close()
	if err := l.start(); err != nil {
		t.Fatalf("start after a %s: %v", how, err)
	}
	if err := l.world.restarted(l.Store); err != nil {
		t.Fatalf("after a %s: %v", how, err)
	}
}

// The store is a plain map with a trash and an undo stack, whatever its client
// asks for and however its process ends.
func TestAnyLifeIsThatOfAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &life{machine: unused()}
		l.small = rapid.Bool().Draw(t, "small segments")
		if err := l.start(); err != nil {
			t.Fatal(err)
		}
		defer func() { l.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"save": l.save, "edit": l.edit, "forget": l.forget, "undo": l.undo, "restore": l.restore,
			"use": l.use, "snapshot": l.takeSnapshot, "restart": l.restart,
			"": func(t *rapid.T) {
				now := l.now()
				if err := now.compare(l.Store); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}
