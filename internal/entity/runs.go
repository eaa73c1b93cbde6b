package entity

import "strings"

// continues reports whether word j, which no other rule joins to the name that begins with word i, goes on with it.
func (f *finder) continues(i, j int) bool {
	return f.isParticle(j) || f.behindOwners(j) || f.isPartNumber(i, j) || f.isSubtitle(i, j)
}

// isParticle reports a capitalised word such as Off, which names have within them or at their end.
func (f *finder) isParticle(j int) bool {
	w := f.words[j]
	return w.gap == space && w.shape&capital != 0 && among(f.key(j, j+1), "off up out on over down")
}

// behindOwners reports the capital behind the possessive of a plural, as in Potters' Hall.
func (f *finder) behindOwners(j int) bool {
	between := f.text[f.words[j-1].end:f.words[j].start]
	return (between == "' " || between == "’ ") && f.words[j-1].shape&capital != 0 &&
		strings.HasSuffix(f.key(j-1, j), "s") && f.begins(j)
}

// Years that a number behind a name may be.
const firstYear, lastYear = "1900", "2049"

// isPartNumber reports a number behind a single word within a sentence that is a part of its name, as in
// Zorvex 3000. A year, a short number, and one behind a listed name or an everyday word is none.
func (f *finder) isPartNumber(i, j int) bool {
	w, key := f.words[i], f.key(j, j+1)
	if j != i+1 || w.german || w.gap >= colon || w.shape&(camel|acronym) != 0 || f.words[j].gap != space ||
		len(key) < len("100") || !isNumber(key) || len(key) == len(firstYear) && key >= firstYear && key <= lastYear {
		return false
	}
	if _, listed := lists().names[f.key(i, j)]; listed || f.isCommon(i) || f.everyday(i) {
		return false
	}
	return j+1 == len(f.words) || f.words[j+1].gap != sign && f.words[j+1].gap != hyphen
}

// isSubtitle reports the capital behind the colon in a title of two parts of two words or more each.
func (f *finder) isSubtitle(i, j int) bool {
	if f.words[i].gap >= colon || j-i < 2 || j+1 >= len(f.words) ||
		f.text[f.words[j-1].end:f.words[j].start] != ": " || !f.begins(j) || !f.begins(j+1) || f.words[j+1].gap != space {
		return false
	}
	return !f.isPerson(i, j) && f.kindOf(i, j) != Place && f.kindOf(i, j) != Organisation
}

// isNumberedStreet reports a street such as 9th Avenue.
func (f *finder) isNumberedStreet(i int) bool {
	key := f.key(i, i+1)
	number := strings.TrimRight(key, "dhnrst")
	if number == "" || !isNumber(number) || !among(key[len(number):], "st nd rd th") {
		return false
	}
	return i+1 < len(f.words) && f.words[i+1].gap == space && f.words[i+1].shape&capital != 0 &&
		among(f.key(i+1, i+2), "street avenue road lane boulevard")
}

// isCalledSo reports the capital within a sentence of what something is called, which may be an everyday word.
func (f *finder) isCalledSo(i int) bool {
	return i > 0 && f.words[i].gap == space && f.words[i-1].gap != hyphen && !f.words[i].german && f.words[i].shape&acronym == 0 &&
		among(f.key(i-1, i), "called titled entitled")
}

// isWhat reports a run of what something is and its name, such as Kunde Siemens.
func (f *finder) isWhat(i, end int) bool {
	if end-i != 2 || f.words[i+1].gap != space || f.isListed(i, end) || f.isListed(i, i+1) ||
		!f.isCommon(i) && !f.words[i].german {
		return false
	}
	e, ok := lists().names[f.key(i+1, end)]
	return ok && !e.doubtful && (e.kind == Organisation || e.kind == Product)
}

// withoutAcronym returns the end of a run without an everyday acronym that says what the name is of, as in Zorvex SDK.
// API stays, since that is a thing of its own.
func (f *finder) withoutAcronym(i, end int) int {
	last := end - 1
	if end-i < 2 || f.isListed(i, end) || f.words[last].gap != space || f.words[last].shape&acronym == 0 ||
		f.loud(i, end) || among(f.key(last, end), "api apis") || !f.isCommon(last) {
		return end
	}
	return last
}
