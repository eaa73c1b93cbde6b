package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// phrases are test vectors of BIP-39 that do not repeat a word over and over.
var phrases = []string{
	"ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic",
	"gravity machine north sort system female filter attitude volume fold club stay feature office ecology stable narrow fog",
	"hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma " +
		"loan word shrug inflict delay length",
}

// The digest is that of the file english.txt in BIP-39.
func TestWalletWordsAreThoseOfTheStandard(t *testing.T) {
	sum := sha256.Sum256([]byte(walletWords))
	if got, want := hex.EncodeToString(sum[:]), "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"; got != want {
		t.Errorf("SHA-256 of the word list is %s, want %s", got, want)
	}
}

func TestPhraseOfAWalletIsFoundHoweverItIsWritten(t *testing.T) {
	numbered := func(phrase string) string {
		var b strings.Builder
		for i, word := range strings.Fields(phrase) {
			fmt.Fprintf(&b, "%d. %s\n", i+1, word)
		}
		return b.String()
	}
	written := map[string]func(string) string{
		"one line":      func(p string) string { return p },
		"capitals":      strings.ToUpper,
		"commas":        func(p string) string { return strings.ReplaceAll(p, " ", ", ") },
		"lines":         func(p string) string { return strings.ReplaceAll(p, " ", "\n") },
		"numbers":       numbered,
		"JSON":          func(p string) string { return `["` + strings.ReplaceAll(p, " ", `", "`) + `"]` },
		"in a sentence": func(p string) string { return "The seed phrase: " + p + "\nsafe place" },
		"far behind":    func(p string) string { return strings.Repeat("Nothing to see. ", 9) + p + "!" },
	}
	for how, write := range written {
		for _, phrase := range phrases {
			text := write(phrase)
			if got := Scan(text); len(got) != 1 || got[0].Rule != "wallet-phrase" {
				t.Errorf("%s: Scan(%q) = %v, want the phrase", how, text, got)
			}
		}
	}
}

func TestWordsWithoutTheChecksumAreNoPhrase(t *testing.T) {
	words := strings.Fields(phrases[0])
	words[0], words[1] = words[1], words[0]
	if got := Scan(strings.Join(words, " ")); got != nil {
		t.Errorf("Scan(%q) = %v, want nothing", words, got)
	}
}

func TestNumberThatIsNoCardIsLeftAlone(t *testing.T) {
	const card = "4539148803436467"
	if got := Scan("Visa " + card); len(got) != 1 || got[0].Rule != "card-number" {
		t.Fatalf("Scan = %v, want the card number", got)
	}
	for _, text := range []string{
		"order " + card,                               // no word about cards
		"Visa 4539148803436468",                       // wrong check digit
		"Visa 4242 4242 4242 4242",                    // published for tests
		"card 1234 5678 " + card,                      // part of a longer number
		"card 9539148803436462",                       // no issuer has it
		"discover your card: ISBN 978-3-16-148410-0!", // an ISBN
	} {
		if got := Scan(text); got != nil {
			t.Errorf("Scan(%q) = %v, want nothing", text, got)
		}
	}
}
