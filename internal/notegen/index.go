package notegen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxOthers bounds the headings for sections beside the five, and for projects.
const maxOthers = 20

// Sections returns the five that agents file memories under, in their order. It returns a
// fresh slice.
func Sections() []string {
	return []string{"Key Topics", "Important Facts", "People & Entities", "Ongoing Threads", "File Knowledge"}
}

// part is the entries under one heading.
type part struct {
	name    string
	entries []*Entry
}

// Index lists memories by section: the five of [Sections] first, then all
// others, then those without one by project, then the rest. Under each heading the
// most important and then the latest come first.
func Index(all []Entry, judge Judge) string {
	var b strings.Builder
	open(&b, "memories", len(all))
	byKey := make(map[string]*part)
	for i := range all {
		e := &all[i]
		key, name := under(e)
		p := byKey[key]
		if p == nil {
			p = &part{name: name}
			byKey[key] = p
		}
		p.name = min(p.name, name) // of two spellings always the same one
		p.entries = append(p.entries, e)
	}
	for _, kind := range []string{"1", "2", "3", "4"} {
		keys := slices.Sorted(maps.Keys(byKey))
		keys = slices.DeleteFunc(keys, func(key string) bool { return key[:1] != kind })
		shown := keys
		if kind == "2" || kind == "3" {
			shown = largest(byKey, keys)
		}
		for _, key := range shown {
			heading(&b, byKey[key].name)
			lines(&b, slices.SortedFunc(slices.Values(byKey[key].entries), newer), indexBounds(), judge,
				howTo(kind, byKey[key].name))
		}
		if left := len(keys) - len(shown); left > 0 {
			fmt.Fprintf(&b, "\nThis list omits %d headings with fewer memories; "+
				"to list all memories, run: `emberd list`\n", left)
		}
	}
	return b.String()
}

// SectionKey returns what two spellings of one section have in common: case and white space
// make no difference.
func SectionKey(section string) string {
	return strings.ToLower(strings.Join(strings.Fields(section), " "))
}

// under returns the heading of an entry, and a key that sorts it.
func under(e *Entry) (key, name string) {
	section := SectionKey(e.Section)
	for i, known := range Sections() {
		if section == SectionKey(known) {
			return fmt.Sprintf("1%d", i), known
		}
	}
	switch {
	case section != "":
		return "2" + section, strings.Join(strings.Fields(e.Section), " ")
	case e.Project != "":
		return "3" + e.Project, "Project " + e.Project
	}
	return "4", "Everything else"
}

// largest keeps the keys with the most entries, in the order of keys.
func largest(byKey map[string]*part, keys []string) []string {
	if len(keys) <= maxOthers {
		return keys
	}
	bySize := slices.SortedFunc(slices.Values(keys), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byKey[b].entries), len(byKey[a].entries)), strings.Compare(a, b))
	})
	return slices.Sorted(slices.Values(bySize[:maxOthers]))
}

// howTo returns the command that lists what is left out under a heading.
func howTo(kind, name string) string {
	flag, value := " --section ", name
	switch kind {
	case "3":
		flag, value = " --project ", strings.TrimPrefix(name, "Project ")
	case "4":
		return "`emberd list`"
	}
	if value, ok := argument(value); ok {
		return "`emberd list" + flag + value + "`"
	}
	return "`emberd list`"
}

// argument writes a text as a shell takes it and Markdown shows it, if it is of such
// characters that both leave alone.
func argument(text string) (quoted string, ok bool) {
	odd := func(r rune) bool { return r >= 0x80 || !wordy(r) && !strings.ContainsRune("-_./ &", r) }
	if strings.ContainsFunc(text, odd) || strings.HasPrefix(text, "-") {
		return "", false
	}
	if strings.ContainsAny(text, " &") {
		text = "'" + text + "'"
	}
	return text, true
}
