package contradiction

import (
	"slices"
	"strings"
)

// A Doubt is a relation of which two texts give one subject two values, where nothing says
// whether a subject can have both.
type Doubt struct {
	relation []string // keys: a verb, and the preposition behind it if there is one
	finding  Finding
}

// enoughSubjects is how many other subjects of a relation have to have one value each before the
// relation counts as one with one value.
const enoughSubjects = 4

// Doubt returns what two texts leave open, nil if that is nothing. A Settle call with other texts
// decides it.
func (f *Facts) Doubt(g *Facts) *Doubt {
	if len(f.sentences) != 1 || len(g.sentences) != 1 {
		return nil
	}
	p := pair{f: f, g: g, s: &f.sentences[0], t: &g.sentences[0]}
	p.weigh()
	if p.comparable() && !p.ofOthers() {
		if s, ok := slotOf(p.s.parts, p.t.parts); ok && !p.exclusive(&s) {
			return p.doubt(&s)
		}
	}
	return nil
}

func (p *pair) doubt(s *slot) *Doubt {
	i := len(s.before) - 1
	for i >= 0 && s.before[i].link {
		i--
	}
	if i < 1 || s.before[i].single || p.s.words[s.before[i].word].known.many || len(s.before)-i > 2 {
		return nil
	}
	x, y := p.f.stretch(s.a), p.g.stretch(s.b)
	return &Doubt{keysOf(s.before[i:]), Finding{Kind: "name", A: x, B: y, Why: x + " against " + y, framed: true}}
}

// Term is the stem to look for other texts with the relation by.
func (d *Doubt) Term() string { return d.relation[0] }

// Settle returns the conflict if, in other texts, each of several subjects has one value of the
// relation, and none has two.
func (d *Doubt) Settle(others []*Facts) (Finding, bool) {
	values := make(map[string]map[string]bool)
	for _, f := range others {
		for i := range f.sentences {
			subject, value := d.read(f.sentences[i].parts)
			if subject == "" || value == "" {
				continue
			}
			if values[subject] == nil {
				values[subject] = make(map[string]bool)
			}
			if values[subject][value] = true; len(values[subject]) > 1 {
				return Finding{}, false
			}
		}
	}
	return d.finding, len(values) >= enoughSubjects
}

// read returns who has what by the relation, "" and "" if the statement does not say it.
func (d *Doubt) read(parts []part) (subject, value string) {
	keys := keysOf(parts)
	for i := 1; i+len(d.relation) < len(keys); i++ {
		if !slices.Equal(keys[i:i+len(d.relation)], d.relation) {
			continue
		}
		from := i + len(d.relation)
		end := from
		for end < len(keys) && !parts[end].link {
			end++
		}
		return strings.Join(keys[:i], " "), strings.Join(keys[from:end], " ")
	}
	return "", ""
}
