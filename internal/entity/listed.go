package entity

import "strings"

// listed finds the products, places and fields of the lists.
func (f *finder) listed() {
	for i := 0; i < len(f.words); {
		i += max(1, f.listedAt(i))
	}
}

// listedAt adds the longest listed name at word i and returns how many words it has.
func (f *finder) listedAt(i int) int {
	for n := f.words[i].listed; n > 0; n-- {
		if i+n > len(f.words) || n > 1 && f.parted(i, i+n) {
			continue
		}
		e, ok := lists().name(f.key(i, i+n))
		if ok && f.accepts(i, i+n, &e) {
			f.add(f.words[i].start, f.words[i+n-1].end, noun, e.kind, f.text[f.words[i].start:f.words[i+n-1].end])
			return n
		}
	}
	return 0
}

func (s *scanned) parted(i, end int) bool {
	for i++; i < end; i++ {
		if s.words[i].gap > sign {
			return true
		}
	}
	return false
}

// accepts reports whether a listed name is meant here.
func (f *finder) accepts(i, end int, e *listedName) bool {
	w := f.words[i]
	small := w.shape&(capital|camel|unspaced) == 0
	switch {
	case e.kind == Topic:
		return true
	case e.kind == Person:
		return false // people finds them
	case e.kind == Place && small:
		return !e.doubtful && i > 0 && w.gap == space && leads(f.key(i-1, i))
	case e.kind == Place && w.shape&acronym == 0 && e.name == strings.ToUpper(e.name):
		return w.shape&unspaced != 0
	case e.doubtful && (small || w.german || f.isLoud(i) && f.shouted(i)):
		return false
	case e.doubtful && w.gap >= colon:
		return f.does(i) || end < len(f.words) && f.words[end].gap == space && f.words[end].shape&digits != 0
	case small && e.name == strings.ToUpper(e.name):
		return len(e.name) > 3 // sap, mit, who
	}
	return true
}

// leads tells words that stand before a place.
func leads(word string) bool {
	return among(word, "in to from near nach aus bei à en a de desde via visit visited")
}

// The words by which names of organisations and places end and begin.
const (
	organisationEnds = "inc ltd llc gmbh ag corp university universität institute council bank media foundation " +
		"airlines airways orchestra federation ministry " +
		"association verein society company labs group club school college"
	placeEnds = "street road avenue lane square boulevard river lake bay island beach park valley airport station " +
		"library museum bridge coast mountains hills county northwest"
	placeBegins = "rue via calle plaza piazza avenida lake mount north south east west san saint st"
)

// kindOf tells what a run of words names by its first and last one.
func (s *scanned) kindOf(i, end int) Kind {
	if e, ok := lists().name(s.key(i, end)); ok && e.kind != Topic {
		return e.kind
	}
	first, last := s.key(i, i+1), s.key(end-1, end)
	switch {
	case among(last, organisationEnds), among(first, "university universität université universidad bank institute"):
		return Organisation
	case among(last, placeEnds), among(first, placeBegins):
		return Place
	}
	if e, ok := lists().name(s.key(i, i+1)); ok && e.kind == Product ||
		s.words[i].shape&camel != 0 || s.words[i].shape&acronym != 0 && !s.isCommon(i) {
		return Product
	}
	return Other
}

// among reports whether a word is one of those in a list with blanks between them.
func among(word, words string) bool {
	for one := range strings.FieldsSeq(words) {
		if one == word {
			return true
		}
	}
	return false
}
