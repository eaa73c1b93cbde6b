package notegen

import (
	"slices"
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

// Core lists core memories under the four headings, see [HeadingOf]: the most important
// first, and then the oldest, so that what was there stays where it was and a name that
// was given first stands first. Only core memories are to be given.
func Core(all []Entry, judge Judge) string {
	var b strings.Builder
	open(&b, "core memories", len(all))
	parts := make(map[string][]*Entry)
	for i := range all {
		at := HeadingOf(&all[i])
		parts[at] = append(parts[at], &all[i])
	}
	for _, name := range headings() {
		if len(parts[name]) > 0 {
			heading(&b, name)
			lines(&b, slices.SortedFunc(slices.Values(parts[name]), older), coreBounds(), judge, "`emberd list`")
		}
	}
	return b.String()
}

// HeadingOf returns the one heading that a core memory belongs under: what its category, its
// tags or its type name, in this order; else what its section means; else what its text is
// about by its words; else Projects if it has a project, and System if not.
func HeadingOf(e *Entry) string {
	for _, name := range append(append([]string{e.Category}, e.Tags...), e.Type) {
		name, _, _ = strings.Cut(strings.ToLower(name), "/")
		if at := headingOfLabel(name); at != "" {
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
	if at := headingOfLabel(strings.ToLower(e.Section)); at != "" {
		return at
	}
	if at := headingByWords(e.Text); at != "" {
		return at
	}
	if e.Project != "" {
		return Projects
	}
	return System
}

// headingOfLabel returns the heading that a category, a tag or a type stands for, "" for none.
func headingOfLabel(word string) string {
	switch word {
	case "identity", "me", "self", "user", "profile", "about-me", "name", "preference", "preferences", "value",
		"values", "health", "bio":
		return Identity
	case "project", "projects", "work", "goal", "goals", "product", "roadmap", "milestone", "thread":
		return Projects
	case "relationship", "relationships", "people", "person", "family", "friend", "friends", "team", "contact",
		"contacts", "colleague", "customer":
		return Relationships
	case "system", "environment", "env", "setup", "machine", "infrastructure", "infra", "tool", "tools", "config",
		"configuration", "rule", "rules",
		"instruction", "instructions", "convention", "conventions", "security":
		return System
	}
	return ""
}

// headingByWords returns the heading that the words of a text suggest, "" for none. A text that begins
// as an instruction belongs to the system. Otherwise the heading with most words wins, of
// equals the first of [Relationships], [Projects], [System] and [Identity]: "my wife's
// birthday" is about her. "I" and "my" count only if no other word does.
func headingByWords(text string) string {
	counts := make(map[string]int)
	first, mine := true, false
	for word := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		if first && instructs(word) {
			return System
		}
		first = false
		word, _, _ = strings.Cut(strings.ReplaceAll(word, "’", "'"), "'")
		counts[headingOfWord(word)]++
		mine = mine || speaker(word)
	}
	best, most := "", 0
	for _, name := range []string{Relationships, Projects, System, Identity} {
		if counts[name] > most {
			best, most = name, counts[name]
		}
	}
	if best == "" && mine {
		return Identity
	}
	return best
}

// instructs reports a word that an instruction begins with.
func instructs(word string) bool {
	switch word {
	case "always", "never", "do", "don't", "don’t", "use", "avoid", "please", "ask", "answer", "make", "keep", "run",
		"write":
		return true
	}
	return false
}

// speaker reports a word for the one whose memory it is.
func speaker(word string) bool {
	switch word {
	case "i", "my", "me", "mine", "myself", "user":
		return true
	}
	return false
}

// headingOfWord returns the heading that a word in a text speaks for, "" for none.
func headingOfWord(word string) string {
	switch word {
	case "name", "nickname", "born", "birthday", "prefers", "prefer", "likes", "loves", "hates", "dislikes", "pronouns",
		"allergic", "vegetarian", "vegan",
		"nationality", "native", "speaks", "timezone", "employer", "profession", "studied":
		return Identity
	case "project", "projects", "repository", "repo", "codebase", "product", "release", "released", "releases",
		"deadline", "milestone", "roadmap", "launch", "startup",
		"thesis", "goal", "goals":
		return Projects
	case "wife", "husband", "partner", "spouse", "married", "girlfriend", "boyfriend", "fiancé", "fiancée", "daughter",
		"daughters", "son", "sons", "child", "children", "kids", "mother", "father", "sister", "brother", "parents",
		"grandmother", "grandfather", "uncle", "aunt", "cousin", "friend", "friends", "neighbour", "neighbor", "boss",
		"manager", "colleague", "colleagues", "teammate", "mentor", "client", "customer", "doctor", "dentist",
		"therapist", "lawyer", "family", "reports":
		return Relationships
	case "server", "servers", "database", "port", "host", "laptop", "computer", "machine", "linux", "macos", "windows",
		"editor", "shell", "terminal", "deploy", "deploys", "deployed", "backup", "backups", "config", "api", "docker",
		"never", "always", "must", "system", "branch",
		"credentials", "production", "uses", "keyboard", "phone":
		return System
	}
	return ""
}
