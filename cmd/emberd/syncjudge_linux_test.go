package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"emberd/memory"
	"emberd/op"
	"emberd/vault"
)

// finish waits until both devices are at rest, judges what they have, and does both again after
// both daemons were started without what they remember of their indexes.
func (p *pair) finish(t *testing.T) {
	t.Helper()
	p.rest(t, "rest")
	p.judge(t)
	for _, d := range p.devices {
		d.restart(t, syscall.SIGTERM, "snapshot*", "index")
	}
	p.rest(t, "rest after a start")
	p.judge(t)
	p.latency()
	for _, err := range p.internal {
		p.fault(t, "internal error", "%s", err)
	}
	p.print()
	for _, d := range p.devices {
		if err := d.daemon.stop(syscall.SIGTERM); err != nil {
			t.Errorf("the daemon of %s did not stop well: %v", d.name, err)
		}
	}
}

// restingFor is how long nothing may change on both devices: longer than a note must be left alone,
// and then its memory's edit travels.
const restingFor = 25 * time.Second

// patience is how long devices may take to come to rest. Links follow a minute after the last change, and emberd
// leaves a note alone for a minute after each write.
const patience = 6 * time.Minute

// rest waits until nothing is on its way and nothing changes.
func (p *pair) rest(t *testing.T, what string) {
	t.Helper()
	began, since := time.Now(), time.Now()
	last, why := "", ""
	for time.Since(since) < restingFor {
		if time.Since(began) > patience {
			p.fault(t, fmt.Sprintf("no %s after %s", what, patience), "%s", why)
			break
		}
		time.Sleep(2 * time.Second)
		if waits := p.waits(t); waits != "" {
			since, why = time.Now(), waits
			continue
		}
		if now := p.everything(t); now != last {
			last, since, why = now, time.Now(), "memories or notes change"
		}
	}
	p.row(what+" reached after", "%s", time.Since(began).Round(time.Second))
}

// waits is what the sync tool or a daemon still has to do.
func (p *pair) waits(t *testing.T) string {
	if why := p.settled(t.Context()); why != "" {
		return why
	}
	for _, d := range p.devices {
		res, err := op.Status.Call(t.Context(), d.client, &op.StatusRequest{})
		if err != nil {
			return err.Error()
		}
		for _, v := range res.Vaults {
			writes := slices.DeleteFunc(v.PendingFirst,
				func(w op.PendingWrite) bool { return w.Reason == string(vault.ConflictCopy) })
			if v.Waiting+v.Settling+len(writes)+v.Absent > 0 {
				return fmt.Sprintf("%s: %d notes wait, %d settle, to write are %v, %d absent", d.name, v.Waiting,
					v.Settling, writes, v.Absent)
			}
		}
	}
	return ""
}

// everything is what both devices have.
func (p *pair) everything(t *testing.T) string {
	var b strings.Builder
	for _, d := range p.devices {
		all := d.export(t)
		for _, id := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintln(&b, id, all[id].Rev)
		}
		notes := d.notes(t)
		for _, name := range slices.Sorted(maps.Keys(notes)) {
			fmt.Fprintln(&b, name, len(notes[name]))
		}
	}
	return b.String()
}

// export is every memory of a device, those in the trash too.
func (d *device) export(t *testing.T) map[memory.ID]op.Record {
	t.Helper()
	all, req := map[memory.ID]op.Record{}, &op.ExportRequest{}
	for {
		res, err := op.Export.Call(t.Context(), d.client, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Records {
			all[r.ID] = r
		}
		if req.Cursor = res.NextCursor; req.Cursor == "" {
			return all
		}
	}
}

// notes are the texts of all files of a vault, by path.
func (d *device) notes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.vault, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return unlessGone(err)
		}
		rel, err := filepath.Rel(d.vault, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		all[rel] = string(text)
		return unlessGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judge compares both devices with each other and with what was acknowledged.
func (p *pair) judge(t *testing.T) {
	t.Helper()
	clear(p.faults)
	defer func() { p.row("faults", "%v", p.faults) }()
	a, b := p.devices[0].export(t), p.devices[1].export(t)
	p.judgeEqual(t, a, b)
	p.judgeSaves(t, a, b)
	notes := p.devices[0].notes(t)
	if other := p.devices[1].notes(t); !maps.Equal(notes, other) {
		p.fault(t, "unequal vaults", "%q", differing(notes, other))
	}
	texts := p.texts(t, a, notes)
	p.judgeTexts(t, texts)
	p.judgeEdits(t, texts)
	p.judgeCopies(t, notes)
	p.judgeIDs(t, a, notes)
	p.findings(t)
}

func differing(a, b map[string]string) (names []string) {
	for name := range a {
		if b[name] != a[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// judgeEqual compares the memories of both devices field by field.
func (p *pair) judgeEqual(t *testing.T, a, b map[memory.ID]op.Record) {
	t.Helper()
	unequal := map[string]int{}
	for id := range a {
		other, ok := b[id]
		if !ok {
			unequal["only on a"]++
			continue
		}
		for _, field := range fieldsOf(a[id], other) {
			unequal[field]++
			one, two := fromDifference(string(a[id].Fields[field]), string(other.Fields[field]))
			p.fault(t, "unequal "+field, "%s: %.250q and %.250q", id, one, two)
		}
		if !a[id].Forgotten.Equal(other.Forgotten) {
			unequal["trash"]++
			p.fault(t, "unequal trash", "%s: %v and %v", id, a[id].Forgotten, other.Forgotten)
		}
	}
	for id := range b {
		if _, ok := a[id]; !ok {
			unequal["only on b"]++
		}
	}
	for _, side := range []string{"only on a", "only on b"} {
		if n := unequal[side]; n > 0 {
			p.fault(t, side, "%d memories", n)
		}
	}
	p.row("memories on a, on b, unequal", "%d, %d, %v", len(a), len(b), unequal)
}

// judgeSaves looks for each acknowledged save, with its text if nobody changed it.
func (p *pair) judgeSaves(t *testing.T, on ...map[memory.ID]op.Record) {
	t.Helper()
	lost := 0
	for id, s := range p.saved {
		for i, all := range on {
			r, ok := all[id]
			var content string
			_ = json.Unmarshal(r.Fields["content"], &content)
			if !ok || !s.changed && len(r.Fields["vault_path"]) == 0 && content != s.text {
				lost++
				p.fault(t, "lost save", "%s of %s is %q on %s", id, p.devices[s.by].name, content, p.devices[i].name)
			}
		}
	}
	p.row("acknowledged saves, lost", "%d, %d", len(p.saved), lost)
}

// texts is everything in which a line of a person may be: notes, copies of them, memories with
// their earlier versions and the trash, and review items.
func (p *pair) texts(t *testing.T, records map[memory.ID]op.Record, notes map[string]string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for name, text := range notes {
		texts["note "+name] = text
	}
	for id, r := range records {
		texts["memory "+string(id)] = string(r.Fields["content"])
		texts["history "+string(id)] = p.devices[0].history(t, id)
	}
	items, err := op.ReviewList.Call(t.Context(), p.devices[0].client, &op.ReviewListRequest{Status: "all", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items.Items {
		texts["review "+item.ID] = asText(t, item)
	}
	return texts
}

func (d *device) history(t *testing.T, id memory.ID) string {
	t.Helper()
	var all strings.Builder
	req := &op.HistoryRequest{ID: string(id), Limit: 100}
	for {
		res, err := op.History.Call(t.Context(), d.client, req)
		if err != nil {
			t.Errorf("the history of %s: %v", id, err)
			return ""
		}
		for _, v := range res.Versions {
			all.WriteString(asText(t, v))
		}
		if req.Cursor = res.NextCursor; req.Cursor == "" {
			return all.String()
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// judgeTexts looks for each line of a person.
func (p *pair) judgeTexts(t *testing.T, texts map[string]string) {
	t.Helper()
	kinds, lost := map[string]int{}, 0
	for line, name := range p.lines {
		if kind := firstKind(texts, line); kind != "" {
			kinds[kind]++
			continue
		}
		lost++
		p.fault(t, "lost line", "written into %q: %s", name, line)
	}
	p.row("lines of people, lost, found first in", "%d, %d, %v", len(p.lines), lost, kinds)
}

// judgeEdits looks for each acknowledged edit. What took its place is there at least: a file of the log that
// is deleted on all devices takes the versions along that are superseded.
func (p *pair) judgeEdits(t *testing.T, texts map[string]string) {
	t.Helper()
	kinds, lost := map[string]int{}, 0
	for word, edit := range p.edits {
		kind := firstKind(texts, word)
		if kind == "" && p.devices[0].changedSince(t, edit) {
			kind = "superseded, in a deleted file"
		}
		if kind != "" {
			kinds[kind]++
			continue
		}
		lost++
		p.fault(t, "lost edit", "of %s: %s", edit.id, word)
	}
	p.row("acknowledged edits, lost, found first in", "%d, %d, %v", len(p.edits), lost, kinds)
}

// changedSince reports whether a memory has a later version than an edit of it.
func (d *device) changedSince(t *testing.T, edit ackedEdit) bool {
	t.Helper()
	res, err := op.History.Call(t.Context(), d.client, &op.HistoryRequest{ID: string(edit.id), Limit: 1})
	return err == nil && len(res.Versions) > 0 && res.Versions[0].At.After(edit.at)
}

// firstKind is the kind of text in which a line is, the most visible first.
func firstKind(texts map[string]string, line string) string {
	found := map[string]bool{}
	for name, text := range texts {
		if strings.Contains(text, line) {
			kind, rest, _ := strings.Cut(name, " ")
			if strings.Contains(rest, ".sync-conflict-") {
				kind = "copy"
			}
			found[kind] = true
		}
	}
	for _, kind := range []string{"note", "memory", "review", "copy", "history"} {
		if found[kind] {
			return kind
		}
	}
	return ""
}

// judgeCopies looks at what a sync tool left beside notes: a person needs to see a copy only for
// what nothing else has.
func (p *pair) judgeCopies(t *testing.T, notes map[string]string) {
	t.Helper()
	copies, needless, held := 0, 0, 0
	for name, text := range notes {
		if !strings.Contains(name, ".sync-conflict-") {
			continue
		}
		copies++
		alone := p.aloneIn(name, text, notes)
		if held += len(alone); len(alone) == 0 && !p.devices[0].hasNewValue(t, name) {
			needless++
			p.fault(t, "needless copy", "%s: %s", name, p.devices[0].beside(t, notes, text))
		}
	}
	p.row("conflict copies of notes, needless, lines in them alone", "%d, %d, %d", copies, needless, held)
	for _, d := range p.devices {
		names, err := filepath.Glob(filepath.Join(d.data(), "*", "*", "*.sync-conflict-*"))
		if err != nil || len(names) > 0 {
			p.fault(t, "copies of files of the log", "on %s: %q, %v", d.name, names, err)
		}
	}
}

// aloneIn are the lines of people that no note but a copy has. The review note does not count: it quotes a copy
// because emberd asks about it.
func (p *pair) aloneIn(name, text string, notes map[string]string) (lines []string) {
	for line := range p.lines {
		if !strings.Contains(text, line) {
			continue
		}
		elsewhere := false
		for other, text := range notes {
			note := other != name && other != "Memories/Inbox.md" && !strings.Contains(other, ".sync-conflict-")
			elsewhere = elsewhere || note && strings.Contains(text, line)
		}
		if !elsewhere {
			lines = append(lines, line)
		}
	}
	return lines
}

// judgeIDs looks whether two notes carry the ID of one memory and no person is told of it, and
// whether each note has the text of its memory.
func (p *pair) judgeIDs(t *testing.T, records map[memory.ID]op.Record, notes map[string]string) {
	t.Helper()
	carrying := map[string][]string{}
	for name, text := range notes {
		if m := carriedID.FindStringSubmatch(text); m != nil && !strings.Contains(name, ".sync-conflict-") {
			carrying[m[1]] = append(carrying[m[1]], name)
		}
	}
	asked, waiting, twice, apart := p.devices[0].asked(t), p.devices[0].waitingForCopies(t), 0, 0
	for id, names := range carrying {
		if len(names) > 1 && (asked[memory.ID(id)] || p.devices[0].reported(t, records[memory.ID(id)], names)) {
			twice++
			continue
		}
		if len(names) > 1 {
			twice++
			p.fault(t, "two notes", "%s: %q%s", id, names, p.trail(t, memory.ID(id)))
			continue
		}
		if why := apartFrom(records[memory.ID(id)], names[0], notes[names[0]]); why != "" && !waiting[names[0]] {
			apart++
			p.fault(t, "apart from its note", "%s: %s", id, why)
		}
	}
	p.row("memories with notes, with two, apart from theirs", "%d, %d, %d", len(carrying), twice, apart)
}

// apartFrom is how a memory and its note differ. A note in the archive folder keeps the archived text while its
// memory is edited, until that is archived again.
func apartFrom(r op.Record, name, text string) string {
	var content, path, stage string
	_ = json.Unmarshal(r.Fields["content"], &content)
	_ = json.Unmarshal(r.Fields["promoted_to"], &path)
	_ = json.Unmarshal(r.Fields["stage"], &stage)
	switch {
	case !r.Forgotten.IsZero() || memory.Stage(stage).Cold() || path == "" || r.Fields["note_gone"] != nil:
		return ""
	case path != name:
		return fmt.Sprintf("its note is said to be %q and is %q", path, name)
	case !strings.Contains(text, strings.TrimSpace(content)):
		return fmt.Sprintf("the note %q has not its text: %q and %q", name, text, content)
	}
	return ""
}

// waitingForCopies are the notes that emberd does not write, as vault check says, while a copy of them waits for the
// user's decision.
func (d *device) waitingForCopies(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, f := range d.check(t) {
		if f.Kind == "pending" && strings.Contains(f.Text, string(vault.ConflictCopy)) {
			names[f.Path] = true
		}
	}
	return names
}

// reported reports whether vault check names all but one of several notes of a memory in the trash, about which
// nobody can be asked.
func (d *device) reported(t *testing.T, r op.Record, names []string) bool {
	t.Helper()
	n := 0
	for _, f := range d.check(t) {
		if f.Kind == "duplicate" && slices.Contains(names, f.Path) {
			n++
		}
	}
	return !r.Forgotten.IsZero() && n >= len(names)-1
}

// asked are the memories about whose notes the user is asked.
func (d *device) asked(t *testing.T) map[memory.ID]bool {
	t.Helper()
	res, err := op.ReviewList.Call(t.Context(), d.client, &op.ReviewListRequest{Agent: "note", Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[memory.ID]bool{}
	for _, item := range res.Items {
		for _, id := range item.MemoryIDs {
			ids[id] = true
		}
	}
	return ids
}
