package analysis

// class is what a byte of folded ASCII is to Unicode's text segmentation (UAX #29).
type class uint8

const (
	other     class = iota
	letter          // ALetter
	digit           // Numeric
	joiner          // ExtendNumLet: _
	midLetter       // MidLetter: :
	midNumber       // MidNum: , and ;
	midBoth         // MidNumLet and Single_Quote: . and '
)

func classOf(c byte) class {
	switch {
	case 'a' <= c && c <= 'z':
		return letter
	case '0' <= c && c <= '9':
		return digit
	}
	switch c {
	case '_':
		return joiner
	case ':':
		return midLetter
	case ',', ';':
		return midNumber
	case '.', '\'':
		return midBoth
	}
	return other
}

// ascii appends the terms of the ASCII f.text[start:end], those that chain would.
func (a *Analyzer) ascii(terms []Term, f *folded, start, end int) []Term {
	text := f.text[:end]
	for start < end {
		first := classOf(text[start])
		if first != letter && first != digit && first != joiner {
			start++
			continue
		}
		stop, plain, numeric := asciiWord(text, start)
		if plain && stop-start > 1 {
			terms = append(terms, a.finish(f, start, stop, stop))
		} else {
			terms = a.word(terms, f, start, stop, numeric)
		}
		start = stop
	}
	return terms
}

// asciiWord returns where the word ends that begins at start, by rules WB5 to WB13b: runs
// of letters, digits and underscores, and a mark between two letters or two digits. It is
// plain when it has letters and digits only, and numeric when it has digits and no letters.
func asciiWord(text []byte, start int) (end int, plain, numeric bool) {
	plain = true
	letters, digits := false, false
	var before class
	for end = start; end < len(text); end++ {
		c := classOf(text[end])
		switch c {
		case letter:
			letters = true
		case digit:
			digits = true
		case joiner:
			plain = false
		default:
			if !joins(text, end, before, c) {
				return end, plain, digits && !letters
			}
			plain = false
		}
		before = c
	}
	return end, plain, digits && !letters
}

// joins reports whether the mark at i, of class c, stands between two letters or two
// digits that it joins.
func joins(text []byte, i int, before, c class) bool {
	if i+1 >= len(text) || before != classOf(text[i+1]) {
		return false
	}
	return before == letter && (c == midLetter || c == midBoth) || before == digit && (c == midNumber || c == midBoth)
}
