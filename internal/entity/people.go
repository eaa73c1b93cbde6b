package entity

import "strings"

// given returns the entry of word i in the list of given names.
func (s *scanned) given(i int) (e listedName, ok bool) {
	e, ok = lists().name(s.key(i, i+1))
	return e, ok && e.kind == Person
}

// isDoubted reports a capitalised given name that is an everyday word, where it is a name for
// certain.
func (s *scanned) isDoubted(i int) bool {
	e, ok := s.given(i)
	return ok && e.doubtful && s.isPerson(i, i+1)
}

// isPerson reports whether the run of words from i begins with a given name.
func (s *scanned) isPerson(i, end int) bool {
	e, ok := s.given(i)
	switch {
	case !ok || s.words[i].shape&capital == 0 || s.isLoud(i) && s.words[i].end-s.words[i].start < 5:
		return false
	case !e.doubtful, s.behindRole(i):
		return true
	case i > 0 && s.words[i].gap == space && isArticle(s.key(i-1, i)):
		return false
	case s.words[i].gap >= colon || s.words[i].german || lists().function.Has(s.key(i, i+1)) || s.isTime(i):
		return s.does(i) || s.behindPerson(i) || end > i+1 && !s.isCommon(i+1) && !lists().function.Has(s.key(i, i+1))
	}
	return i == 0 || !leads(s.key(i-1, i))
}

func isArticle(word string) bool {
	return among(word, "the a an this that no der die das den dem des ein eine einen einer "+
		"le la les un une el los las una")
}

// isTime reports a given name that is a month or season too.
func (s *scanned) isTime(i int) bool {
	switch s.key(i, i+1) {
	case "april", "may", "june", "august", "summer", "autumn", "winter":
		return true
	}
	return false
}

// does reports whether what stands behind word i says that it is somebody: a verb, a possessive,
// or another given name behind "and".
func (s *scanned) does(i int) bool {
	if i+1 == len(s.words) {
		return false
	}
	w, next := s.words[i], s.words[i+1]
	if next.gap == loose && strings.ContainsAny(s.text[w.end:next.start], "'’") {
		return true
	}
	if next.gap != space {
		return false
	}
	switch key := s.key(i+1, i+2); key {
	case "and", "und", "et", "y":
		if i+2 == len(s.words) || s.words[i+2].gap != space || s.words[i+2].shape&capital == 0 {
			return false
		}
		e, ok := s.given(i + 2)
		return ok && !e.doubtful
	default:
		return lists().verbs.Has(key)
	}
}

// isTitle reports a title in front of a name, such as Mr.
func (s *scanned) isTitle(i int) bool {
	role, ok := lists().roles[s.key(i, i+1)]
	return ok && !role
}

// isRole reports a word for what somebody is to somebody.
func (s *scanned) isRole(i int) bool { return lists().roles[s.key(i, i+1)] }

// isCalled reports a capitalised word behind what it is to somebody, as in "my dog Biscuit".
func (s *scanned) isCalled(i int) bool {
	w := s.words[i]
	return (s.behindRole(i) || s.inApposition(i)) && !w.german && w.shape&(capital|acronym) == capital &&
		!lists().function.Has(s.key(i, i+1))
}

// isAddressed reports a word between commas or the like behind an everyday one, as in "Thanks, Bo!".
func (s *scanned) isAddressed(i int) bool {
	return i > 0 && s.text[s.words[i-1].end:s.words[i].start] == ", " && (s.everyday(i-1) || s.isCommon(i-1)) &&
		strings.ContainsRune(",!?.", firstRune(s.text[s.words[i].end:]))
}

// inApposition reports a word between commas behind what it is to somebody, as in "my dog, Biscuit, barks".
func (s *scanned) inApposition(i int) bool {
	if i == 0 || !lists().roles[s.key(i-1, i)] || s.text[s.words[i-1].end:s.words[i].start] != ", " {
		return false
	}
	return i+1 == len(s.words) || strings.HasPrefix(s.text[s.words[i].end:], ",")
}

// speaks reports a word that is no everyday one in front of what nobody does but a person.
func (s *scanned) speaks(i int) bool {
	w := s.words[i]
	return w.shape&(capital|acronym) == capital && !w.german && !w.code && !s.everyday(i) && !s.isCommon(i) &&
		i+1 < len(s.words) && s.words[i+1].gap == space &&
		among(s.key(i+1, i+2), "said says asked asks told tells called thinks thought wants wanted wrote writes "+
			"mentioned suggested explained lives lived moved likes liked loves loved prefers")
}

// behindRole reports whether the word before says what somebody is to somebody.
func (s *scanned) behindRole(i int) bool {
	return i > 0 && s.words[i].gap == space && lists().roles[s.key(i-1, i)]
}

// people finds people in small letters and in Chinese, and German streets, which are one word.
func (f *finder) people() {
	for i := range f.words {
		f.words[i].listed = lists().longest(f.key(i, i+1))
	}
	for i := 0; i < len(f.words); i++ {
		w := f.words[i]
		switch {
		case w.shape&unspaced != 0:
			if n := f.chinese(i); n > 0 {
				f.addName(i, i+n, Person)
				i += n - 1
			}
		case w.shape == 0 && f.smallName(i):
			f.addName(i, i+1, Person)
		case f.isStreet(i):
			f.addName(i, i+1, Place)
		}
	}
}

// smallName reports a given name in small letters that can be nothing else.
func (f *finder) smallName(i int) bool {
	if f.words[i].listed == 0 && !strings.Contains(f.key(i, i+1), " ") {
		return false
	}
	e, ok := f.given(i)
	if !ok || e.doubtful {
		return false
	}
	if f.does(i) || f.behindRole(i) {
		return true
	}
	return f.behindPerson(i)
}

// behindPerson reports whether the word before mostly has a person behind it.
func (s *scanned) behindPerson(i int) bool {
	return i > 0 && s.words[i].gap == space &&
		among(s.key(i-1, i), "with told tell asked ask met meet called call remind invite thank mit avec con")
}

// isStreet reports a capitalised word such as Lindenstraße.
func (f *finder) isStreet(i int) bool {
	if f.words[i].shape&capital == 0 {
		return false
	}
	key := f.key(i, i+1)
	for _, ending := range []string{"straße", "strasse", "gasse", "allee", "str"} {
		if stem, ok := strings.CutSuffix(key, ending); ok && len(stem) > 3 {
			return true
		}
	}
	return false
}
