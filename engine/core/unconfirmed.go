package core

import (
	"fmt"
	"strings"

	"emberd/internal/text/invisible"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

// The maximum importance and strength of content from a tool or the web before the user
// confirms it. They are the defaults of any memory.
const (
	dataImportance = 0.5
	dataStrength   = 1
)

// CheckStanding returns an error if an unconfirmed memory has more importance or strength than
// the maximum, or is core. It may keep the values that it had in was.
func CheckStanding(m *memory.Memory, was memory.Memory) error {
	if !m.DataOnly() {
		return nil
	}
	refused := func(field, what string, most any) error {
		return memory.Errorf(memory.Invalid, "%s, which is above the maximum %s for a text that %s; omit this "+
			"value, or first confirm the memory with emberd edit --confirm", what, fmt.Sprint(most),
			sourceText(m)).At(field)
	}
	switch {
	case m.Importance > max(dataImportance, was.Importance):
		return refused("importance", fmt.Sprintf("importance is %g", m.Importance), dataImportance)
	case m.Strength > max(dataStrength, was.Strength):
		return refused("strength", fmt.Sprintf("strength is %g", m.Strength), dataStrength)
	case m.Core && !was.Core:
		return memory.Errorf(memory.Invalid,
			"a text that %s cannot be core; omit core, or first confirm the memory with emberd edit --confirm",
			sourceText(m)).At("core")
	}
	return nil
}

// sourceText names the source of an unconfirmed memory.
func sourceText(m *memory.Memory) string {
	if m.Origin == memory.FromWeb {
		return "comes from the web"
	}
	return "comes from a tool"
}

// Held returns why use and repetition by the caller do not raise the importance or strength of a memory,
// or "": the memory is unconfirmed, or is the user's and the caller has a limited token.
func (e *View) Held(m *memory.Memory) string {
	switch trust := m.Trust(); {
	case m.DataOnly():
		return UnconfirmedReason(m)
	case e.Grant != nil && (trust == memory.TrustUser || trust == memory.TrustConfirmed):
		return fmt.Sprintf("the memory belongs to the user, and token %s cannot "+
			"change its importance or strength; run: emberd edit %s", e.Grant.Token, m.ID.Short())
	}
	return ""
}

// HeldFrom is Held for a repetition with a link, which may come from a tool or the web.
func (e *View) HeldFrom(m *memory.Memory, link memory.Source) string {
	if held := e.Held(m); held != "" || !FromData(link) {
		return held
	}
	return "emberd adds a repeated text from a tool or the web to the sources of the memory, but does not raise the " +
		"importance of the memory"
}

// UnconfirmedReason returns why an unconfirmed memory cannot gain importance.
func UnconfirmedReason(m *memory.Memory) string {
	return fmt.Sprintf(
		"the text %s, so emberd reinforces the memory only after you confirm it; run: emberd edit --confirm %s",
		sourceText(m), m.ID.Short())
}

// TrustWarning returns why a reader should trust a memory less, or "": it is archived, superseded,
// or unconfirmed.
func TrustWarning(m *op.Memory) string {
	var said []string
	switch {
	case m.Shortened():
		said = append(said, Archived(m))
	case m.Stage.Cold():
		said = append(said, "archived")
	}
	if m.SupersededBy != "" {
		said = append(said, "superseded by memory "+m.SupersededBy.Short())
	}
	if m.DataOnly() {
		said = append(said, fmt.Sprintf("unconfirmed text that %s", sourceText(&m.Memory)))
	}
	return strings.Join(said, "; ")
}

// Archived describes the state of a cold memory's text.
func Archived(m *op.Memory) string {
	if !m.NoteGone.IsZero() {
		return "archived, and only this summary remains"
	}
	return fmt.Sprintf("archived, and this is only a summary; to restore the full text, run: emberd rekindle %s",
		m.ID.Short())
}

// DataOnly reports whether the memory of a row is unconfirmed ([memory.Memory.DataOnly]). A
// row that cannot be decoded is not.
func DataOnly(r *stm.Row) bool {
	m, err := r.Memory()
	return err == nil && m.DataOnly()
}

// Unconfirmed returns an error if an unconfirmed memory would get a note. A memory that was
// read from a note keeps it.
func Unconfirmed(m *memory.Memory) error {
	if !m.DataOnly() || m.PromotedTo != "" {
		return nil
	}
	return memory.Errorf(memory.Conflict, "the text of memory %s %s, so emberd promotes the memory "+
		"only after you confirm it; run: emberd edit --confirm %s", m.ID, sourceText(m), m.ID.Short())
}

// DeceptiveReason returns why a memory gets no note automatically, or "": its hidden characters show a
// person another text than a machine, so that the user must check it.
func DeceptiveReason(content string) string {
	if !invisible.Deceives(content) {
		return ""
	}
	kinds := make([]string, 0, 2)
	for _, k := range invisible.Kinds(content) {
		if k == invisible.Tags || k == invisible.Direction {
			kinds = append(kinds, string(k))
		}
	}
	return "the text contains " + strings.Join(kinds, " and ") + ", so people and programs read it differently"
}

// Confirms reports whether a link comes from the user at the command line, whose save confirms
// a memory.
func Confirms(link memory.Source) bool {
	return link.Kind == memory.FromUser && link.By != nil && link.By.Via == ViaCLI
}
