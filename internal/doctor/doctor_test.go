package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
)

// home is a set of emberd's places as a daemon makes them.
type home struct {
	*Places
	t   *testing.T
	dir string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "em") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := home{t: t, dir: dir, Places: &Places{Data: filepath.Join(dir, "data"), State: filepath.Join(dir, "state"),
		Socket: filepath.Join(dir, "run", "emberd.sock"), SocketFolder: true, Config: filepath.Join(dir, "config.yaml")}}
	for _, d := range []string{h.Data, h.State, filepath.Dir(h.Socket)} {
		h.ok(os.Mkdir(d, 0o700))
	}
	h.write("config.yaml", "", 0o600)
	return h
}

func (h home) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h home) write(name, text string, mode fs.FileMode) string {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	h.ok(os.MkdirAll(filepath.Dir(path), 0o700))
	h.ok(os.WriteFile(path, []byte(text), mode))
	h.ok(os.Chmod(path, mode))
	return path
}

// socket leaves a socket that nobody listens on.
func (h home) socket() {
	h.t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.Socket, Net: "unix"})
	h.ok(err)
	ln.SetUnlinkOnClose(false)
	h.ok(ln.Close())
	h.ok(os.Chmod(h.Socket, 0o600))
}

func codes(all []Finding) (out []string) {
	for _, f := range all {
		if f.Severity != OK {
			out = append(out, string(f.Severity)+" "+f.Code)
		}
	}
	return out
}

func TestAccessTellsWhatOthersReach(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm  func(h home)
		want  string
		stays bool // there is nothing to fix without a person
	}{
		"all closed":               {func(home) {}, "", false},
		"data for all to write":    {func(h home) { h.ok(os.Chmod(h.Data, 0o777)) }, "bad data-open", false},
		"data for all to look at":  {func(h home) { h.ok(os.Chmod(h.Data, 0o755)) }, "look data-open", false},
		"state for all to write":   {func(h home) { h.ok(os.Chmod(h.State, 0o707)) }, "bad state-open", false},
		"config for all to write":  {func(h home) { h.ok(os.Chmod(h.Config, 0o602)) }, "bad config-open", false},
		"config for all to read":   {func(h home) { h.ok(os.Chmod(h.Config, 0o644)) }, "", false},
		"socket folder":            {func(h home) { h.ok(os.Chmod(filepath.Dir(h.Socket), 0o757)) }, "bad socket-folder", false},
		"a shared socket folder":   {func(h home) { h.SocketFolder = false; h.ok(os.Chmod(filepath.Dir(h.Socket), 0o757)) }, "bad socket-folder", true},
		"socket":                   {func(h home) { h.socket(); h.ok(os.Chmod(h.Socket, 0o666)) }, "bad socket-open", false},
		"token":                    {func(h home) { h.Tokens = []string{h.write("state/tokens.json", "{}", 0o640)} }, "bad token-open", false},
		"key":                      {func(h home) { h.Keys = []string{h.write("key", "k", 0o604)} }, "bad key-open", false},
		"data that is a file":      {func(h home) { h.ok(os.Remove(h.Data)); h.write("data", "", 0o600) }, "bad data-unreadable", true},
		"files of somebody else's": {func(h home) { h.foreign("data/stm/x") }, "bad data-foreign", true},
		"nothing there yet":        {func(h home) { h.ok(os.RemoveAll(h.dir)) }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			test.harm(h)
			h.wants(test.want, test.stays, func() []Finding { return Access(h.Places) })
		})
	}
}

// A group with its owner's number is that user alone.
func TestAGroupOfOnesOwnIsNobodyElse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, name := range []string{h.Config, h.Data} {
		h.ok(os.Chmod(name, 0o720))
		if err := os.Chown(name, -1, os.Getuid()); err != nil {
			t.Skip(err)
		}
	}
	if got := strings.Join(codes(Access(h.Places)), ", "); got != "look data-open" {
		t.Errorf("found %q", got)
	}
}

// Root is not told to take a user's memories for itself.
func TestRootLooksAtAFolderOfSomebodys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to somebody else")
	}
	h.ok(os.Chown(h.Data, 12345, 12345))
	found := Access(h.Places)
	if len(found) != 1 || found[0].Code != "data-foreign" || found[0].Next != "sudo -iu '#12345'" || found[0].Fix != nil {
		t.Errorf("found %+v", found)
	}
}

// A folder that others use, such as /tmp, is not to be closed: the socket is to go elsewhere.
func TestASharedSocketFolderStaysOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.SocketFolder = false
	h.ok(os.Chmod(filepath.Dir(h.Socket), 0o777|os.ModeSticky))
	found := Access(h.Places)
	if len(found) != 1 || found[0].Fix != nil || !strings.HasPrefix(found[0].Next, "emberd config set socket /") {
		t.Errorf("found %+v", found)
	}
}

// What listens at the socket of another user is not asked.
func TestSocketsOfThisUserAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	ln, err := net.Listen("unix", h.Socket)
	h.ok(err)
	defer ln.Close()
	if !slices.Contains(Sockets(""), h.Socket) {
		t.Skip("the system tells of no sockets here")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	h.ok(os.Chown(h.Socket, 12345, 12345))
	if slices.Contains(Sockets(""), h.Socket) {
		t.Errorf("%s of another user is asked", h.Socket)
	}
}

// What a daemon uses is not removed: it is started again by the command that does so.
func TestADamagedIndexInUse(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write("state/index/notes-1/damaged", "a segment is short", 0o600)
	found := Index(h.Places, true, "kill 1 && emberd serve")
	if len(found) != 1 || found[0].Fix != nil || found[0].Next != "kill 1 && emberd serve" {
		t.Errorf("found %+v", found)
	}
}

func (h home) foreign(name string) {
	h.t.Helper()
	if os.Getuid() != 0 {
		h.t.Skip("only root can give a file to somebody else")
	}
	h.ok(os.Chown(h.write(name, "", 0o600), 12345, 12345))
}

// wants compares one finding, mends it by its fix, and looks again.
func (h home) wants(want string, stays bool, look func() []Finding) {
	h.t.Helper()
	found := look()
	if got := strings.Join(codes(found), ", "); got != want {
		h.t.Fatalf("found %q, want %q", got, want)
	}
	if want == "" {
		return
	}
	f := found[0]
	if f.Text == "" || f.Next == "" || (f.Fix == nil) != stays {
		h.t.Fatalf("the finding is %+v", f)
	}
	if stays {
		return
	}
	did, err := f.Fix(h.t.Context())
	if again := codes(look()); err != nil || did == "" || len(again) > 0 {
		h.t.Errorf("fixed with %q, %v, and then found %q", did, err, again)
	}
}

func TestSocketThatNobodyListensOn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.wants("", false, func() []Finding { return Socket(h.Places) })
	h.socket()
	h.wants("look socket-dead", false, func() []Finding { return Socket(h.Places) })
	h.write("run/emberd.sock", "no socket", 0o600)
	h.wants("bad socket-blocked", true, func() []Finding { return Socket(h.Places) })
}

// A daemon that starts while its old socket is removed keeps the new one.
func TestADeadSocketIsNotRemovedUnderADaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.socket()
	found := Socket(h.Places)
	lock, err := durable.AcquireLock(filepath.Join(h.State, lockFile))
	h.ok(err)
	if _, err := found[0].Fix(t.Context()); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("removed under a lock: %v", err)
	}
	if pid, held, err := Holder(h.Places); pid != os.Getpid() || !held || err != nil {
		t.Errorf("held by %d, %t, %v", pid, held, err)
	}
	h.ok(lock.Close())
	h.ok(os.Remove(h.Socket))
	ln, err := net.Listen("unix", h.Socket)
	h.ok(err)
	defer ln.Close()
	if _, err := found[0].Fix(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(h.Socket); err != nil {
		t.Errorf("the socket of a daemon was removed: %v", err)
	}
}

func TestRoomOfADisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		free, files, left uint64
		want              string
	}{
		{10 << 30, 1000, 500, ""},
		{10 << 30, 0, 0, ""},
		{LittleRoom - 1, 1000, 500, "look disk-low"},
		{NoRoom - 1, 1000, 500, "bad disk-full"},
		{10 << 30, 1000, 7, "bad disk-files"},
	} {
		if got := strings.Join(codes(room("/d", test.free, test.files, test.left, "emberd doctor log compact")), ", "); got != test.want {
			t.Errorf("%d bytes, %d of %d files: %q, want %q", test.free, test.left, test.files, got, test.want)
		}
	}
	if got := Disk(t.TempDir(), ""); len(got) != 1 {
		t.Errorf("of a real disk: %v", got)
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]string{-time.Hour: "", 9 * time.Minute: "", 11 * time.Minute: "look clock-behind", 48 * time.Hour: "look clock-behind"} {
		if got := strings.Join(codes(Clock(now, now.Add(ahead))), ", "); got != want {
			t.Errorf("ahead by %s: %q, want %q", ahead, got, want)
		}
	}
	if got := Clock(now, time.Time{}); got != nil {
		t.Errorf("of an empty log: %v", got)
	}
}

// proc is a folder like /proc in which one process has watches.
func proc(t *testing.T, watches, instances, used int) string {
	t.Helper()
	h := home{t: t, dir: t.TempDir()}
	h.write("sys/fs/inotify/max_user_watches", "100000\n", 0o600)
	h.write("sys/user/max_inotify_watches", fmt.Sprintln(watches), 0o600)
	h.write("sys/fs/inotify/max_user_instances", fmt.Sprintln(instances), 0o600)
	h.write("77/fdinfo/5", "pos:\t0\n"+strings.Repeat("inotify wd:1 ino:1\n", used), 0o600)
	h.ok(os.MkdirAll(filepath.Join(h.dir, "77", "fd"), 0o700))
	h.ok(os.Symlink("anon_inode:inotify", filepath.Join(h.dir, "77", "fd", "5")))
	return h.dir
}

func TestWatches(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		watches, instances, used, folders int
		watched                           bool
		want                              string
	}{
		"enough":              {1000, 128, 10, 20, false, ""},
		"too few":             {25, 128, 10, 20, false, "look watches-few"},
		"too few, and it has": {25, 128, 10, 20, true, ""},
		"no vault":            {25, 128, 30, 0, false, ""},
		"no instance":         {1000, 1, 10, 20, false, "look watches-instances"},
	} {
		got := strings.Join(codes(Watches(proc(t, test.watches, test.instances, test.used), test.folders, test.watched)), ", ")
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if got := Watches(t.TempDir(), 10, false); got != nil {
		t.Errorf("on a system without such limits: %v", got)
	}
}

func TestVaultSaysWhatIsInIt(t *testing.T) {
	t.Parallel()
	merged := "---\nmemory-id: \"x\"\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"sound":                  {map[string]string{"A.md": "a", "b/A.md": "b", ".obsidian/x.md": merged, "c.png": ""}, ""},
		"a copy of Syncthing":    {map[string]string{"A.md": "a", "A.sync-conflict-20260101-000000-ABC.md": "b"}, "look sync-copy"},
		"a copy of Dropbox":      {map[string]string{"A.md": "a", "A (ada's conflicted copy 2026-01-01).md": "a"}, "look sync-copy"},
		"a copy without a note":  {map[string]string{"A (conflicted copy).md": "a"}, "look sync-copy"},
		"of a memory's note":     {map[string]string{"A.md": "---\nmemory-id: 0192f3a1\n---\na\n", "A.sync-conflict-1.md": "---\nmemory-id: 0192f3a1\n---\nb\n"}, "note sync-settled"},
		"two notes with one ID":  {map[string]string{"A.md": "---\nmemory-id: 0192f3a1\n---\na\n", "B.md": "---\nmemory-id: 0192f3a1\n---\nb\n"}, "look note-twice"},
		"merge marks of ours":    {map[string]string{"A.md": merged}, "look note-merge"},
		"merge marks of yours":   {map[string]string{"A.md": "\n<<<<<<< a\n>>>>>>> b\n"}, ""},
		"in the cloud":           {map[string]string{".A.md.icloud": ""}, "note vault-evicted"},
		"ignored":                {map[string]string{"Templates/A.sync-conflict-1.md": "a"}, ""},
		"twins":                  {map[string]string{"Tea.md": "a", "tea.md": "b"}, "look vault-twins"},
		"twins in one more form": {map[string]string{"Caf\u00e9.md": "a", "Cafe\u0301.md": "b"}, "look vault-twins"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home{t: t, dir: t.TempDir()}
			for name, text := range test.files {
				h.write(name, text, 0o600)
			}
			if entries, err := os.ReadDir(h.dir); err == nil && len(entries) < len(test.files) && strings.Contains(test.want, "twins") {
				t.Skip("this file system keeps one of both names alone")
			}
			s, err := Vault(t.Context(), h.dir, "", []string{"Templates/"}, nil)
			h.ok(err)
			if got := strings.Join(codes(s.Findings), ", "); got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
		})
	}
}

// Of the copies that the daemon settles by itself or asks about, nothing is asked here.
func TestVaultAsksNothingOfCopiesThatAreSettled(t *testing.T) {
	t.Parallel()
	h := home{t: t, dir: t.TempDir()}
	note := func(text string) string { return "---\nmemory-id: 0192f3a1\n---\n" + text + "\n" }
	for name, text := range map[string]string{"A.md": "a", "A.sync-conflict-1.md": "b", "A.sync-conflict-2.md": "c", "A 2.md": "d", "A.sync-conflict-3.md": "e"} {
		h.write(name, note(text), 0o600)
	}
	settled := map[string]Copy{"A.sync-conflict-1.md": {Text: "it is settled"}, "A.sync-conflict-2.md": {Text: "you are asked", Next: "emberd review show rev-1"}, "A 2.md": {Text: "it is settled"}}
	s, err := Vault(t.Context(), h.dir, "", nil, func() map[string]Copy { return settled })
	h.ok(err)
	if got := strings.Join(codes(s.Findings), ", "); got != "note sync-settled, note sync-settled, note sync-settled, look sync-copy" {
		t.Errorf("found %q", got)
	}
	for _, f := range s.Findings {
		if asked := strings.Contains(f.Text, "you are asked"); f.Code == "sync-settled" && (f.Next != "") != asked {
			t.Errorf("%q is followed by %q", f.Text, f.Next)
		}
	}
}

func TestVaultSumsUpWhatIsMany(t *testing.T) {
	t.Parallel()
	h := home{t: t, dir: t.TempDir()}
	for i := range 10 {
		h.write(fmt.Sprintf("%d/A.md", i), "a", 0o600)
		h.write(fmt.Sprintf("%d/A.sync-conflict-1.md", i), "b", 0o600)
	}
	s, err := Vault(t.Context(), h.dir, "", nil, nil)
	h.ok(err)
	if got := codes(s.Findings); len(got) != maxListed+1 || !slices.ContainsFunc(s.Findings, func(f Finding) bool { return strings.HasPrefix(f.Text, "7 more findings of this kind") }) {
		t.Errorf("found %q", got)
	}
	if s.Folders != 11 || s.Notes != 20 {
		t.Errorf("counted %d folders and %d notes", s.Folders, s.Notes)
	}
}

// What emberd makes by itself is no note of the user's.
func TestVaultCountsNotes(t *testing.T) {
	t.Parallel()
	h := home{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{
		"Tea.md":                 "about emberd",
		"Memories/Tea.md":        "---\nmemory-id: \"x\"\n---\n",
		"Memories/Index.md":      "---\nemberd: index\n---\n",
		"Inbox.md":               "---\nemberd: inbox\n---\n",
		"Mine.md":                "---\nemberd: great\n---\n",
		"Memories/Archive/T.md":  "---\nmemory-id: \"y\"\n---\n",
		"Memories/Archived/A.md": "a",
	} {
		h.write(name, text, 0o600)
	}
	s, err := Vault(t.Context(), h.dir, "Memories/Archive", nil, nil)
	h.ok(err)
	if last := s.Findings[len(s.Findings)-1].Text; s.Notes != 4 || s.Archived != 1 || !strings.Contains(last, ", 4 note files and 1 archived one on ") {
		t.Errorf("counted %d notes and %d archived ones: %s", s.Notes, s.Archived, last)
	}
}

func TestAVaultThatIsNotThere(t *testing.T) {
	t.Parallel()
	h := home{t: t, dir: t.TempDir()}
	for dir, want := range map[string]string{filepath.Join(h.dir, "gone"): "bad vault-missing", h.write("file", "", 0o600): "bad vault-missing"} {
		s, err := Vault(t.Context(), dir, "", nil, nil)
		if got := strings.Join(codes(s.Findings), ", "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", dir, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.write("A.md", "a", 0o600)
	if _, err := Vault(ctx, h.dir, "", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
}

func TestSocketsOfAListing(t *testing.T) {
	t.Parallel()
	linux := "Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 1 /run/user/1/emberd/emberd.sock\n" +
		"0000000000000000: 00000003 00000000 00000000 0001 03 2 /run/user/1/emberd/emberd.sock\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 3 @/tmp/.X11-unix/X0\n"
	mac := "Active LOCAL (UNIX) domain sockets\nAddress Type Recv-Q Send-Q Inode Conn Refs Nextref Addr\n" +
		"a1 stream 0 0 b2 0 0 0 /Users/ada/Library/Application Support/emberd-state/run/emberd.sock\n"
	for listing, want := range map[string]string{linux: "/run/user/1/emberd/emberd.sock", mac: "/Users/ada/Library/Application Support/emberd-state/run/emberd.sock"} {
		if got := parseSockets([]byte(listing)); len(got) != 1 || got[0] != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

func TestSortPutsTheWorstFirst(t *testing.T) {
	t.Parallel()
	all := []Finding{{Code: "a", Severity: OK}, {Code: "b", Severity: Warning}, {Code: "c", Severity: Error}, {Code: "d", Severity: Note}, {Code: "e", Severity: Error}}
	Sort(all)
	var got strings.Builder
	for _, f := range all {
		got.WriteString(f.Code)
	}
	if got.String() != "cebda" {
		t.Errorf("sorted %q", got.String())
	}
}
