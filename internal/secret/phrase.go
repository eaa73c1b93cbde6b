package secret

import (
	"crypto/sha256"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// The English word list of BIP-39, as its authors publish it: 2,048 words of three to eight letters.
//
//go:embed bip39.txt
var walletWords string

const (
	minWord = 3
	maxWord = 8
	// phraseStep is at most the length of the shortest phrase without its last word, so that one of two
	// bytes this far apart is in or before a word of any phrase.
	phraseStep = 40
	// maxGap is how many bytes may separate two words of a phrase, such as a line break and a number.
	maxGap = 8
)

// wordList is the list made ready for looking words up.
type wordList struct {
	// numbers has the number of each word, by its key.
	numbers map[uint64]uint16
	// seen has a bit for each word, by a hash of its key: most words of a text are not in the list, and a bit
	// tells that without the map.
	seen [1 << 10]uint64
	// letters has the lower case of each letter, 1 for what ASCII does not have, and 0 for all other bytes.
	letters [256]byte
}

// words returns the list.
var words = sync.OnceValue(func() *wordList {
	l := &wordList{numbers: map[uint64]uint16{}}
	for c := range l.letters {
		switch small := lower(byte(c)); {
		case 'a' <= small && small <= 'z':
			l.letters[c] = small
		case c >= 0x80:
			l.letters[c] = 1
		}
	}
	for i, word := range strings.Fields(walletWords) {
		key, _ := l.key(word, 0)
		l.numbers[key] = uint16(i)
		at, bit := seenAt(key)
		l.seen[at] |= bit
	}
	return l
})

// seenAt returns where the bit of a word is, by Fibonacci hashing (D. E. Knuth, The Art of Computer Programming,
// volume 3, section 6.4).
func seenAt(key uint64) (at int, bit uint64) {
	h := key * 0x9E3779B97F4A7C15
	return int(h >> 54), 1 << (h >> 48 & 63)
}

// key returns the letters of text from byte start, in lower case, and where they end. The key is 0 if they are
// more than a word of the list has.
func (l *wordList) key(text string, start int) (key uint64, end int) {
	for end = start; end < len(text) && l.letters[text[end]] != 0; end++ {
		if end-start == maxWord {
			return 0, end
		}
		key = key<<8 | uint64(l.letters[text[end]])
	}
	return key, end
}

// phraseWord is a word in a text whose bit in the list is set.
type phraseWord struct {
	start, end int
	key        uint64
}

// findPhrases finds the phrases of wallets: 12, 15, 18, 21 or 24 words of the list with their checksum. As the
// shortest has 47 bytes, it looks up one word in 40 bytes, and its neighbors only if that is in the list.
func (s *scan) findPhrases() {
	words := s.table.words
	for at := 0; at < len(s.text); at += phraseStep {
		word, ok := words.around(s.text, at)
		if !ok {
			continue
		}
		first, last, n := words.run(s.text, word)
		if n >= 12 {
			s.addPhrase(first, n)
		}
		at = max(at, last.end)
	}
}

// addPhrase adds the longest phrase in a run of n words that begins or ends with the run, or with a line of several
// words. Between any two words there is none: of those, one in 16 would be taken for a phrase by chance.
func (s *scan) addPhrase(first phraseWord, n int) {
	run := make([]phraseWord, 0, n)
	for w, ok := first, true; ok; w, ok = s.table.words.after(s.text, w.end) {
		run = append(run, w)
	}
	newLine := func(i int) bool {
		return i == 0 || i == len(run) || strings.Contains(s.text[run[i-1].end:run[i].start], "\n")
	}
	for n := 24; n >= 12; n -= 3 {
		for from := 0; from+n <= len(run); from++ {
			to := from + n
			begins := from == 0 || newLine(from) && !newLine(from+1)
			ends := to == len(run) || newLine(to) && !newLine(to-1)
			if (begins || ends) && s.table.words.isPhrase(run[from:to]) {
				s.found = append(s.found, candidate{Finding: Finding{
					Type: "wallet recovery phrase", Rule: "wallet-phrase", Start: run[from].start, End: run[to-1].end,
				}})
				return
			}
		}
	}
}

// isPhrase reports whether the words are a phrase by BIP-39: each stands for 11 bits, and the last bits, one in 33,
// are the first ones of the SHA-256 of the others. The test vectors of BIP-39 repeat words, and are not credentials.
func (l *wordList) isPhrase(words []phraseWord) bool {
	var bits [33]byte
	var numbers []uint16
	for i, w := range words {
		number, ok := l.numbers[w.key]
		if !ok {
			return false
		}
		for b := range 11 {
			at := 11*i + b
			bits[at/8] |= byte(number>>(10-b)&1) << (7 - at%8)
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	if 6*len(slices.Compact(numbers)) < 5*len(words) {
		return false
	}
	entropy := len(words) / 3 * 4
	sum := sha256.Sum256(bits[:entropy])
	unused := 8 - len(words)/3
	return bits[entropy]>>unused == sum[0]>>unused
}

// run returns the first, the last and the number of the words of the list that follow one another around word.
func (l *wordList) run(text string, word phraseWord) (first, last phraseWord, n int) {
	first, last, n = word, word, 1
	for w, ok := l.before(text, first.start); ok; w, ok = l.before(text, first.start) {
		first, n = w, n+1
	}
	for w, ok := l.after(text, last.end); ok; w, ok = l.after(text, last.end) {
		last, n = w, n+1
	}
	return first, last, n
}

// around returns the word of the list at byte at, or else the next one, if only a gap is before it.
func (l *wordList) around(text string, at int) (phraseWord, bool) {
	if l.letters[text[at]] == 0 {
		return l.after(text, at)
	}
	return l.at(text, l.wordStart(text, at))
}

// wordStart returns where the letters before byte end begin, or a byte that more letters precede than a word has.
func (l *wordList) wordStart(text string, end int) int {
	start := end
	for start > 0 && end-start <= maxWord && l.letters[text[start-1]] != 0 {
		start--
	}
	return start
}

// after returns the word of the list that follows a gap at byte at.
func (l *wordList) after(text string, at int) (phraseWord, bool) {
	start := at
	for start < len(text) && start-at <= maxGap && l.letters[text[start]] == 0 {
		start++
	}
	if start == len(text) || start-at > maxGap || !isGap(text[at:start]) {
		return phraseWord{}, false
	}
	return l.at(text, start)
}

// before returns the word of the list that ends before a gap that ends at byte at.
func (l *wordList) before(text string, at int) (phraseWord, bool) {
	end := at
	for end > 0 && at-end <= maxGap && l.letters[text[end-1]] == 0 {
		end--
	}
	start := l.wordStart(text, end)
	if start == end || at-end > maxGap || !isGap(text[end:at]) {
		return phraseWord{}, false
	}
	return l.at(text, start)
}

// isGap reports whether two words of a phrase can be separated so: by white space, commas, quotes, and numbers. A
// colon is the end of a sentence, unless it follows a number.
func isGap(gap string) bool {
	if gap == " " {
		return true
	}
	numbered, colon := false, false
	for i := range len(gap) {
		switch c := gap[i]; {
		case c == ':':
			colon = true
		case isDigit(c):
			numbered = true
		case strings.IndexByte(" \t\r\n,;.)-|\"'", c) < 0:
			return false
		}
	}
	return gap != "" && (numbered || !colon)
}

// at returns the word at byte start, if its bit in the list is set.
func (l *wordList) at(text string, start int) (phraseWord, bool) {
	key, end := l.key(text, start)
	at, bit := seenAt(key)
	return phraseWord{start, end, key}, key != 0 && end-start >= minWord && l.seen[at]&bit != 0
}
