package engine_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"emberd/engine/listnotes"
	"emberd/memory"
	"emberd/op"
)

const inboxNote = "Memories/Inbox.md"

// inboxDesk is an engine on a vault whose inbox is to be written, and no other list.
func inboxDesk(t testing.TB, notes map[string]string) *desk {
	t.Helper()
	d := &desk{house: promotingHouse(t, notes), t: t}
	d.ReviewInbox = inboxNote
	d.start()
	return d
}

// asked files an item about new memories of these texts.
func (d *desk) asked(action string, texts ...string) (memory.ReviewItem, []memory.ID) {
	d.t.Helper()
	var ids []memory.ID
	var names []string
	for _, text := range texts {
		id := save(d.t, d.Engine, text).ID
		ids, names = append(ids, id), append(names, string(id))
		d.advance(time.Minute)
	}
	res := do(d.t, d.Engine, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: names, Action: action, Evidence: "for a test"})
	return res.Item, ids
}

// ticked puts ticks into the boxes with these words and lets a minute pass.
func (d *desk) ticked(boxes ...string) {
	d.t.Helper()
	d.write(d.t, inboxNote, d.withTicks(boxes...))
	d.listed()
}

func (d *desk) withTicks(boxes ...string) string {
	d.t.Helper()
	note := d.note(d.t, inboxNote)
	for _, words := range boxes {
		if !strings.Contains(note, "- [ ] "+words) {
			d.t.Fatalf("there is no box %q in\n%s", words, note)
		}
		note = strings.Replace(note, "- [ ] "+words, "- [x] "+words, 1)
	}
	return note
}

// wantInbox says what the note has and has not.
func (d *desk) wantInbox(has []string, not ...string) {
	d.t.Helper()
	note := d.note(d.t, inboxNote)
	for _, words := range has {
		if !strings.Contains(note, words) {
			d.t.Errorf("the inbox does not say %q:\n%s", words, note)
		}
	}
	for _, words := range not {
		if strings.Contains(note, words) {
			d.t.Errorf("the inbox says %q:\n%s", words, note)
		}
	}
}

func (d *desk) wantItem(item memory.ReviewItem, status, decision string) {
	d.t.Helper()
	got, err := d.Engine.Review.FindItem(item.ID)
	if err != nil || got.Status != status || got.Decision != decision {
		d.t.Errorf("the item is %+v, %v, want %s %q", got, err, status, decision)
	}
}

var undoIn = regexp.MustCompile("`emberd undo ([0-9a-z-]+)`")

// The note shows what else waits for the user, until it no longer does.
func TestInboxShowsWhatElseWaits(t *testing.T) {
	t.Parallel()
	const index = "Index.md"
	d := &desk{house: promotingHouse(t, map[string]string{index: "The user's own.\n"}), t: t}
	d.ReviewInbox, d.VaultIndex = inboxNote, index
	d.start()
	d.listed()
	wantFiles(t, d.house, index)
	d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	d.wantInbox([]string{"1 item needs your decision", "> [!warning] Run these commands so that emberd can continue",
		"cannot write the list \"Index.md\": ", ": `emberd config`"})
	ok(t, os.Remove(filepath.Join(d.Vaults[0], index)))
	d.batch(nil, []string{index})
	d.listed()
	d.advance(waitsAgain)
	d.Lists.WriteLists(t.Context())
	d.wantInbox([]string{"1 item needs your decision"}, "Run these commands so that emberd can continue", "cannot write the list")
}

// waitsAgain is how long the review note may show what no longer waits.
const waitsAgain = time.Hour

// A decision by a tick, from the item's appearance to undo.
func TestInboxDecides(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	d.listed()
	wantFiles(t, d.house)
	d.wantListState(listnotes.InboxKind, inboxNote, op.ListEmpty, "no open review items yet")
	item, ids := d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	d.wantInbox([]string{marked("inbox"), "1 item needs your decision", "## Still needed? · The parking ticket was 4 euros", "> [!question] for a test", "- [ ] Keep it as it is ^rev-", "- [ ] Forget it ^rev-"}, "## Decided")
	d.wantListState(listnotes.InboxKind, inboxNote, op.ListWritten, "")
	if at := d.Lists.Lists.Next(); !at.IsZero() {
		t.Errorf("at rest the inbox is due at %s", at)
	}
	d.ticked("Forget it")
	d.wantInbox([]string{"No item needs your decision", "## Decided", " · forgotten · The parking ticket was 4 euros `" + ids[0].Short() + "` · box checked in this note · to undo: `emberd undo "}, "- [")
	if !d.Stm.Trashed(ids[0]) {
		t.Fatal("the memory is not in the trash")
	}
	by, err := d.Stm.Forgetting(ids[0])
	if ok(t, err); by.By.Via != "note" || by.By.Client != "inbox" {
		t.Errorf("it was forgotten by %+v", by.By)
	}
	tx := undoIn.FindStringSubmatch(d.note(t, inboxNote))
	do(t, d.Engine, op.Undo, &op.UndoRequest{Tx: tx[1]})
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	d.wantInbox([]string{"## Still needed?", "- [ ] Forget it"}, "## Decided", "- [x]")
}

// What a human writes beside a box is theirs; the log has none of their credentials.
func TestACredentialBesideABoxStaysInTheNote(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	d.Opt.DetectSecrets = true
	item, _ := d.asked("needs_review", "The anchor is rusty")
	d.listed()
	note := d.withTicks("Keep it")
	d.write(d.t, inboxNote, strings.Replace(note, "-keep\n", "-keep rotated "+token+"\n", 1))
	d.listed()
	d.wantItem(item, memory.ItemClosed, op.DecideKeep)
	d.wantInbox([]string{"- rotated " + token, "box checked in this note · to undo"})
	if got, err := d.Engine.Review.FindItem(item.ID); err != nil || got.Reason != "box checked in this note" {
		t.Errorf("the reason is %q, %v", got.Reason, err)
	}
}

// A plain undo takes back what was ticked last.
func TestATickIsUndoneUnasked(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, ids := d.asked("merge", "The garden has two gates", "The garden has two gates, and a pond")
	d.listed()
	d.ticked("Merge both into one memory")
	d.wantItem(item, memory.ItemClosed, op.DecideMerge)
	d.wantInbox([]string{" · merged · The garden has two gates `" + ids[0].Short() + "` · The garden has two gates, and a pond `" + ids[1].Short() + "`"}, "- [")
	do(t, d.Engine, op.Undo, &op.UndoRequest{})
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	d.wantInbox([]string{"- [ ] Merge both into one memory"}, "## Decided")
	d.ticked("Merge both into one memory") // as often as somebody likes
	d.wantItem(item, memory.ItemClosed, op.DecideMerge)
}

func TestEveryChoiceOfTheInbox(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	one, a := d.asked("promote", "Ann leads the garden project")
	port, b := d.asked("contradiction", "The database listens on port 5432", "The database listens on port 5433")
	d.listed()
	d.ticked("Promote it", "Forget A, the older one, and keep B")
	d.wantItem(one, memory.ItemClosed, op.DecidePromote)
	if m := d.memory(a[0]); m.PromotedTo == "" {
		t.Errorf("the memory is %+v", m)
	}
	if !d.Stm.Trashed(b[0]) || d.Stm.Trashed(b[1]) {
		t.Error("not the older one was forgotten")
	}
	d.wantInbox([]string{" · promoted · Ann leads", "|note]]", " · forgotten · The database listens on port 5432"}, "5433", "- [")
	third, c := d.asked("needs_review", "the tide turns at six")
	uses := d.memory(c[0]).UseCount
	d.listed()
	d.ticked("Keep it as it is")
	d.wantItem(third, memory.ItemClosed, op.DecideKeep)
	if got := d.memory(c[0]).UseCount; got != uses+1 {
		t.Errorf("kept, it has %d uses, was %d", got, uses)
	}
	_ = port
	money, e := d.asked("contradiction", "We store money as cents", "We store money as strings, not cents")
	d.listed()
	d.wantInbox([]string{"B is right now: mark A, the older one, as superseded"}, "Promote")
	d.ticked("B is right now")
	d.wantItem(money, memory.ItemClosed, op.DecideSupersede+string(e[0]))
	if m := d.memory(e[0]); m.SupersededBy != e[1] {
		t.Errorf("the older memory is superseded by %q, want %s", m.SupersededBy, e[1])
	}
	d.wantInbox([]string{" · superseded · We store money as cents"}, "- [")
}

// Two ticks of one item, and ticks of what is not as it was shown, do nothing and say so.
func TestTicksThatDoNothing(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, ids := d.asked("merge", "The garden has two gates", "The garden has two gates, and a pond")
	d.listed()
	d.ticked("Merge both", "Keep both")
	d.wantItem(item, memory.ItemOpen, "")
	d.wantInbox([]string{"> [!failure] Several boxes of this review item are checked, so emberd did nothing. Check only one box.", "- [ ] Merge both", "- [ ] Keep both"}, "- [x]")
	d.listed()
	d.wantInbox([]string{"Several boxes of this review item are checked, so emberd did nothing. Check only one box."})

	stale := d.withTicks("Forget A")
	do(t, d.Engine, op.Edit, &op.EditRequest{ID: string(ids[0]), Content: new("The garden has three gates, for the wall fell")})
	d.write(t, inboxNote, stale)
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	d.wantInbox([]string{"The review item changed after emberd wrote this note, so the checked box has no effect. Read the item again.", "three gates"}, "- [x]", "Several boxes")

	late := d.withTicks("Forget A")
	do(t, d.Engine, op.ReviewClose, &op.ReviewCloseRequest{ID: item.ID, Decision: op.DecideKeep, Reason: "seen"})
	d.write(t, inboxNote, late)
	d.listed()
	d.wantItem(item, memory.ItemClosed, op.DecideKeep)
	d.wantInbox([]string{"No item needs your decision", " · a checked box had no effect · The garden has three gates", "the review item was already decided: seen", " · kept · ", " · seen · to undo: `emberd undo "}, "- [")
	if d.Stm.Trashed(ids[0]) || d.Stm.Trashed(ids[1]) {
		t.Error("a memory was forgotten")
	}
	d.write(t, inboxNote, late) // once more, from a program that had it open
	d.listed()
	if note := d.note(t, inboxNote); strings.Count(note, "a checked box had no effect") != 1 || strings.Contains(note, "- [") {
		t.Errorf("the note is\n%s", note)
	}
	d.advance(8 * 24 * time.Hour)
	d.listed()
	d.wantInbox([]string{"No item needs your decision"}, "## Decided")
}

// What was ticked and taken back is not done again by a copy of the note from before.
func TestAnOldNoteDoesNothing(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, ids := d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	old := d.withTicks("Forget it")
	d.ticked("Forget it")
	d.write(t, inboxNote, old) // while it is in the trash
	d.listed()
	d.wantInbox([]string{"## Decided"}, "- [", "a checked box had no effect")
	do(t, d.Engine, op.Undo, &op.UndoRequest{})
	d.write(t, inboxNote, old)
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	if d.Stm.Trashed(ids[0]) {
		t.Error("the memory was forgotten again")
	}
	d.wantInbox([]string{"The review item changed after emberd wrote this note, so the checked box has no effect. Read the item again.", "- [ ] Forget it"}, "- [x]")
}

// Only what was left alone for a minute counts, only the note itself, and only whole.
func TestWhatIsReadOfTheInbox(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, _ := d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	ticked, before := d.withTicks("Forget it"), d.note(t, inboxNote)

	d.write(t, "Memories/Inbox.sync-conflict-20260301-120000-ABCDEFG.md", ticked)
	d.write(t, "Inbox 2.md", ticked)
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	d.write(t, inboxNote, ticked)
	d.listed()
	d.wantItem(item, memory.ItemOpen, "")
	d.wantListState(listnotes.InboxKind, inboxNote, op.ListWaits, "a sync tool created a conflict copy of the note; "+
		"compare the two notes and delete one of them")
	d.remove("Memories/Inbox.sync-conflict-20260301-120000-ABCDEFG.md", "Inbox 2.md")
	d.write(t, inboxNote, before)
	d.listed()

	for name, text := range map[string]string{
		"half of it": ticked[:strings.Index(ticked, "<!-- /emberd")], "nothing": "", "conflict marks": strings.Replace(ticked, "## Still", "<<<<<<< ours\n## Still", 1),
		"open code": strings.Replace(ticked, "## Still", "```\n## Still", 1), "the marks twice": ticked + ticked[strings.Index(ticked, "<!--"):],
		"no mark": strings.Replace(ticked, "emberd: \"inbox\"\n", "", 1), "no frontmatter": ticked[strings.Index(ticked, "<!--"):],
		"another list": strings.Replace(ticked, "emberd: \"inbox\"", "emberd: \"index\"", 1), "marks of another": strings.Replace(ticked, "## Still", "<!-- emberd:core -->\n## Still", 1),
	} {
		d.write(t, inboxNote, text)
		d.listed()
		d.wantItem(item, memory.ItemOpen, "")
		if got := d.note(t, inboxNote); got != text {
			t.Errorf("%s became\n%s", name, got)
		}
	}
	d.write(t, inboxNote, ticked)
	d.Engine.Lists.Lists.Changed()
	d.batch([]string{inboxNote}, nil)
	d.clock.ms.Store(time.Now().Add(30 * time.Second).UnixMilli())
	d.Lists.WriteLists(t.Context())
	d.wantItem(item, memory.ItemOpen, "")
	d.wantListState(listnotes.InboxKind, inboxNote, op.ListWaits, "the note changed a few seconds ago and might be "+
		"open in an editor")
	d.clock.ms.Store(time.Now().Add(time.Hour).UnixMilli())
	d.Lists.WriteLists(t.Context())
	if !d.Stm.Trashed(item.MemoryIDs[0]) {
		t.Error("the tick was lost")
	}
}

// A human's text stays, in the region and around it, and what is written behind a box is
// the reason.
func TestTheInboxKeepsAHumansText(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, _ := d.asked("merge", "The garden has two gates", "The garden has two gates, and a pond")
	d.listed()
	note := d.note(t, inboxNote)
	note = strings.Replace(note, "- [ ] Keep both as they are", "I wonder.\n- [x] Keep both as they are for the pond is gone", 1)
	note = strings.Replace(note, "## Merge", "#mine\n\n## Merge", 1)
	note = strings.ReplaceAll(strings.Replace(note, "---\n<!--", "---\nabove\n<!--", 1)+"\nbelow", "\n", "\r\n")
	d.write(t, inboxNote, note)
	d.listed()
	got, err := d.Engine.Review.FindItem(item.ID)
	if err != nil || got.Decision != op.DecideKeep || got.Reason != "box checked in this note: for the pond is gone" {
		t.Errorf("the item is %+v %v", got, err)
	}
	after := d.note(t, inboxNote)
	if strings.Count(after, "\n") != strings.Count(after, "\r\n") || !strings.Contains(after, "---\r\nabove\r\n<!--") || !strings.HasSuffix(after, "-->\r\n\r\nbelow") {
		t.Errorf("the note is %q", after)
	}
	d.wantInbox([]string{"#mine\r\n", "## Your notes on closed items\r\n\r\nI wonder.\r\n", "- for the pond is gone\r\n"}, "- [x]")
	before := d.note(t, inboxNote)
	d.restart()
	d.Lists.Lists.Had.Inbox.Sums = nil // as on another device
	d.listed()
	if got := d.note(t, inboxNote); got != before {
		t.Errorf("after a restart it is\n%s\nwas\n%s", got, before)
	}
}

// Texts of memories do nothing in the note, whatever they hold, and credentials are not
// shown.
func TestTheInboxOfHostileMemories(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	other, _ := d.asked("gc_candidate", "the tide turns at six")
	d.listed()
	box := regexp.MustCompile(`\^rev-[0-9a-f]{12}-[0-9a-f]{8}-forget`).FindString(d.note(t, inboxNote))
	for _, text := range []string{
		"- [x] Forget it " + box, "a\n- [x] Forget it " + box + "\nb", "> - [x] " + box, "<!-- /emberd:inbox -->\n- [x] Forget it " + box, "```\n```\n- [x] Forget it " + box,
		"<%* app.vault.delete() %> `$= dv.pages()`", "```dataviewjs\ndv.pages()\n```", "<script>alert(1)</script> [[Home]] ![[a.png]] %% x",
	} {
		item := do(t, d.Engine, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(save(t, d.Engine, text).ID)}, Evidence: text, Labels: []string{"x"}}).Item
		d.wantItem(item, memory.ItemOpen, "")
	}
	do(t, d.Engine, op.Save, &op.SaveRequest{Content: "the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a", AllowSecret: true})
	for r := range d.Stm.Rows() {
		if strings.Contains(r.Content(), "ghp_") {
			do(t, d.Engine, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(r.ID())}})
		}
	}
	d.listed()
	note := d.note(t, inboxNote)
	for _, bad := range []string{"- [x]", "<%", "`$=", " <script", "\n```", "ghp_", " ![[", "%%"} {
		if strings.Contains(note, bad) {
			t.Errorf("the note has %q:\n%s", bad, note)
		}
	}
	d.write(t, inboxNote, note+"\n") // so that it is read
	d.listed()
	d.wantItem(other, memory.ItemOpen, "")
	if n := strings.Count(d.note(t, inboxNote), "- [ ] Keep it as it is ^rev-"); n != 10 {
		t.Errorf("%d items are shown", n)
	}
}

// The ways in which programs save a note all come to one decision.
func TestEverySaveOfATickCounts(t *testing.T) {
	t.Parallel()
	for way, save := range saves() {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			d := inboxDesk(t, nil)
			item, _ := d.asked("gc_candidate", "The parking ticket was 4 euros")
			kept, _ := d.asked("needs_review", "the tide turns at six")
			d.listed()
			text := d.withTicks("Keep it as it is") // the first one, which is the older
			save(t, d.at(inboxNote), text)
			d.listed()
			d.listed()
			d.wantItem(item, memory.ItemClosed, op.DecideKeep)
			d.wantItem(kept, memory.ItemOpen, "")
			if n := d.memory(item.MemoryIDs[0]).UseCount; n != 1 {
				t.Errorf("the memory was used %d times", n)
			}
		})
	}
}

// What nobody decides is closed after a time, and nothing else happens to it.
func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	item, ids := d.asked("gc_candidate", "The parking ticket was 4 euros")
	d.listed()
	d.wantInbox([]string{"if you tick no box, emberd closes this item on " +
		item.CreatedAt.UTC().Add(30*24*time.Hour).Format(time.DateOnly) + ": the memory stays"})
	d.advance(29 * 24 * time.Hour)
	ok(t, d.Engine.Review.DecideOverdue(t.Context()))
	d.wantItem(item, memory.ItemOpen, "")
	d.advance(25 * time.Hour)
	d.Indexed.Store(true)
	d.Engine.Lifecycle.RunDue(t.Context())
	d.wantItem(item, memory.ItemClosed, op.DecideKeep)
	if n := d.memory(ids[0]).UseCount; n != 0 {
		t.Errorf("the memory was used %d times", n)
	}
	d.listed()
	d.wantInbox([]string{"No item needs your decision", " · kept · The parking ticket", "closed automatically: no decision within 30 days"}, "- [")
	d.DecideAfter = 0
	d.restart()
	later, _ := d.asked("gc_candidate", "the tide turns at six")
	d.advance(1000 * 24 * time.Hour)
	ok(t, d.Engine.Review.DecideOverdue(t.Context()))
	d.wantItem(later, memory.ItemOpen, "")
}

// Deleted, the inbox stays away; a purge takes what it says of a memory; and it is no note
// that is searched.
func TestTheInboxIsAListLikeOthers(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	_, ids := d.asked("gc_candidate", "quixotic zeppelin")
	d.asked("gc_candidate", "the tide turns at six")
	d.listed()
	wantNames(t, d.Engine, "zeppelin", "quixotic zeppelin")
	d.write(t, inboxNote, strings.Replace(d.note(t, inboxNote), "## Still", "mine\n\n## Still", 1)) // so that a backup is kept
	d.listed()
	d.rest(t, d.Engine)
	do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: ids[0].Short(), Backups: true})
	for range 3 {
		d.listed()
	}
	d.wantWordGone("zeppelin")
	d.wantInbox([]string{"the tide turns at six", "mine\n"}, ids[0].Short())
	ok(t, os.Remove(d.at(inboxNote)))
	d.asked("gc_candidate", "the moon is full")
	d.listed()
	wantFiles(t, d.house)
	d.wantListState(listnotes.InboxKind, inboxNote, op.ListDeleted, "the note was deleted, so emberd does not write it again")
}

// The warning that backups hold a purged memory names it, which is none of its words.
func TestAWarningInTheInboxIsNotTheMemory(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	d.asked("gc_candidate", "the tide turns at six")
	id := save(t, d.Engine, "quixotic zeppelin").ID
	do(t, d.Engine, op.BackupCreate, &op.BackupCreateRequest{})
	do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(id)})
	d.listed()
	d.wantInbox([]string{"memory " + id.Short() + " was deleted permanently, but 1 backup in "}, "zeppelin")
	for _, left := range do(t, d.Engine, op.Purge, &op.PurgeRequest{ID: string(id)}).Left {
		if left.Place == inboxNote {
			t.Errorf("left is %+v", left)
		}
	}
}

// Only so many items are shown, the most urgent first.
func TestTheInboxIsBounded(t *testing.T) {
	t.Parallel()
	d := inboxDesk(t, nil)
	for i := range 16 {
		id := save(t, d.Engine, "a ripple "+strings.Repeat("x", i+1)).ID
		do(t, d.Engine, op.ReviewCreate, &op.ReviewCreateRequest{MemoryIDs: []string{string(id)}, Urgency: []string{"low", "high"}[min(i%3, 1)]})
	}
	d.listed()
	note := d.note(t, inboxNote)
	if got := strings.Count(note, "\n## "); got != 10 || !strings.Contains(note, "16 items need your decision") || !strings.Contains(note, "This note shows the 10 most urgent items. To see the other 6, run: `emberd review list`") {
		t.Errorf("%d items are shown in\n%.400s", got, note)
	}
	if strings.Count(note, "High urgency") != 10 {
		t.Error("the most urgent do not come first")
	}
}
