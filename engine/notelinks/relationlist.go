package notelinks

import (
	"slices"

	"emberd/memory"
)

// target is a memory that a list of relations is to have. Text is the link to its note, "" while none can be written.
type target struct {
	to   memory.ID
	text string
}

// relationList is one list of relations: what the note has, what was there before, and what the log has.
type relationList struct {
	items  []string
	known  []knownLink
	wanted []target // the most important first
	off    []memory.ID
	// first says that the note was never read for its links: those in it stand for no relation.
	first bool
	// made are links that a person added a moment ago, and refused those among them that cannot be relations.
	made, refused []memory.ID
	find          func(text string) memory.ID // of the note that a link leads to, "" for none
	room          int                         // how many links may be added
}

// merged is what becomes of a list.
type merged struct {
	items   []string    // that the note is to have
	known   []knownLink // links to memories among them
	added   []memory.ID // a person added a link to these
	removed []memory.ID // a person removed the link to these
}

// merge brings a list and the log together. An item that emberd did not write stays, whatever it is.
func (l *relationList) merge() merged {
	var m merged
	for _, item := range l.items {
		link, keep := l.item(item, &m)
		if keep {
			m.items = append(m.items, link.Text)
		}
		if keep && link.To != "" && !hasLink(m.known, link.To) {
			m.known = append(m.known, link)
		}
	}
	for _, k := range l.known {
		if k.By != byOther && !hasLink(m.known, k.To) && l.wants(k.To) != nil && !slices.Contains(m.removed, k.To) {
			m.removed = append(m.removed, k.To)
		}
	}
	for i := range l.wanted {
		if w := &l.wanted[i]; l.room > 0 && l.isNew(w, &m) {
			m.items = append(m.items, w.text)
			m.known = append(m.known, knownLink{To: w.to, Text: w.text})
			l.room--
		}
	}
	return m
}

// isNew reports whether a link is to be added.
func (l *relationList) isNew(w *target, m *merged) bool {
	return w.text != "" && !hasLink(m.known, w.to) && !slices.Contains(m.removed, w.to) &&
		!slices.Contains(l.off, w.to)
}

// item decides about one item of the note: what it is from now on, and whether it stays.
func (l *relationList) item(text string, m *merged) (link knownLink, keep bool) {
	before := l.before(text)
	if before.To == "" {
		return knownLink{Text: text}, true
	}
	wanted := l.wants(before.To)
	emberds := before.By == byEmberd && before.Text == text
	switch {
	case wanted == nil && emberds && hasLink(l.known, before.To): // the relation was removed
		return before, false
	case wanted != nil && before.By == byOther:
		before.By = byUser
	case wanted != nil && emberds && wanted.text != "": // the note has another name by now
		return knownLink{To: before.To, Text: wanted.text}, true
	case wanted != nil:
		if mine := before.By == byUser && hasLink(l.known, before.To) || slices.Contains(l.made, before.To); !mine {
			before.By = byUser
			if text == wanted.text { // written by emberd before a crash, or by Obsidian after a rename
				before.By = byEmberd
			}
		}
	case hasLink(l.known, before.To) || l.first || slices.Contains(l.refused, before.To):
		before.By = byOther
	default:
		m.added = append(m.added, before.To)
		before.By = byUser
	}
	before.Text = text
	return before, true
}

// before returns what is known of an item, or the memory that it leads to.
func (l *relationList) before(text string) knownLink {
	for _, k := range l.known {
		if k.Text == text {
			return k
		}
	}
	to := l.find(text)
	for _, k := range l.known {
		if to != "" && k.To == to {
			return knownLink{To: to, Text: k.Text, By: k.By}
		}
	}
	return knownLink{To: to, By: byUser}
}

func (l *relationList) wants(id memory.ID) *target {
	i := slices.IndexFunc(l.wanted, func(w target) bool { return w.to == id })
	if i < 0 {
		return nil
	}
	return &l.wanted[i]
}

func hasLink(all []knownLink, id memory.ID) bool {
	return slices.ContainsFunc(all, func(k knownLink) bool { return k.To == id })
}
