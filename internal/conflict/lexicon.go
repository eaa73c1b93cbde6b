package conflict

import (
	"slices"
	"strings"
	"sync"
)

// entry is what is known of a word, by stem.
type entry struct {
	opposites  []string // what it excludes
	kinds      []string // what else one thing is of its kind
	course     course   // which way it says that something goes
	lacks      bool     // it says that something is not there
	neutral    bool     // it says nothing of what a value is about
	functional bool     // it is a verb with one object only
}

var known = sync.OnceValue(func() map[string]*entry {
	lexicon := make(map[string]*entry)
	of := func(stem string) *entry {
		if lexicon[stem] == nil {
			lexicon[stem] = new(entry)
		}
		return lexicon[stem]
	}
	each := func(words string, note func(*entry)) {
		for w := range strings.FieldsSeq(words) {
			note(of(w))
		}
	}
	exclusive(opposites, func(a, b string) { of(a).opposites = append(of(a).opposites, b) })
	exclusive(kinds, func(a, b string) { of(a).kinds = append(of(a).kinds, b) })
	for i, words := range [...]string{upWords, downWords, linkWords, noneWords} {
		each(words, func(e *entry) { e.course = course(i + 1) })
	}
	each(lackWords, func(e *entry) { e.lacks = true })
	each(neutralWords, func(e *entry) { e.neutral = true })
	each(functionalWords, func(e *entry) { e.functional = true })
	return lexicon
})

// lookup is what is known of a stem, all zero if that is nothing.
func lookup(stem string) *entry {
	if e := known()[stem]; e != nil {
		return e
	}
	return &entry{}
}

// exclusive names each two words that a list has between strokes, either way.
func exclusive(list string, pair func(a, b string)) {
	for group := range strings.FieldsSeq(list) {
		words := strings.Split(group, "/")
		for _, a := range words {
			for _, b := range words {
				if a != b {
					pair(a, b)
				}
			}
		}
	}
}

// neutralWords say nothing of what a value is about.
const neutralWords = "set rais lower increas decreas reduc move chang updat measur current default total exactli tune bump adjust switch start take took becom new old"

// functionalWords are verbs with one object: who says another contradicts.
const functionalWords = "is ar wa were be us live work run prefer host call name lead manag own deploi store base locat written handl maintain report belong move default assign"

// opposites are pairs of stems, or more than two, of which one thing can be one only.
const opposites = `on/off in/out up/down before/after above/below true/fals ye/no alwai/never with/without
more/less most/least left/right open/close begin/end add/remov put/remov insert/remov pour/remov appli/remov accept/reject approv/reject
allow/deni allow/forbid allow/prohibit grant/deni permit/forbid enabl/disabl like/dislik love/hate agre/disagre buy/sell
increas/decreas rise/fall grow/shrink win/lose push/pull into/from to/from toward/awai insid/outsid indoor/outdoor interior/exterior onto/off earli/late
old/new young/old hot/cold warm/cold wet/dry full/empti crowd/empti empti/fill high/low long/short big/small larg/small
fast/slow good/bad right/wrong improv/worsen better/wors safe/unsaf public/privat async/sync asynchron/synchron min/max
light/dark dai/night prefer/avoid keep/delet keep/remov creat/delet awak/sleep alive/dead success/failur succe/fail pass/fail
connect/disconnect attach/detach lock/unlock encrypt/decrypt mount/unmount instal/uninstal import/export upload/download
merg/split upper/lower activ/inact valid/invalid stabl/unstabl support/unsupport requir/option mandatori/option
automat/manual local/remot cheap/expens easi/difficult easi/hard simpl/complex same/differ present/absent marri/singl
alon/togeth catch/miss hit/miss follow/shun done/pend open/merg speak/silent talk/silent dress/nake wear/nake
near/far clean/dirti wide/narrow thick/thin strong/weak heavi/light loud/quiet quick/slow quickli/slowli shallow/deep
bright/dark rich/poor smooth/rough tall/short straight/curv happi/sad calm/angri healthi/ill raw/cook busi/idl free/paid
onlin/offlin visibl/hidden mani/few all/few all/none everyon/nobodi everybodi/nobodi top/bottom front/behind ahead/behind
forward/backward major/minor cover/uncov load/unload broken/intact rais/lower ascend/descend climb/descend
hourli/daili/weekli/monthli/quarterli/yearli spring/summer/autumn/winter north/south/east/west todai/tomorrow/yesterdai
red/green/blue/yellow/orang/purpl/pink/black/white/grai/brown`

// kinds are opposites of which a text may speak of both, for it means somebody else or
// another moment: enough for keeping two texts apart, but not for calling them a conflict.
const kinds = `man/woman boi/girl male/femal men/women he/she first/last start/stop stop/run
enter/leav enter/exit arriv/depart drop/lift attack/defend build/destroi build/demolish save/spend give/take send/receiv
ask/answer lend/borrow find/lose throw/catch float/sink freez/melt laugh/cry smile/frown read/write gain/lose lead/follow
stand/sit/ly/run/walk/jump/sleep/rest/crawl/swim`

// prefixes make a word its opposite.
func prefixes() []string { return []string{"un", "dis", "non", "in", "im", "ir", "de"} }

// turnedBy reports whether the longer of two stems is the shorter one behind a prefix that
// makes it its opposite.
func turnedBy(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) < 2 || len(b)-len(a) > 3 || len(a) < 4 || !strings.HasSuffix(b, a) {
		return false
	}
	prefix := b[:len(b)-len(a)]
	return prefix == "un" || len(a) > 4 && slices.Contains(prefixes(), prefix)
}

// opposed reports two words of opposite meaning: a pair of the list, or a word and the
// same one behind a prefix.
func (w *word) opposed(v *word) bool {
	return slices.Contains(w.known.opposites, v.stem) || turnedBy(w.stem, v.stem)
}
