package overview

import (
	"fmt"
	"strings"
	"unicode"
)

// The headings of the core, in their order.
const (
	Identity      = "Identity"
	Projects      = "Projects"
	Relationships = "Relationships"
	System        = "System"
)

func headings() []string { return []string{Identity, Projects, Relationships, System} }

// Core lists core memories under the four headings, see [HeadingOf]. Only core memories
// are to be given.
func Core(all []Entry, judge Judge) string {
	var b strings.Builder
	fmt.Fprintf(&b, "emberd writes this list of what is never to be forgotten (%s) and keeps it up to date. What you write above or below it stays; what you write in it does not.\n", memories(len(all)))
	parts := make(map[string][]*Entry)
	for i := range all {
		at := HeadingOf(&all[i])
		parts[at] = append(parts[at], &all[i])
	}
	for _, name := range headings() {
		if len(parts[name]) > 0 {
			heading(&b, name)
			lines(&b, &part{entries: parts[name]}, coreBounds(), judge, "`emberd list`")
		}
	}
	return b.String()
}

// HeadingOf is the one heading that a core memory belongs under: what its category, its
// tags or its type name, in this order; else what its section means; else that whose words
// are commonest in its text, the first of equals; else Projects if it has a project, and
// System if not.
func HeadingOf(e *Entry) string {
	for _, name := range append(append([]string{e.Category}, e.Tags...), e.Type) {
		name, _, _ = strings.Cut(strings.ToLower(name), "/")
		if at := named(name); at != "" {
			return at
		}
	}
	switch strings.ToLower(e.Section) {
	case "people & entities":
		return Relationships
	case "ongoing threads":
		return Projects
	case "file knowledge":
		return System
	}
	if at := named(strings.ToLower(e.Section)); at != "" {
		return at
	}
	if at := told(e.Text); at != "" {
		return at
	}
	if e.Project != "" {
		return Projects
	}
	return System
}

// named is the heading that a category, a tag or a type stands for, "" for none.
func named(word string) string {
	switch word {
	case "identity", "me", "self", "user", "profile", "about-me", "name", "preference", "preferences", "value", "values", "health", "bio":
		return Identity
	case "project", "projects", "work", "goal", "goals", "product", "roadmap", "milestone", "thread":
		return Projects
	case "relationship", "relationships", "people", "person", "family", "friend", "friends", "team", "contact", "contacts", "colleague", "customer":
		return Relationships
	case "system", "environment", "env", "setup", "machine", "infrastructure", "infra", "tool", "tools", "config", "configuration", "rule", "rules",
		"instruction", "instructions", "convention", "conventions", "security":
		return System
	}
	return ""
}

// told is the heading whose words are commonest in a text, "" if there are none.
func told(text string) string {
	counts := make(map[string]int)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		counts[spoken(word)]++
	}
	best, most := "", 0
	for _, name := range headings() {
		if counts[name] > most {
			best, most = name, counts[name]
		}
	}
	return best
}

// spoken is the heading that a word in a text speaks for, "" for none.
func spoken(word string) string {
	switch word {
	case "i", "i'm", "i’m", "my", "me", "myself", "user", "user's", "user’s", "name", "called", "born", "birthday", "lives", "prefers", "prefer", "likes", "pronouns",
		"allergic", "vegetarian", "vegan", "nationality", "native", "speaks", "timezone":
		return Identity
	case "project", "projects", "repository", "repo", "codebase", "product", "release", "deadline", "milestone", "roadmap", "launch", "startup", "thesis", "goal":
		return Projects
	case "wife", "husband", "partner", "spouse", "married", "daughter", "son", "child", "children", "mother", "father", "sister", "brother", "parents",
		"friend", "friends", "boss", "manager", "colleague", "colleagues", "teammate", "mentor", "client", "customer", "family", "reports":
		return Relationships
	case "server", "servers", "database", "port", "host", "laptop", "computer", "machine", "linux", "macos", "windows", "editor", "shell", "terminal", "deploy",
		"deployed", "backup", "backups", "config", "api", "docker", "never", "always", "must", "system", "branch", "credentials", "production":
		return System
	}
	return ""
}
