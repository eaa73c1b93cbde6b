package op

import (
	"time"

	"emberd/memory"
)

// NoteReadRequest names a note and where to begin. The text of a long line can be
// gone on with, since From counts characters.
type NoteReadRequest struct {
	Path  string `json:"path" query:"path" doc:"path, name or alias of a note, or the ID of its memory"`
	Line  int    `json:"line,omitempty" query:"line" doc:"number of the first line to read, from 1, default 1"`
	From  int    `json:"from,omitempty" query:"from" doc:"number of characters to skip after the start of the first line"`
	Limit int    `json:"limit,omitempty" query:"limit" doc:"maximum number of characters to read, 1 to 200,000, default 50,000"`
}

// NoteReadResult is the text of a note as its file has it, frontmatter included, or a
// part of it.
type NoteReadResult struct {
	Vault    string    `json:"vault"`
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
	Text     string    `json:"text"`
	Line     int       `json:"line"` // where From counts from
	From     int       `json:"from"`
	// Next is the From to continue with from the same line, 0 at the end.
	Next int `json:"next,omitempty"`
	// Left is how many characters come after Text.
	Left int `json:"left"`
	// Beyond says that the file continues after the first MiB, which is all that is read.
	Beyond bool `json:"beyond,omitempty"`
}

// What [Complete] knows.
const (
	CompleteTags     = "tags"
	CompleteIDs      = "ids"
	CompleteProjects = "projects"
	CompletePaths    = "paths"
	CompleteEntities = "entities"
)

// CompleteRequest asks for completions of a word that the user began to type.
type CompleteRequest struct {
	What   string `json:"what" query:"what" doc:"kind of value to complete: tags, ids, projects, paths (paths of notes) or entities"`
	Prefix string `json:"prefix,omitempty" query:"prefix" doc:"first characters of the value to complete, in any letter case"`
	Limit  int    `json:"limit,omitempty" query:"limit" doc:"maximum number of results, 1 to 100, default 20"`
}

// CompleteResult holds the likeliest: tags and projects that many memories have, the
// newest memories, paths by the alphabet, entities that are mentioned most.
type CompleteResult struct {
	Values []Completion `json:"values"`
	Total  int          `json:"total"` // that begin so
}

// Completion is one way to continue.
type Completion struct {
	Value string `json:"value"`
	Count int    `json:"count,omitempty"` // memories with this tag, or of this project; mentions of this entity
	Text  string `json:"text,omitempty"`  // what the memory of this id begins with
	// ID is the whole id of the memory, where Value is its end.
	ID memory.ID `json:"id,omitempty"`
}
