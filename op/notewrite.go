package op

import (
	"encoding/json"
	"time"

	"emberd/memory"
)

// NoteWriteRequest creates a note, or replaces all of one.
type NoteWriteRequest struct {
	Path        string `json:"path" doc:"path of the note in the vault, such as Agents/Plan.md; emberd creates missing folders"`
	Text        string `json:"text" doc:"complete text of the note in Markdown, including the properties of the note"`
	Digest      string `json:"digest,omitempty" doc:"digest of the note to replace, from note.context; without a digest, emberd only creates a new note"`
	Preview     bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
	AllowSecret bool   `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// NoteAppendRequest adds a text to a note.
type NoteAppendRequest struct {
	Path        string `json:"path" doc:"path, name or alias of a note"`
	Text        string `json:"text" doc:"Markdown to add to the note as separate lines"`
	Heading     string `json:"heading,omitempty" doc:"heading of a section; emberd adds the text at the end of this section; default: the end of the note"`
	Preview     bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
	AllowSecret bool   `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// NoteEditRequest changes parts of a note: a text that it contains, or a section, and properties.
type NoteEditRequest struct {
	Path    string  `json:"path" doc:"path, name or alias of a note"`
	Find    string  `json:"find,omitempty" doc:"text to replace, exactly as the note contains it"`
	Replace string  `json:"replace,omitempty" doc:"text that replaces find; an empty text deletes find"`
	Count   int     `json:"count,omitempty" doc:"number of times that the text of parameter find must occur in the note, default 1; if the number differs, emberd does not change the note"`
	Heading string  `json:"heading,omitempty" doc:"heading of the section to replace; use heading and text instead of find and replace"`
	Text    *string `json:"text,omitempty" doc:"new text of the section, without its heading"`
	// Set has texts, numbers or lists of texts.
	Set         map[string]json.RawMessage `json:"set,omitempty" doc:"properties of the note to set; each value is a text, a number or a list of texts"`
	Unset       []string                   `json:"unset,omitempty" doc:"properties of the note to remove"`
	Digest      string                     `json:"digest,omitempty" doc:"digest of the note, from note.context; if the note now has another digest, emberd changes nothing"`
	Preview     bool                       `json:"preview,omitempty" doc:"show what would change, without changing anything"`
	AllowSecret bool                       `json:"allow_secret,omitempty" doc:"save even if the text looks like a credential"`
}

// NoteMoveRequest renames a note or moves it to another folder.
type NoteMoveRequest struct {
	Path    string `json:"path" doc:"path, name or alias of a note"`
	To      string `json:"to" doc:"new path of the note in the vault; emberd creates missing folders"`
	Preview bool   `json:"preview,omitempty" doc:"show what would change, without changing anything"`
}

// NoteChangeResult reports what changed in notes, or would.
type NoteChangeResult struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // its path before a move
	Created bool   `json:"created,omitempty"`
	Changed bool   `json:"changed"` // false if the notes have all of it already
	Preview bool   `json:"preview,omitempty"`
	// Digest is that of the note after the change, for the next one.
	Digest string `json:"digest"`
	Diff   string `json:"diff"` // unified, of all notes that change
	// Neutralized says that the text has code that a plugin would run, which is written so that none does.
	Neutralized bool `json:"neutralized,omitempty"`
	// Links counts the links that follow a move, by the path of their note.
	Links []NoteLinkCount `json:"links,omitempty"`
	// Left are notes whose links could not follow, because a program saved them in that moment.
	Left []NoteLeft `json:"left,omitempty"`
	Tx   string     `json:"tx,omitempty"` // to undo it
}

// NoteLinkCount counts links of a note that changed.
type NoteLinkCount struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

// NoteLeft is a note that stayed as it is, and why.
type NoteLeft struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// NoteContextRequest asks for a note and what is around it.
type NoteContextRequest struct {
	Path      string `json:"path" query:"path" doc:"path, name or alias of a note, or the ID of its memory"`
	From      int    `json:"from,omitempty" query:"from" doc:"number of characters of the text to skip"`
	MaxTokens int    `json:"max_tokens,omitempty" query:"max_tokens" doc:"token limit of the answer, 500 to 20,000, default 4,000"`
}

// NoteContextResult is a note with its links and related memories, within the bound. What is cut off is counted.
type NoteContextResult struct {
	Path     string    `json:"path"`
	Digest   string    `json:"digest"` // of all of it
	Modified time.Time `json:"modified"`
	Text     string    `json:"text"`
	Next     int       `json:"next,omitempty"` // the From that continues the text, 0 at its end
	Writable bool      `json:"writable"`       // this caller can change it
	Advice   string    `json:"advice,omitempty"`

	Outgoing []NoteLink    `json:"outgoing"`
	Incoming []string      `json:"incoming"`
	Memories []RelatedText `json:"memories"`
	More     int           `json:"more,omitempty"` // links and memories that did not fit
}

// RelatedText is a memory that a note is related to, as much of it as fits.
type RelatedText struct {
	ID   memory.ID `json:"id"`
	Text string    `json:"text"`
	Why  string    `json:"why"` // own, or similar
}

// What is listed as activity.
const (
	ActivityNotes    = "notes"
	ActivityMemories = "memories"
)

// RecentActivityRequest pages through what changed lately.
type RecentActivityRequest struct {
	Of     string    `json:"of,omitempty" query:"of" doc:"list only notes or only memories; default: both"`
	Since  time.Time `json:"since,omitzero" query:"since" doc:"list only notes and memories that changed after this time"`
	Limit  int       `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
	Cursor string    `json:"cursor,omitempty" query:"cursor" doc:"next_cursor of the previous page, to continue"`
}

// RecentActivityResult is one page, the latest first.
type RecentActivityResult struct {
	Items      []Activity `json:"items"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// Activity is a note or memory, and its last change.
type Activity struct {
	At   time.Time    `json:"at"`
	Path string       `json:"path,omitempty"` // of a note
	ID   memory.ID    `json:"id,omitempty"`   // of a memory, or of the memory of a note
	Text string       `json:"text,omitempty"` // beginning of a memory
	What string       `json:"what,omitempty"` // verb of the journal, "" if it is not known
	By   memory.Actor `json:"by,omitzero"`    // who changed it, if that is known
	Tx   string       `json:"tx,omitempty"`
}

// Changed returns how many memories or notes the entry changed, and the words for one and for several.
func (e *Entry) Changed() (n int, one, many string) {
	if len(e.Notes) > 0 {
		return len(e.Notes), "note", "notes"
	}
	return e.IDs, "memory", "memories"
}
