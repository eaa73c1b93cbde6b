package secret

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says that a text holds what looks like credentials. Its message names
// the first of them, where it stands and what to do; it never holds the secret.
type Error struct {
	// Findings are what [Scan] found, at least one.
	Findings []Finding

	position int
	masked   string
}

// Check returns an [*Error] when [Scan] finds a credential in text, and nil when
// it finds none.
func Check(text string) error {
	findings := Scan(text)
	if len(findings) == 0 {
		return nil
	}
	return &Error{
		Findings: findings,
		position: Position(text, findings[0]),
		masked:   Masked(text, findings[0]),
	}
}

// Error implements error in one sentence.
func (e *Error) Error() string {
	var b strings.Builder
	first := e.Findings[0].Type
	fmt.Fprintf(&b, "content holds what looks like %s %s at character %d (%s)", article(first), first, e.position, e.masked)
	switch more := len(e.Findings) - 1; more {
	case 0:
		b.WriteString("; remove it, or save it all the same with --allow-secret")
	default:
		fmt.Fprintf(&b, " and %d more like it; remove them, or save it all the same with --allow-secret", more)
	}
	return b.String()
}

func article(words string) string {
	if strings.ContainsRune("AEIOUaeiou", rune(words[0])) {
		return "an"
	}
	return "a"
}

// Position returns where f starts in text, counted in characters from 1.
func Position(text string, f Finding) int {
	return utf8.RuneCountInString(text[:f.Start]) + 1
}

// Masked returns what may be shown of f: its first four characters, fewer when
// those would be more than a quarter of it, and stars whose number says nothing
// about its length.
func Masked(text string, f Finding) string {
	const shown, stars = 4, 16
	secret := text[f.Start:f.End]
	keep := min(shown, utf8.RuneCountInString(secret)/4)
	end := 0
	for range keep {
		_, size := utf8.DecodeRuneInString(secret[end:])
		end += size
	}
	return secret[:end] + strings.Repeat("*", stars)
}
