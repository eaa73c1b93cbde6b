package eval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The kinds of entries of a cluttered store.
const (
	Good          = "good"          // says what nothing else says
	Copy          = "copy"          // an entry once more, but for dots and the like
	Reworded      = "reworded"      // an entry in other words
	Junk          = "junk"          // nobody will miss it
	Version       = "version"       // holds of one version of something, others of its group of others
	Platform      = "platform"      // holds of one platform
	Changed       = "changed"       // of its group only the latest holds
	Contradiction = "contradiction" // nothing tells which one of its group holds
	Indexed       = "indexed"       // made by an indexer, whatever it says
	Kept          = "core"          // core, whatever it says
)

// A Cluttered is an entry of a generated store.
type Cluttered struct {
	Text    string
	Kind    string
	Group   int // of entries that say the same or are about one thing; never 0
	Latest  bool
	Created time.Time
	Uses    int64
	Fields  map[string]json.RawMessage // an indexer's
}

// Clutter is a store in the state that stores are in after a year, with questions about
// what is good in it. What each question wants is a place in Entries, or any other of its
// kind and group that says the same.
type Clutter struct {
	Entries   []Cluttered
	Questions []ClutterQuestion
}

// ClutterQuestion asks for what an entry says.
type ClutterQuestion struct {
	Text string
	Want int // place of the entry
}

// What of a store is of which kind, in percent; the rest is good.
const (
	copies, reworded, junk, versions, platforms, changes, contradictions, indexed, cores = 8, 12, 9, 6, 3, 7, 3, 4, 1
)

// NewClutter makes a store of n entries, 100 or more. The same n, seed and time make the
// same store.
func NewClutter(n int, seed uint64, now time.Time) *Clutter {
	g := &clutterer{rng: rand.New(rand.NewPCG(seed, 0x6c757474)), now: now, used: make(map[string]bool)}
	part := func(percent int) int { return len(g.out.Entries) + max(1, n*percent/100) }
	for end := part(versions); len(g.out.Entries) < end; {
		g.versioned()
	}
	for end := part(platforms); len(g.out.Entries) < end; {
		g.onPlatforms()
	}
	for end := part(changes); len(g.out.Entries) < end; {
		g.changed()
	}
	for end := part(contradictions); len(g.out.Entries) < end; {
		g.contradicted()
	}
	for end := part(junk); len(g.out.Entries) < end; {
		g.add(Junk, g.junk(), g.ago(400))
	}
	for end := part(indexed); len(g.out.Entries) < end; {
		g.indexed()
	}
	for end := part(cores); len(g.out.Entries) < end; {
		g.add(Kept, g.junk(), g.ago(400))
	}
	g.facts(n)
	g.shuffle()
	return &g.out
}

type clutterer struct {
	rng    *rand.Rand
	now    time.Time
	groups int
	used   map[string]bool // what may be said of one thing only once
	out    Clutter
}

// add adds an entry of a new group and returns its place.
func (g *clutterer) add(kind, text string, at time.Time) int {
	g.groups++
	return g.also(g.groups, kind, text, at)
}

// also adds an entry of a group.
func (g *clutterer) also(group int, kind, text string, at time.Time) int {
	e := Cluttered{Text: text, Kind: kind, Group: group, Created: at.UTC().Truncate(time.Millisecond)}
	if kind != Junk && g.rng.IntN(3) > 0 {
		e.Uses = int64(g.rng.IntN(6))
	}
	g.out.Entries = append(g.out.Entries, e)
	return len(g.out.Entries) - 1
}

func (g *clutterer) ask(text string, want int) {
	g.out.Questions = append(g.out.Questions, ClutterQuestion{text, want})
}

func (g *clutterer) ago(days int) time.Time {
	return g.now.Add(-time.Duration(1+g.rng.IntN(days*24*60)) * time.Minute)
}

func (g *clutterer) of(kind string) string { all := words(kind); return all[g.rng.IntN(len(all))] }

// fill puts words into the places of a text, which are named in braces. A place has the
// same word wherever it is in the texts that are filled with one set of words.
func (g *clutterer) fill(with map[string]string, text string) string {
	for {
		from := strings.IndexByte(text, '{')
		if from < 0 {
			return text
		}
		to := from + strings.IndexByte(text[from:], '}')
		place := text[from+1 : to]
		if with[place] == "" {
			with[place] = g.word(place, with)
		}
		text = text[:from] + with[place] + text[to+1:]
	}
}

func (g *clutterer) word(place string, with map[string]string) string {
	switch place {
	case "svc", "peer":
		return g.of("first") + "-" + g.of("second")
	case "person":
		return g.of("name") + " " + g.of("surname")
	case "date":
		return fmt.Sprintf("%d %s", 1+g.rng.IntN(28), g.of("month"))
	case "few":
		return fmt.Sprint(2 + g.rng.IntN(8))
	case "n", "more":
		return fmt.Sprint(10 + g.rng.IntN(90)*7)
	}
	for { // two places of one kind have different words
		w := g.of(place)
		if w != with["tech"] && w != with["like"] {
			return w
		}
	}
}

// facts fills the store up with facts, some of them said again and again.
func (g *clutterer) facts(n int) {
	copied, again := max(1, n*copies/100), max(1, n*reworded/100)
	all := clutter().Facts
	for i := 0; len(g.out.Entries) < n; i++ {
		f := all[i%len(all)]
		with := g.subject(f.About, f.Ways[0])
		base := g.add(Good, g.fill(with, f.Ways[0]), g.ago(400))
		group := g.groups
		g.ask(g.fill(with, f.Ask), base)
		left := n - len(g.out.Entries)
		if again > 0 && left > 0 && g.rng.IntN(left+again) < 2*again {
			for _, way := range f.Ways[1:min(len(f.Ways), 2+g.rng.IntN(2))] {
				g.also(group, Reworded, g.fill(with, way), g.ago(400))
				again--
			}
		}
		if left = n - len(g.out.Entries); copied > 0 && left > 0 && g.rng.IntN(left+copied) < 2*copied {
			g.also(group, Copy, g.scribbled(g.out.Entries[base].Text), g.ago(400))
			copied--
		}
	}
}

// subject chooses what a fact is about, of which nothing of the kind was said before.
func (g *clutterer) subject(about, kind string) map[string]string {
	for {
		with := map[string]string{}
		subject := g.fill(with, "{"+about+"}")
		if key := kind + subject; !g.used[key] {
			g.used[key] = true
			return with
		}
	}
}

// scribbled is a text as somebody writes it down again.
func (g *clutterer) scribbled(text string) string {
	bare := strings.TrimRight(text, ".")
	switch g.rng.IntN(5) {
	case 0:
		return text + " "
	case 1:
		return bare
	case 2:
		return "Note: " + text
	case 3:
		return bare + "!"
	}
	first := []rune(text)
	first[0] = unicode.ToLower(first[0])
	return string(first)
}

// versioned says of two or three versions of a program how it is in them.
func (g *clutterer) versioned() {
	with := g.subject("svc", "version")
	with["tech"] = g.of("tech")
	setting := g.of("setting")
	group, first := g.nextGroup(), 2+g.rng.IntN(9)
	for i := range 2 + g.rng.IntN(2) {
		version := fmt.Sprintf("%d.%d", first+i, g.rng.IntN(10))
		value := fmt.Sprint((1 + g.rng.IntN(9)) * 8 << i)
		text := g.fill(with,
			"With {tech} "+version+", {svc} has a "+setting+" of "+value+" unless the unit file says otherwise.")
		if i == 2 {
			text = g.fill(with,
				"In {svc} the "+setting+" is "+value+" with {tech} "+version+", unless the unit file says otherwise.")
		}
		g.ask(g.fill(with, setting+" of {svc} with {tech} "+version), g.also(group, Version, text, g.ago(400)))
	}
}

func (g *clutterer) nextGroup() int { g.groups++; return g.groups }

func (g *clutterer) onPlatforms() {
	with := g.subject("svc", "platform")
	thing, group := g.of("things"), g.nextGroup()
	for i, at := range [][2]string{{"Linux", "~/.local/share"}, {"macOS", "~/Library/Application Support"},
		{"Windows", "%APPDATA%"}} {
		if i == 2 && g.rng.IntN(2) == 0 {
			break
		}
		text := g.fill(with, "On "+at[0]+", {svc} keeps its "+thing+" in "+at[1]+"/{svc}.")
		g.ask(g.fill(with, "where does {svc} keep "+thing+" on "+at[0]), g.also(group, Platform, text, g.ago(400)))
	}
}

// changed says something twice or three times, each time with what holds by then.
func (g *clutterer) changed() {
	ways := clutter().Changed
	k := g.rng.IntN(len(ways))
	way, with, group := ways[k], g.subject("svc", "changed"), g.nextGroup()
	at, last := g.now.AddDate(0, 0, -390), 0
	for i := range 2 + g.rng.IntN(2) {
		at = at.Add(time.Duration(30+g.rng.IntN(90)) * 24 * time.Hour)
		text := strings.ReplaceAll(way[min(i, 1)], "{0}", g.value(k, i))
		last = g.also(group, Changed, g.fill(with, text), at)
	}
	g.out.Entries[last].Latest = true
	g.ask(g.fill(with, way[2]), last)
}

// value is one of a kind, another for each time.
func (g *clutterer) value(kind, time int) string {
	switch kind {
	case 0:
		return fmt.Sprint(4000 + 1000*time + g.rng.IntN(900))
	case 1:
		all := words("place")
		return all[(time*5+g.rng.IntN(5))%len(all)]
	case 2:
		return fmt.Sprint((time+1)*30 + g.rng.IntN(20))
	case 3:
		all := words("name")
		return all[time*10+g.rng.IntN(10)]
	case 4:
		return fmt.Sprintf("0%d:%d0", 1+2*time+g.rng.IntN(2), g.rng.IntN(6))
	}
	return fmt.Sprint((time+1)*100 + g.rng.IntN(90))
}

// contradicted says something and its opposite on one day.
func (g *clutterer) contradicted() {
	ways := clutter().Contradicted
	way := ways[g.rng.IntN(len(ways))]
	with, group, at := g.subject("svc", "contradicted"), g.nextGroup(), g.ago(400)
	one := g.also(group, Contradiction, g.fill(with, way[0]), at)
	g.also(group, Contradiction, g.fill(with, way[1]), at.Add(time.Duration(g.rng.IntN(60))*time.Second))
	g.ask(g.fill(with, way[2]), one)
}

// junk is what is in stores and helps nobody.
func (g *clutterer) junk() string {
	all := clutter().Junk
	return g.fill(map[string]string{}, all[g.rng.IntN(len(all))])
}

// indexed is what an indexer left, which may look like anything.
func (g *clutterer) indexed() {
	with := g.subject("svc", "indexed")
	all := clutter().Indexed
	at := g.add(Indexed, g.fill(with, all[g.rng.IntN(len(all))]), g.ago(400))
	e := &g.out.Entries[at]
	e.Fields = map[string]json.RawMessage{}
	for _, f := range [][2]string{{"file_path", `"src/main.go"`}, {"ast_type", `"FunctionDecl"`}, {"is_chunk", "true"}, {"line_number", "12"}, {"docstring", "null"}} {
		if g.rng.IntN(2) == 0 || len(e.Fields) == 0 && f[0] == "docstring" {
			e.Fields[f[0]] = json.RawMessage(f[1])
		}
	}
}

// shuffle has entries in no order that says anything.
func (g *clutterer) shuffle() {
	order := g.rng.Perm(len(g.out.Entries))
	entries := make([]Cluttered, len(order))
	for from, to := range order {
		entries[to] = g.out.Entries[from]
	}
	g.out.Entries = entries
	for i := range g.out.Questions {
		g.out.Questions[i].Want = order[g.out.Questions[i].Want]
	}
	slices.SortFunc(g.out.Questions, func(a, b ClutterQuestion) int { return strings.Compare(a.Text, b.Text) })
}
