package entity

import "strings"

// continues reports whether word j, which no other rule joins to the name that begins with word i, goes on with it.
func (s *scanned) continues(i, j int) bool {
	return s.isParticle(j) || s.behindOwners(j) || s.isPartNumber(i, j) || s.isSubtitle(i, j)
}

// isParticle reports a capitalised word such as Off, which names have within them or at their end.
func (s *scanned) isParticle(j int) bool {
	w := s.words[j]
	return w.gap == space && w.shape&capital != 0 && among(s.key(j, j+1), "off up out on over down")
}

// behindOwners reports the capital behind the possessive of a plural, as in Potters' Hall.
func (s *scanned) behindOwners(j int) bool {
	between := s.text[s.words[j-1].end:s.words[j].start]
	return (between == "' " || between == "’ ") && s.words[j-1].shape&capital != 0 &&
		strings.HasSuffix(s.key(j-1, j), "s") && s.begins(j)
}

// Years that a number behind a name may be.
const firstYear, lastYear = "1900", "2049"

// isPartNumber reports a number behind a single word within a sentence that is a part of its name, as in
// Zorvex 3000. A year, a short number, and one behind a listed name or an everyday word is none.
func (s *scanned) isPartNumber(i, j int) bool {
	w, key := s.words[i], s.key(j, j+1)
	if j != i+1 || w.german || w.gap >= colon || w.shape&(camel|acronym) != 0 || s.words[j].gap != space ||
		len(key) < len("100") || !isNumber(key) || len(key) == len(firstYear) && key >= firstYear && key <= lastYear {
		return false
	}
	if _, listed := lists().name(s.key(i, j)); listed || s.isCommon(i) || s.everyday(i) {
		return false
	}
	return j+1 == len(s.words) || s.words[j+1].gap != sign && s.words[j+1].gap != hyphen
}

// isSubtitle reports the capital behind the colon in a title of two parts of two words or more each.
func (s *scanned) isSubtitle(i, j int) bool {
	if s.words[i].gap >= colon || j-i < 2 || j+1 >= len(s.words) ||
		s.text[s.words[j-1].end:s.words[j].start] != ": " || s.words[j+1].gap != space ||
		!s.begins(j) || !s.begins(j+1) {
		return false
	}
	return !s.isPerson(i, j) && s.kindOf(i, j) != Place && s.kindOf(i, j) != Organisation
}

// isNumberedStreet reports a street such as 9th Avenue.
func (f *finder) isNumberedStreet(i int) bool {
	key := f.key(i, i+1)
	if key[0] < '0' || key[0] > '9' {
		return false
	}
	number := strings.TrimRight(key, "dhnrst")
	if number == "" || !isNumber(number) || !among(key[len(number):], "st nd rd th") {
		return false
	}
	return i+1 < len(f.words) && f.words[i+1].gap == space && f.words[i+1].shape&capital != 0 &&
		among(f.key(i+1, i+2), "street avenue road lane boulevard")
}

// isCalledSo reports the capital within a sentence of what something is called, which may be an everyday word.
func (s *scanned) isCalledSo(i int) bool {
	w := s.words[i]
	return i > 0 && w.gap == space && s.words[i-1].gap != hyphen && !w.german && w.shape&acronym == 0 &&
		among(s.key(i-1, i), "called titled entitled")
}

// isWhat reports a run of what something is and its name, such as Kunde Siemens.
func (s *scanned) isWhat(i, end int) bool {
	if end-i != 2 || s.words[i+1].gap != space || s.isListed(i, end) || s.isListed(i, i+1) ||
		!s.isCommon(i) && !s.words[i].german {
		return false
	}
	e, ok := lists().name(s.key(i+1, end))
	return ok && !e.doubtful && (e.kind == Organisation || e.kind == Product)
}

// withoutAcronym returns the end of a run without an everyday acronym that says what the name is of, as in Zorvex SDK.
// API stays, since that is a thing of its own.
func (s *scanned) withoutAcronym(i, end int) int {
	last := end - 1
	if end-i < 2 || s.isListed(i, end) || s.words[last].gap != space || s.words[last].shape&acronym == 0 ||
		s.loud(i, end) || among(s.key(last, end), "api apis") || !s.isCommon(last) {
		return end
	}
	return last
}
