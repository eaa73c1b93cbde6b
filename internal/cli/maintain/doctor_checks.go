package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"emberd/engine/core"
	"emberd/internal/access"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/config"
	"emberd/internal/doctor"
	"emberd/internal/durable"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/watcher"
)

// diagnostics is one look at everything, part by part.
type diagnostics struct {
	s      *cli.App
	c      *config.Config
	places *doctor.Places
	found  []doctor.Finding

	status  *op.StatusResult // of the daemon, nil if none answers
	held    bool             // a process holds the folders
	pid     int              // of that process, or of the daemon that answers; 0 if it is not known
	folders int              // of all vaults
	remote  bool             // a vault is where there are no events
	began   time.Time        // stamp in the oldest file of the log
	saved   time.Time        // stamp of the newest line of the log
}

func (e *diagnostics) add(all ...doctor.Finding) { e.found = append(e.found, all...) }

// wrongSetting is the finding about one fault of the settings.
func wrongSetting(fault string) doctor.Finding {
	f := doctor.Finding{Area: "config", Code: "config-wrong", Severity: doctor.Error, Text: fault}
	switch file, _, inFile := strings.Cut(fault, ".yaml:"); {
	case strings.HasPrefix(fault, "socket path "):
		f.Code, f.Next = "socket-long", "emberd config set socket "+shortSocket()
	case inFile && filepath.IsAbs(file):
		f.Next = "${EDITOR:-vi} " + text.ShellWord(file+".yaml")
	}
	return f
}

// shortSocket is a path for the socket that is short enough everywhere.
func shortSocket() string { return fmt.Sprintf("/tmp/emberd-%d/emberd.sock", os.Getuid()) }

// placesOf are the files of a daemon with these settings.
func placesOf(c *config.Config) *doctor.Places {
	p := &doctor.Places{Data: c.Data, State: c.State, Socket: c.Socket, Config: c.File,
		Tokens: []string{filepath.Join(c.State, "tokens.json")}}
	if secrets, err := filepath.Glob(filepath.Join(cli.Globbed(c.State), "tokens", "*.secret")); err == nil {
		p.Tokens = append(secrets, p.Tokens...)
	}
	p.Tokens = daemon.AppendSet(p.Tokens, c.TokenFile)
	p.Keys = daemon.AppendSet(p.Keys, c.LLM.KeyFile, c.Embedding.KeyFile)
	p.SocketFolder = ownSocketFolder(c)
	return p
}

// ownSocketFolder tells whether the socket's folder is one that emberd makes for itself, by the
// default, the one of --home, or [shortSocket]. Every other, such as /run, may be used by others.
func ownSocketFolder(c *config.Config) bool {
	dir := filepath.Dir(c.Socket)
	home := filepath.Join(dir, "state") == c.State && filepath.Join(dir, "data") == c.Data
	return home || dir == filepath.Join(c.State, "run") || dir == filepath.Dir(shortSocket()) ||
		filepath.Base(dir) == "emberd"
}

func (e *diagnostics) access(context.Context) error {
	e.add(doctor.Access(e.places)...)
	tokens := filepath.Join(e.c.State, "tokens.json")
	known := slices.ContainsFunc(e.found, func(f doctor.Finding) bool { return f.Area == "tokens" })
	if err := access.OpenStore(durable.OS{}, tokens, e.s.Now).Damage(); err != nil && !known {
		e.add(doctor.Finding{Area: "tokens", Code: "token-damaged", Severity: doctor.Error, Text: err.Error(),
			Next: "mv " + text.ShellWord(tokens) + " " + text.ShellWord(tokens+".damaged")})
	}
	return nil
}

// patience is how long a daemon may take for an answer before it counts as silent.
const patience = 10 * time.Second

// daemon asks the daemon how it is, and who holds the folders.
func (e *diagnostics) daemon(ctx context.Context) error {
	pid, held, err := doctor.Holder(e.places)
	if err != nil {
		return err
	}
	e.held, e.pid = held, pid
	waits, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	st, err := cli.Call(waits, e.s, op.Status, &op.StatusRequest{})
	bad := doctor.Finding{Area: "daemon", Severity: doctor.Error}
	switch {
	case err != nil && waits.Err() != nil && ctx.Err() == nil:
		e.held = true
		bad.Code, bad.Text, bad.Next = "daemon-silent",
			fmt.Sprintf("process %s accepts connections on %s but did not answer within %s", number(pid), e.c.Socket,
				patience), e.end("-9 ")
		e.add(bad)
	case memory.CodeOf(err) == memory.Unavailable && held:
		bad.Code, bad.Text, bad.Next = "daemon-unreached",
			fmt.Sprintf("process %s has locked the folders, but emberd cannot connect to the process on %s: "+
				"the process is starting, or its socket was moved or removed; restart the process", number(pid),
				e.c.Socket), e.end("")
		e.add(bad)
	case memory.CodeOf(err) == memory.Unavailable:
		e.add(doctor.Finding{Area: "daemon", Code: "daemon-down", Severity: doctor.Warning, Text: "not running",
			Next: e.start()})
		e.add(doctor.Socket(e.places)...)
	case err != nil:
		bad.Code, bad.Text = "daemon-refuses", err.Error()
		if memory.CodeOf(err) == memory.Incompatible { // one side was upgraded
			bad.Next = e.end("")
		}
		e.add(bad)
	case st.State != "" && cli.Linkless(st.State) != cli.Linkless(e.c.State):
		bad.Code, bad.Text, bad.Next = "daemon-elsewhere",
			fmt.Sprintf("the daemon on %s uses data folder %s, but the settings specify %s", e.c.Socket, st.Data,
				e.c.Data), "emberd config socket"
		e.add(bad)
	default:
		e.answered(st)
	}
	return nil
}

// answered takes what the daemon told.
func (e *diagnostics) answered(st *op.StatusResult) {
	e.status = st
	e.pid = cmp.Or(st.Version.PID, e.pid)
	f := doctor.Finding{Area: "daemon", Severity: doctor.OK,
		Text: fmt.Sprintf("%s, running for %s, %s", st.Health, cli.Lasted(e.s.Now().Sub(st.Started)),
			cli.Count(st.Memories, "memory", "memories"))}
	if st.Health == "degraded" {
		f.Severity, f.Code, f.Next = doctor.Warning, "daemon-degraded", "emberd status"
	}
	if st.Log.ReadOnly != "" {
		f = doctor.Finding{Area: "daemon", Code: "daemon-readonly", Severity: doctor.Error, Text: st.Log.ReadOnly,
			Next: "emberd status"}
	}
	e.add(f)
}

// warnings are what waits for the user, and what else the daemon warns of, but for what was found here, too.
func (e *diagnostics) warnings(context.Context) error {
	if e.status == nil {
		return nil
	}
	e.waits()
	for _, w := range otherWarnings(e.status) {
		if !e.isDuplicateWarning(w) {
			e.add(doctor.Finding{Area: "warning", Code: "daemon-warning", Severity: doctor.Warning, Text: w,
				Next: nextOf(w)})
		}
	}
	return nil
}

// nextOf is the command that a warning of the daemon's names, or the one that shows it.
func nextOf(warning string) string {
	if strings.Contains(warning, "run: emberd doctor log repair") {
		return "emberd doctor log repair"
	}
	return "emberd status"
}

// isDuplicateWarning reports whether a warning of the daemon's is about something that was found.
func (e *diagnostics) isDuplicateWarning(warning string) bool {
	for words, area := range map[string]string{"restored without": "log", "fs.inotify": "watches",
		"the disk of": "disk", "check the clock": "clock", "emberd accepts no tokens": "tokens"} {
		found := slices.ContainsFunc(e.found, func(f doctor.Finding) bool { return f.Area == area && f.Code != "" })
		if found && strings.Contains(warning, words) {
			return true
		}
	}
	return false
}

// end is the command that ends the daemon, which its service starts again. Without one, the next
// is started once it is gone: it keeps the folders while it ends.
func (e *diagnostics) end(signal string) string {
	switch {
	case e.serviced():
		return "emberd service restart"
	case e.pid == 0: // it leaves its number a moment after it took the folders
		return "emberd doctor"
	}
	return fmt.Sprintf("kill %s%d && while kill -0 %d 2>/dev/null; do sleep 1; done; %s", signal, e.pid, e.pid,
		cli.Again(e.s, "serve"))
}

// start is the command that starts the daemon.
func (e *diagnostics) start() string {
	if e.serviced() {
		return "emberd service start"
	}
	return "emberd serve"
}

// serviced tells whether a service is installed for these settings.
func (e *diagnostics) serviced() bool {
	_, in, err := daemon.Installed(e.s)
	return err == nil && in.Config == e.c.File
}

func number(pid int) string {
	if pid == 0 {
		return "with unknown PID"
	}
	return fmt.Sprint(pid)
}

// others asks other daemons of this user whether they write into the same vault.
func (e *diagnostics) others(ctx context.Context) error {
	for _, v := range daemon.VaultSharers(ctx, doctor.Sockets(e.c.Socket), e.c.State, e.served()) {
		e.add(doctor.Finding{Area: "daemons", Code: "two-daemons", Severity: doctor.Error, Text: v.Text(e.c.Data),
			Next: "emberd status --socket " + text.ShellQuote(v.Socket)})
	}
	return nil
}

// log reads every log file, and compares the clock with what is in them.
func (e *diagnostics) log(ctx context.Context) error {
	if err := stm.Gone(durable.OS{}, e.c.Data, e.c.State); errors.Is(err, stm.ErrLogGone) {
		e.add(doctor.Finding{Area: "log", Code: "log-gone", Severity: doctor.Error, Text: err.Error(),
			Next: "emberd doctor log repair"})
		return nil
	}
	r, err := readLog(ctx, e.s, e.c.Data)
	if err == nil && len(r.Files) == 0 || errors.Is(err, fs.ErrNotExist) {
		e.add(doctor.Finding{Area: "log", Severity: doctor.OK, Text: "no memories saved yet in " + e.c.Data})
		return nil
	}
	if err != nil {
		return err
	}
	lines, bytes := 0, int64(0)
	for _, f := range r.Files {
		lines, bytes = lines+f.Lines, bytes+f.Bytes
	}
	f := doctor.Finding{Area: "log", Severity: doctor.OK,
		Text: fmt.Sprintf("%s in %s, %s", cli.Count(lines, "line", "lines"), cli.Count(len(r.Files), "file", "files"),
			cli.Size(bytes))}
	bare := bareTrash(e.s, r)
	if wrong := r.Wrong() + min(1, bare); wrong > 0 {
		f.Code, f.Severity, f.Next = "log-damaged", doctor.Warning, "stop emberd, and run: emberd doctor log repair"
		f.Text += ": " + cli.Count(wrong, "problem found", "problems found") + " (run: emberd doctor log check)"
		if bare > 0 {
			f.Text += "; " + bareText(bare)
		}
	}
	e.add(f)
	e.saved = r.Newest()
	for _, f := range r.Files {
		if !f.Newest.IsZero() && (e.began.IsZero() || f.Newest.Before(e.began)) {
			e.began = f.Newest
		}
	}
	e.copies(r)
	e.add(doctor.Clock(e.s.Now(), r.Newest())...)
	return nil
}

// backup looks at the newest backup, and at why the last automatic one failed.
func (e *diagnostics) backup(ctx context.Context) error {
	found, err := doctor.Backups(ctx, core.BackupFolder(e.c.State), e.began, e.saved, e.s.Now())
	e.add(found...)
	return err
}

// quarantine counts the damaged lines that wait for a decision: those that starts met. Their
// list would open the log, which takes its lock and writes.
func (e *diagnostics) quarantine(context.Context) error {
	n, err := stm.CountQuarantined(durable.OS{}, e.c.State)
	if err != nil || n == 0 {
		return err
	}
	e.add(doctor.Finding{Area: "quarantine", Code: "quarantine", Severity: doctor.Warning,
		Text: cli.Count(n, "damaged line", "damaged lines") + " to review",
		Next: "emberd doctor quarantine list"})
	return nil
}

// index looks whether what searches are answered from is whole.
func (e *diagnostics) index(context.Context) error {
	e.add(doctor.Index(e.places, e.status != nil || e.held, e.end(""))...)
	if e.status != nil && e.status.Loading != nil {
		e.add(doctor.Finding{Area: "index", Code: "index-loading", Severity: doctor.Note, Text: "the index " +
			"is not complete: " +
			indexed(e.status.Loading) + "; searches still work"})
	}
	return nil
}

// served are the vaults of the settings, and those that the daemon was started with.
func (e *diagnostics) served() []string {
	dirs := slices.Clone(e.c.Vaults)
	if e.status == nil {
		return dirs
	}
	for _, v := range e.status.Vaults {
		if v.Path != "" && !cli.SameVaults(dirs, v.Path) { // a token is not told where they are
			dirs = append(dirs, v.Path)
		}
	}
	return dirs
}

// vaults looks at each vault.
func (e *diagnostics) vaults(ctx context.Context) error {
	for _, dir := range e.served() {
		if e.released(dir) {
			e.add(doctor.Finding{Area: "vault", Code: "vault-released", Severity: doctor.Note,
				Next: "emberd vault reopen",
				Text: fmt.Sprintf("emberd has closed the files of vault %s, so you can "+
					"unmount the disk; emberd did not check the vault", dir)})
			continue
		}
		survey, err := doctor.Vault(ctx, dir, e.c.Vault.ArchiveFolder, e.c.Vault.Ignore, e.settles(ctx, dir))
		if err != nil {
			return err
		}
		e.folders += survey.Folders
		e.add(survey.Findings...)
		e.remote = e.remote || slices.ContainsFunc(survey.Findings,
			func(f doctor.Finding) bool { return f.Code == "vault-remote" })
	}
	return nil
}

// settles asks the daemon which second notes of memories in a vault it settles by itself or asks about.
func (e *diagnostics) settles(ctx context.Context, dir string) func() map[string]doctor.Copy {
	if e.status == nil {
		return nil
	}
	return sync.OnceValue(func() map[string]doctor.Copy {
		res, err := cli.Call(ctx, e.s, op.VaultCheck, &op.VaultCheckRequest{Limit: op.MostFindings})
		if err != nil || !cli.SameVaults([]string{dir}, res.Path) {
			return nil
		}
		all := make(map[string]doctor.Copy)
		for _, f := range res.Findings {
			switch {
			case f.Item != "":
				all[f.Path] = doctor.Copy{Text: f.Text, Next: "emberd review show " + f.Item}
			case f.Waits:
				all[f.Path] = doctor.Copy{Text: f.Text}
			}
		}
		return all
	})
}

// released reports whether the daemon was told to let go of a vault.
func (e *diagnostics) released(dir string) bool {
	return e.status != nil && slices.ContainsFunc(e.status.Vaults, func(v op.VaultStatus) bool {
		return v.Released && cli.SameVaults([]string{dir}, v.Path)
	})
}

// watches compares the folders of the vaults with what the system lets be watched.
func (e *diagnostics) watches(context.Context) error {
	if runtime.GOOS != "linux" || e.remote {
		return nil
	}
	watched := e.status != nil && len(e.status.Vaults) > 0 && !slices.ContainsFunc(e.status.Vaults,
		func(v op.VaultStatus) bool { return v.Mode != string(watcher.Watching) })
	e.add(doctor.Watches("/proc", e.folders, watched)...)
	return nil
}

func (e *diagnostics) disk(context.Context) error {
	e.add(doctor.Disk(e.c.Data, "emberd doctor log compact")...)
	if !sameDisk(e.c.Data, e.c.State) {
		e.add(doctor.Disk(e.c.State, "emberd backup list")...)
	}
	return nil
}
