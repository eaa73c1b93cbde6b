package search

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"

	"emberd/internal/cli"
	"emberd/op"
)

// findPause is how long typing has to rest before a search goes out.
const findPause = 80 * time.Millisecond

// finder is the screen on which a hit is picked. Its fields are touched by the goroutine of
// run alone; what is asked runs beside it and is answered over channels.
type finder struct {
	s   *cli.App
	f   *cli.Fullscreen
	req op.SearchRequest // but for its query

	typed  entry
	pause  *time.Timer
	wanted int // number of the question about what is typed now
	shown  foundHits
	busy   bool      // an answer is still to come
	after  tcell.Key // enter or tab, pressed before it came; else 0
	pasted bool      // what comes is not typed, but from the clipboard

	at, top int // chosen hit, and the first on the screen
	reading int // number of the text that is wanted
	text    preview
	scroll  int // lines of the preview that are passed over
	rows    int // hits on the screen when it was last drawn

	answers chan foundHits
	texts   chan preview
	asking  context.CancelFunc // of the question that is out
	fetch   context.CancelFunc // of the text that is asked for
	besides sync.WaitGroup
}

// pick has somebody choose. It returns when they have, or left, or ctx has ended; nothing
// that it started runs on.
func pick(ctx context.Context, s *cli.App, f *cli.Fullscreen, req *op.SearchRequest, words string) (choice, error) {
	ctx, stop := context.WithCancel(ctx)
	d := &finder{s: s, f: f, req: *req, pause: time.NewTimer(0), answers: make(chan foundHits),
		texts: make(chan preview), asking: func() {}, fetch: func() {}}
	d.typed.insert(words)
	defer d.besides.Wait()
	defer stop()
	defer d.pause.Stop()
	d.busy = true
	for {
		d.draw()
		select {
		case <-d.pause.C:
			d.ask(ctx)
		case a := <-d.answers:
			if done, c := d.answered(ctx, a); done {
				return c, nil
			}
		case t := <-d.texts:
			if t.n == d.reading {
				d.text = t
			}
		case ev, ok := <-f.Events:
			if !ok {
				return choice{}, nil
			}
			if gone, is := ev.(*tcell.EventError); is {
				return choice{}, fmt.Errorf("cannot read from the terminal: %w", gone)
			}
			if done, c := d.event(ctx, ev); done {
				return c, nil
			}
		case <-ctx.Done():
			return choice{}, ctx.Err()
		}
	}
}

// ask sends a question about what is typed now, and gives up the one before.
func (d *finder) ask(ctx context.Context) {
	d.asking()
	ctx, d.asking = context.WithCancel(ctx)
	n, text := d.wanted, d.typed.text
	d.besides.Go(func() {
		a := ask(ctx, d.s, n, d.req, text)
		select {
		case d.answers <- a:
		case <-ctx.Done():
		}
	})
}

// answered shows an answer, unless other words were typed since; done is true if somebody
// pressed enter for it already.
func (d *finder) answered(ctx context.Context, a foundHits) (done bool, c choice) {
	if a.n != d.wanted {
		return false, choice{}
	}
	d.busy = false
	if a.err != nil { // what was found before may still be of use
		a.hits, a.total, d.after = d.shown.hits, d.shown.total, 0
	} else {
		d.at, d.top = 0, 0
	}
	d.shown = a
	d.read(ctx)
	return d.decide(d.after)
}

// changed has what is typed searched for after a pause.
func (d *finder) changed() {
	d.wanted++
	d.busy = true
	d.pause.Reset(findPause)
}

// chosen is the hit that the cursor is on, nil when there is none.
func (d *finder) chosen() *op.Hit {
	if d.at >= len(d.shown.hits) {
		return nil
	}
	return &d.shown.hits[d.at]
}

// read fetches the text of the chosen hit, where the hit does not have it.
func (d *finder) read(ctx context.Context) {
	d.fetch()
	d.fetch = func() {}
	d.reading++
	d.scroll, d.text = 0, preview{n: d.reading}
	h := d.chosen()
	switch {
	case h == nil:
		return
	case h.Tier != op.TierNote:
		d.text.text = h.Content
		return
	}
	d.text.text = h.Snippet.Text
	ctx, d.fetch = context.WithCancel(ctx)
	n, note := d.reading, *h.Note
	d.besides.Go(func() {
		t := readNote(ctx, d.s, n, &note)
		select {
		case d.texts <- t:
		case <-ctx.Done():
		}
	})
}

// event takes a key or a new size; done is true once somebody has decided.
func (d *finder) event(ctx context.Context, ev tcell.Event) (done bool, c choice) {
	switch ev := ev.(type) {
	case *tcell.EventResize:
		d.f.Cells.Sync()
	case *tcell.EventPaste:
		d.pasted = ev.Start()
	case *tcell.EventKey:
		return d.key(ctx, ev)
	}
	return false, choice{}
}

func (d *finder) key(ctx context.Context, key *tcell.EventKey) (done bool, c choice) {
	d.after = 0
	switch k := key.Key(); {
	case d.pasted && (k == tcell.KeyEnter || k == tcell.KeyTab || k == tcell.KeyLF):
		d.typed.insert(" ")
		d.changed()
	case k == tcell.KeyEscape || k == tcell.KeyCtrlC || k == tcell.KeyCtrlG:
		return true, choice{}
	case k == tcell.KeyEnter || k == tcell.KeyTab:
		if d.after = k; !d.busy {
			return d.decide(k)
		}
	case !d.move(ctx, key) && d.typed.key(key):
		d.changed()
	}
	return false, choice{}
}

// decide takes the chosen hit as enter or tab asks; done is false for no key and no hit.
func (d *finder) decide(key tcell.Key) (done bool, c choice) {
	d.after = 0
	h := d.chosen()
	if key == 0 || h == nil {
		return false, choice{}
	}
	return true, choice{hit: h, open: key == tcell.KeyEnter && opens(d.s, h)}
}

// move chooses another hit or scrolls; false says that the key does neither.
func (d *finder) move(ctx context.Context, key *tcell.EventKey) bool {
	const up, down = -1, 1
	turned := key.Modifiers()&(tcell.ModShift|tcell.ModAlt) != 0
	switch key.Key() {
	case tcell.KeyUp, tcell.KeyDown:
		by := down
		if key.Key() == tcell.KeyUp {
			by = up
		}
		if turned {
			d.scroll = max(0, d.scroll+by)
			return true
		}
		d.choose(ctx, d.at+by)
	case tcell.KeyCtrlP:
		d.choose(ctx, d.at-1)
	case tcell.KeyCtrlN:
		d.choose(ctx, d.at+1)
	case tcell.KeyPgUp:
		d.choose(ctx, d.at-max(1, d.rows))
	case tcell.KeyPgDn:
		d.choose(ctx, d.at+max(1, d.rows))
	default:
		return false
	}
	return true
}

func (d *finder) choose(ctx context.Context, at int) {
	at = max(0, min(at, len(d.shown.hits)-1))
	if at != d.at {
		d.at = at
		d.read(ctx)
	}
}

// entry is a line that somebody types, with a cursor between its characters as people see
// them.
type entry struct {
	text string
	at   int // byte of the text
}

// insert puts text where the cursor is; line ends and tabs become spaces.
func (e *entry) insert(text string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	e.text = e.text[:e.at] + text + e.text[e.at:]
	e.at += len(text)
}

// key changes the line as a key asks; true says that the text is another.
func (e *entry) key(key *tcell.EventKey) bool {
	before := e.text
	switch key.Key() {
	case tcell.KeyRune:
		if key.Modifiers()&tcell.ModAlt == 0 {
			e.insert(string(key.Rune()))
		}
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		e.cut(e.back(), e.at)
	case tcell.KeyDelete, tcell.KeyCtrlD:
		e.cut(e.at, e.forth())
	case tcell.KeyCtrlU:
		e.cut(0, e.at)
	case tcell.KeyCtrlK:
		e.cut(e.at, len(e.text))
	case tcell.KeyCtrlW:
		e.cut(e.word(), e.at)
	case tcell.KeyLeft, tcell.KeyCtrlB:
		e.at = e.back()
	case tcell.KeyRight, tcell.KeyCtrlF:
		e.at = e.forth()
	case tcell.KeyHome, tcell.KeyCtrlA:
		e.at = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		e.at = len(e.text)
	}
	return e.text != before
}

func (e *entry) cut(from, to int) { e.text, e.at = e.text[:from]+e.text[to:], from }

// back is where the character before the cursor begins.
func (e *entry) back() int {
	last := 0
	for at := 0; at < e.at; {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[at:], -1)
		last = at
		at += len(cluster)
	}
	return last
}

// forth is where the character behind the cursor ends.
func (e *entry) forth() int {
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[e.at:], -1)
	return e.at + len(cluster)
}

// word is where the word before the cursor begins.
func (e *entry) word() int {
	head := strings.TrimRightFunc(e.text[:e.at], unicode.IsSpace)
	return strings.LastIndexFunc(head, unicode.IsSpace) + 1
}
