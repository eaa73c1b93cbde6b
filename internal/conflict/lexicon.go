package conflict

import (
	"slices"
	"strings"
	"sync"
)

// lexicon is what is known of words, by stem.
type lexicon struct {
	opposites  map[string][]string
	kinds      map[string][]string
	neutral    map[string]bool
	functional map[string]bool
	courses    map[string]course
	lacks      map[string]bool
}

var known = sync.OnceValue(func() lexicon {
	l := lexicon{neutral: make(map[string]bool), functional: make(map[string]bool)}
	l.opposites, l.kinds = exclusive(opposites), exclusive(kinds)
	for w := range strings.FieldsSeq(neutralWords) {
		l.neutral[w] = true
	}
	for w := range strings.FieldsSeq(functionalWords) {
		l.functional[w] = true
	}
	l.courses, l.lacks = make(map[string]course), make(map[string]bool)
	for i, words := range [...]string{upWords, downWords, linkWords, noneWords} {
		for w := range strings.FieldsSeq(words) {
			l.courses[w] = course(i + 1)
		}
	}
	for w := range strings.FieldsSeq(lackWords) {
		l.lacks[w] = true
	}
	return l
})

// exclusive leads from each word to those that stand with it between strokes.
func exclusive(list string) map[string][]string {
	out := make(map[string][]string)
	for group := range strings.FieldsSeq(list) {
		words := strings.Split(group, "/")
		for _, a := range words {
			for _, b := range words {
				if a != b {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
}

// neutralWords say nothing of what a value is about.
const neutralWords = "set rais lower increas decreas reduc move chang updat measur current default total exactli tune bump adjust switch start take took becom new old"

// functionalWords are verbs with one object: who says another contradicts.
const functionalWords = "is ar wa were be us live work run prefer host call name lead manag own deploi store base locat written handl maintain report belong move default assign"

func neutral(stem string) bool    { return known().neutral[stem] }
func functional(stem string) bool { return known().functional[stem] }

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
hourli/daili/weekli/monthli/quarterli/yearli spring/summer/autumn/winter north/south/east/west todai/tomorrow/yesterdai
red/green/blue/yellow/orang/purpl/pink/black/white/grai/brown`

// kinds are opposites of which a text may speak of both, for it means somebody else or
// another moment: enough for keeping two texts apart, but not for calling them a conflict.
const kinds = `man/woman boi/girl male/femal men/women he/she first/last start/stop stop/run
stand/sit/ly/run/walk/jump/sleep/rest/crawl/swim`

// antonyms are the words of opposite meaning that the lists have of a stem, and the same
// word behind un-, dis- and the like or without it.
func antonyms(stem string) []string {
	out := slices.Concat(known().opposites[stem], known().kinds[stem])
	for _, prefix := range [...]string{"un", "dis", "non", "in", "im", "ir", "de"} {
		least := 5
		if prefix == "un" {
			least = 4
		}
		if len(stem) >= least {
			out = append(out, prefix+stem)
		}
		if rest, ok := strings.CutPrefix(stem, prefix); ok && len(rest) >= least {
			out = append(out, rest)
		}
	}
	return out
}

// opposed reports two stems of opposite meaning: a pair of the list, or a word and the
// same one behind un-, dis-, non-, in- or de-.
func opposed(a, b string) bool {
	return slices.Contains(antonyms(a), b) && !slices.Contains(known().kinds[a], b)
}
