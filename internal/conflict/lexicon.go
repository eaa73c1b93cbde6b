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
	coloured   bool     // it is a colour
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
	each(strings.ReplaceAll(colours, "/", " "), func(e *entry) { e.coloured = true })
	exclusive(colours, func(a, b string) { of(a).opposites = append(of(a).opposites, b) })
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
const neutralWords = "set rais lower increas decreas reduc move chang updat measur current default total exactli tune bump adjust switch start take took becom new old need requir"

// functionalWords are verbs with one object: who says another contradicts.
const functionalWords = "is ar wa were be us live work run prefer host call name lead manag own deploi store base locat written handl maintain report belong move default assign"

// opposites are pairs of stems, or more than two, of which one thing can be one only.
const opposites = `on/off in/out up/down befor/after abov/below true/fals ye/no alwai/never with/without
more/less most/least open/close begin/end add/remov put/remov insert/remov pour/remov appli/remov accept/reject approv/reject
allow/deni allow/forbid allow/prohibit grant/deni permit/forbid enabl/disabl like/dislik love/hate agre/disagre bui/sell
increas/decreas rise/fall grow/shrink win/lose indoor/outdoor earli/late
old/new young/old hot/cold warm/cold wet/dry full/empti crowd/empti empti/fill high/low long/short big/small larg/small
fast/slow good/bad right/wrong improv/worsen better/wors safe/unsaf public/privat async/sync asynchron/synchron min/max
light/dark dai/night prefer/avoid keep/delet keep/remov creat/delet awak/sleep aliv/dead success/failur succeed/fail pass/fail
connect/disconnect attach/detach lock/unlock encrypt/decrypt mount/unmount instal/uninstal import/export upload/download
merg/split upper/lower activ/inact valid/invalid stabl/unstabl support/unsupport requir/option mandatori/option
automat/manual local/remot cheap/expens easi/difficult easi/hard simpl/complex same/differ present/absent marri/singl
alon/togeth catch/miss hit/miss follow/shun done/pend open/merg speak/silent talk/silent dress/nake wear/nake
near/far clean/dirti wide/narrow thick/thin strong/weak heavi/light loud/quiet quick/slow quickli/slowli shallow/deep
bright/dark rich/poor smooth/rough tall/short straight/curv happi/sad calm/angri healthi/ill raw/cook busi/idl free/paid
onlin/offlin visibl/hidden mani/few all/few all/none everyon/nobodi everybodi/nobodi 
forward/backward major/minor cover/uncov load/unload broken/intact 
hourli/daili/weekli/monthli/quarterli/yearli spring/summer/autumn/winter north/south/east/west todai/tomorrow/yesterdai
upstair/downstair hourli/nightli weekli/nightli monthli/nightli`

// colours exclude each other where one is all that is said of something.
const colours = "red/green/blue/yellow/orang/purpl/pink/black/white/grai/brown"

// kinds are opposites of which a text may speak of both, for it means somebody else or
// another moment: enough for keeping two texts apart, but not for calling them a conflict.
const kinds = `man/woman boi/girl male/femal men/women he/she first/last start/stop stop/run
enter/leav enter/exit arriv/depart drop/lift attack/defend build/destroi build/demolish save/spend give/take send/receiv
ask/answer lend/borrow find/lose throw/catch float/sink freez/melt laugh/cry smile/frown read/write gain/lose lead/follow
stand/sit/ly/run/walk/jump/sleep/rest/crawl/swim
left/right push/pull into/from to/from into/out toward/awai insid/outsid indoor/outsid insid/outdoor interior/exterior onto/off top/bottom
front/behind ahead/behind rais/lower ascend/descend climb/descend close/far nearbi/far close/distant near/distant
big/littl big/tini larg/littl larg/tini huge/small huge/littl huge/tini giant/small giant/tini enorm/small enorm/tini gigant/tini massiv/small
ignor/listen ignor/heed ignor/notic watch/ignor silent/shout quiet/noisi silent/noisi silent/sing quiet/shout
bald/hairi fat/thin fat/slim thin/plump tall/low long/brief brave/afraid
beauti/ugli pretti/ugli polit/rude kind/cruel sharp/blunt sharp/dull hard/soft tight/loos sweet/sour sweet/bitter
fresh/rotten fresh/stale ripe/unrip steep/flat straight/crook straight/bent bumpi/smooth blurri/clear cloudi/clear cloudi/sunni sunni/raini
expand/contract expand/shrink inflat/deflat tie/unti fasten/loosen zip/unzip fold/unfold pack/unpack wrap/unwrap dress/undress plug/unplug
hide/show reveal/hide reveal/conceal expos/conceal wake/sleep inhal/exhal land/takeoff sow/harvest plant/harvest dig/buri
borrow/return break/repair break/fix damag/repair damag/fix drain/fill spill/fill ignit/extinguish light/extinguish
advanc/retreat approach/leav approach/retreat chase/flee pursu/flee welcom/dismiss hire/fire prais/blame prais/criticis prais/critic
lone/group lone/crowd alon/group singl/sever empti/pack vacant/occupi deni/confirm deni/admit refus/accept refus/agre
victori/defeat profit/loss friend/enemi alli/enemi heaven/hell entranc/exit arriv/depart departur/arriv question/answer
ancient/modern artifici/natur rural/urban guilti/innoc tame/wild domest/wild domest/foreign vertic/horizont parallel/perpendicular`

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
