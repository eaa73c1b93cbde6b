package quality

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"

	"emberd/internal/entity"
	"emberd/memory"
)

// HalfLife is after how long without use recency is one half. Each doubling of one plus
// the uses adds as much.
const HalfLife = 180 * 24 * time.Hour

// Heuristic judges by rules alone, at a moment. It never falls as an entry is used more or
// was used later, and never rises as time goes by.
//
// With s = 1 − e^(−(words that say something + 1.5·concrete)/5), c the same of concrete
// things alone (numbers, names, code, addresses) over 3, u = uses/(uses + 3), each dimension
// cut to 0 to 1:
//
//   - accuracy: 0.7, times 0.4 + 0.6·confidence; hedges, questions and to-dos take from it,
//     as do contradictions and successors; who said it, how often and use add to it
//   - completeness: 0.25 + 0.75·s, less what breaks off, asks or is to be done
//   - specificity: 0.25 + 0.75·c, less for what stands in many copies
//   - reusability: 0.3 + 0.4·s + 0.3·u, less for questions and to-dos
//   - recency: a half for each [HalfLife] since the last use
//
// Junk (test messages, keys at random, small talk, boilerplate, to-dos and phrases that name
// nothing) has hardly any of the first four, and is below 0.3 until it has been used five
// times. The numbers were chosen on texts written for the tests.
func Heuristic(e *Entry, now time.Time) Score {
	g := signsOf(e.Text)
	var why []string
	if g.junk != "" {
		why = append(why, g.junk)
	} else {
		why = reasons(e, &g)
	}
	d := dimensionsOf(e, &g, namesIn(e, &g), now)
	return Score{Dimensions: d, Overall: d.Overall(), Floor: d.Overall(), Reasons: why, Scorer: ByHeuristic,
		Digest: digest(e.Text)}
}

// Low reports whether [Heuristic] is below a bound. What is not even without the names in
// its text, which only ever add, is not searched for them, so that it costs half as much.
func Low(e *Entry, now time.Time, bound float64) bool {
	g := signsOf(e.Text)
	return dimensionsOf(e, &g, 0, now).Overall() < bound && dimensionsOf(e, &g, namesIn(e, &g), now).Overall() < bound
}

// namesIn returns the number of names in a text that is not junk.
func namesIn(e *Entry, g *signs) int {
	if g.junk != "" {
		return 0
	}
	return len(entity.Find(e.Text, entity.Options{}))
}

// dimensionsOf judges a text by its signs and how many names are in it.
func dimensionsOf(e *Entry, g *signs, names int, now time.Time) Dimensions {
	used := float64(e.UseCount) / float64(max(0, e.UseCount)+3)
	used = max(0, used)
	var d Dimensions
	if g.junk != "" {
		d = Dimensions{Accuracy: 0.25 + 0.3*used, Completeness: 0.05, Specificity: 0.05 + 0.2*used,
			Reusability: 0.3 * used}
	} else {
		d = judged(e, g, names, used)
	}
	if e.Confirmed {
		d.Accuracy += 0.3
	}
	d.Recency = recency(e, now)
	return bounded(d)
}

// judged returns the dimensions of a text that is not junk.
func judged(e *Entry, g *signs, names int, used float64) Dimensions {
	concrete := float64(g.concrete) + 0.5*float64(names) + float64(len(e.Entities))
	s := saturated(g.says+1.5*float64(g.concrete), 5)
	asks := share(g.questions, g.sentences)
	d := Dimensions{
		Accuracy:     accuracy(e, g, asks) + 0.3*used,
		Completeness: 0.25 + 0.75*s - 0.25*asks,
		Specificity:  0.25 + 0.75*saturated(concrete+0.3*g.says, 3),
		Reusability:  0.3 + 0.4*s + 0.3*used - 0.2*asks,
	}
	if g.open {
		d.Completeness -= 0.2
	}
	if g.todo {
		d.Completeness -= 0.2
		d.Reusability -= 0.25
	}
	if e.Copies >= 3 && g.concrete == 0 {
		d.Specificity *= 0.6
	}
	return d
}

func accuracy(e *Entry, g *signs, asks float64) float64 {
	a := 0.7 * (0.4 + 0.6*min(1, max(0, e.Confidence)))
	a -= 0.36*share(g.hedges, g.sentences) + 0.3*asks
	a -= min(0.3, 0.15*float64(e.Disputed))
	if e.Superseded {
		a -= 0.35
	}
	switch {
	case e.Origin == memory.FromUser:
		a += 0.1
	case (e.Origin == memory.FromTool || e.Origin == memory.FromWeb) && !e.Confirmed:
		a -= 0.1
	}
	return a + min(0.15, 0.05*math.Log2(float64(max(1, e.Learned))))
}

// recency halves with each [HalfLife].
func recency(e *Entry, now time.Time) float64 {
	last := e.Created
	if e.LastUsed.After(last) {
		last = e.LastUsed
	}
	half := float64(HalfLife) * (1 + math.Log2(1+float64(max(0, e.UseCount))))
	r := math.Exp2(-max(0, float64(now.Sub(last))) / half)
	if e.Superseded {
		r /= 2
	}
	return r
}

// Reasons that another wording may take away.
const (
	toBeDone  = "an open task"
	onlyAsks  = "only asks"
	uncertain = "uncertain wording"
	breaksOff = "incomplete"
)

// Rewordable reports a reason of a [Score] that another wording may take away.
func Rewordable(reason string) bool {
	switch reason {
	case toBeDone, onlyAsks, uncertain, breaksOff:
		return true
	}
	return false
}

// reasons returns what took from a score, in few words.
func reasons(e *Entry, g *signs) (why []string) {
	for _, c := range []struct {
		so  bool
		why string
	}{
		{e.Superseded, "another memory supersedes it"},
		{e.Disputed > 0, "other memories contradict the memory"},
		{g.todo, toBeDone},
		{g.questions > 0 && g.questions == g.sentences, onlyAsks},
		{g.hedges > 0, uncertain},
		{g.open, breaksOff},
		{e.Confidence < 0.5, "low confidence"},
		{e.Copies >= 3 && g.concrete == 0, "several copies of the same text"},
		{g.concrete == 0 && g.says < 3, "few words and no concrete details"},
	} {
		if c.so {
			why = append(why, c.why)
		}
	}
	return why
}

// saturated returns 0 for 0 and approaches 1; at scale it is two thirds.
func saturated(x, scale float64) float64 { return 1 - math.Exp(-max(0, x)/scale) }

// share returns n as a share of all, at most 1.
func share(n, all int) float64 { return min(1, float64(n)/float64(max(1, all))) }

func bounded(d Dimensions) Dimensions {
	for _, x := range []*float64{&d.Accuracy, &d.Completeness, &d.Specificity, &d.Reusability, &d.Recency} {
		*x = rounded(min(1, max(0, *x)))
	}
	return d
}

// digest names a text by the first 16 hex digits of its SHA-256.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
