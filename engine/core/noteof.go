package core

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"emberd/memory"
	"emberd/stm"
	"emberd/vault"
)

const ContentField = "content"

// FirstNonEmpty returns the first text that is not empty, or "".
func FirstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Ages reports whether a journal verb is about the stages of memories.
func Ages(verb string) bool {
	return slices.Contains([]string{DemoteVerb, ArchiveVerb, FadeVerb, WakeVerb, RekindleVerb, GcVerb, RepairVerb,
		ConsolidateVerb}, verb)
}

// Shortened reports whether the log contains the summary of a memory and a note its text. It
// is true for cold memories and false for others. The exception is a memory that two devices
// changed at once: then Shortened is right and the stage is wrong, until the repair.
func Shortened(m *memory.Memory) bool { return m.TextDigest != "" }

// HoldsList reports whether a note is a list of memories that emberd writes.
func HoldsList(note *vault.Note) bool {
	return note != nil && vault.IsList(note.List)
}

// PurgeVerb is the journal verb of a purge.
const PurgeVerb = "purge"

// CarriesID reports whether a note has the ID of the memory.
func CarriesID(c *vault.Carried, id memory.ID) bool {
	if c == nil {
		return false
	}
	has, err := memory.ParseID(c.ID)
	return err == nil && has == id
}

const (
	// WholeNote is how much of a note package vault reads, in bytes.
	WholeNote = 1 << 20
	// MaxBodyLen is the size limit of a text in the log, in bytes. A line contains the old
	// text and the new one.
	MaxBodyLen = stm.MaxLine/2 - 128<<10
)

// SecretIn reports whether a text contains a credential that the previous text did not. The
// user allowed those of the previous text.
func SecretIn(detect bool, text, before string) bool {
	if !detect {
		return false
	}
	found := credentialsIn(text)
	if len(found) == 0 {
		return false
	}
	let := credentialsIn(before)
	return slices.ContainsFunc(found, func(f string) bool { return !isAllowed(let, f) })
}

// TooLong returns the warning for a note whose text is longer than a saved memory may be, or
// "".
func TooLong(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= memory.MaxContent && len(text) <= memory.MaxContentBytes {
		return ""
	}
	return fmt.Sprintf("the text has %d characters (recommended limit %d); emberd saved it, but consider splitting it",
		n, memory.MaxContent)
}

// ByteOf returns the byte offset of the character with that number, or the length of a shorter
// text.
func ByteOf(text string, number int) int {
	for at := range text {
		if number == 0 {
			return at
		}
		number--
	}
	return len(text)
}
