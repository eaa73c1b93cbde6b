package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"emberd/engine/core"
	"emberd/internal/backup"
	"emberd/internal/cli"
	"emberd/internal/durable"
	"emberd/internal/ledger"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
	"emberd/stm/content"
)

func BackupCommand(s *cli.App) *cobra.Command {
	return cli.Group("backup",
		backupCreateCommand(s), backupListCommand(s), backupRestoreCommand(s))
}

func backupCreateCommand(s *cli.App) *cobra.Command {
	return cli.Command("create [FILE]", cli.ArgCount(0, 1, "at most one file"), nil,
		func(cmd *cobra.Command, args []string) error {
			req := &op.BackupCreateRequest{}
			if len(args) > 0 {
				var err error
				if req.File, err = filepath.Abs(args[0]); err != nil {
					return fmt.Errorf("find %s: %w", args[0], err)
				}
			}
			res, err := cli.Reach(cmd.Context(), s, op.BackupCreate, req)
			if memory.CodeOf(err) == memory.Forbidden && req.File != "" { // its sandbox does not reach there
				res, err = backupTo(cmd.Context(), s, req.File)
			}
			if err != nil {
				return err
			}
			if err := s.Answer(res, func() { printCreated(s, res) }); err != nil || len(res.Damaged) == 0 {
				return err
			}
			if res.Healed && res.LostTrash == 0 {
				return nil
			}
			return &cli.Exit{Code: cli.ExitNothing, Err: fmt.Errorf(
				"the backup is complete, but the log on disk is damaged: %s; run: emberd status",
				strings.Join(res.Damaged, "; "))}
		})
}

func printCreated(s *cli.App, res *op.BackupCreateResult) {
	s.Printf("%s\n", res.File)
	s.Note("compared %s in the backup with the daemon; log: %s in %s, compressed to %s",
		cli.Count(res.Memories, "memory", "memories"), cli.Size(res.Content), cli.Count(res.Files, "file", "files"),
		cli.Size(res.Bytes))
	if res.FromMemory > 0 {
		s.Note("the log on disk lacked %s; emberd added the missing records from RAM",
			cli.Count(res.FromMemory, "memory", "memories"))
	}
	if res.Healed {
		s.Note("emberd wrote the missing records to the log again; the log was damaged: %s",
			strings.Join(res.Damaged, "; "))
	}
	if res.LostTrash > 0 {
		s.Note("the trash lost %s, because neither the log nor the daemon contains the text",
			cli.Count(res.LostTrash, "memory", "memories"))
	}
}

// backupReport is one backup as backup list shows it.
type backupReport struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok"`
	Problem  string    `json:"problem,omitempty"`
	Bytes    int64     `json:"bytes"`
	Created  time.Time `json:"created,omitzero"`
	Device   string    `json:"device,omitempty"`
	Emberd   string    `json:"emberd,omitempty"`
	Memories int       `json:"memories"`
	Files    int       `json:"files"`
	Content  int64     `json:"content_bytes"`
	// Compared says that what its files add up to was compared with what the daemon held. FromMemory
	// counts what they lacked then and that was added, Damaged says what was wrong with the log.
	Compared   bool     `json:"compared"`
	Automatic  bool     `json:"automatic,omitempty"`
	Trash      int      `json:"trash,omitempty"`
	FromMemory int      `json:"from_memory,omitempty"`
	LostTrash  int      `json:"lost_trash,omitempty"`
	Damaged    []string `json:"damaged,omitempty"`
}

func backupListCommand(s *cli.App) *cobra.Command {
	return cli.Command("list [FILE…]", nil, nil, func(cmd *cobra.Command, args []string) error {
		files, err := backupFiles(s, args)
		if err != nil {
			return err
		}
		reports, whole := []backupReport{}, 0
		for _, name := range files {
			r, err := inspectBackup(cmd.Context(), name)
			if err != nil {
				return err
			}
			if reports = append(reports, r); r.OK {
				whole++
			}
		}
		if whole < len(reports) {
			whole = 0 // ends with "a part of it failed"
		}
		return s.Found(map[string]any{"backups": reports}, whole, func() { printBackups(s, reports) })
	})
}

// backupFiles are the files named, or all in the folder of backups.
func backupFiles(s *cli.App, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	c, err := s.Load()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(cli.Globbed(core.BackupFolder(c.State)), "*.tar.gz"))
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	return files, nil
}

func inspectBackup(ctx context.Context, name string) (backupReport, error) {
	r := backupReport{File: name}
	if info, err := os.Stat(name); err == nil {
		r.Bytes = info.Size()
	}
	m, err := backup.Verify(ctx, durable.OS{}, name)
	if err != nil && ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Problem = err.Error()
		return r, nil
	}
	r.OK, r.Created, r.Device, r.Emberd, r.Memories = true, m.Created, m.Device, m.Emberd, m.Memories
	r.Files, r.Content, r.Compared, r.Automatic = len(m.Files), m.Bytes(), m.Holds != nil, m.Automatic
	r.Trash, r.FromMemory = m.Holds[content.Trash].Memories, m.FromMemory
	r.LostTrash, r.Damaged = m.LostTrash, m.Damaged
	return r, nil
}

func printBackups(s *cli.App, reports []backupReport) {
	if len(reports) == 0 {
		s.Note("no backups yet; run: emberd backup create")
	}
	for _, r := range reports {
		if !r.OK {
			s.Printf("%s\n    %s\n", cli.Flat(r.File), s.Screen.Paint(cli.Red, cli.Clean(r.Problem)))
			continue
		}
		s.Printf("%s\n    %s, %s, %s in %s, device %s: %s\n", cli.Flat(r.File), s.When(r.Created),
			cli.Count(r.Memories, "memory", "memories"), cli.Size(r.Content), cli.Count(r.Files, "file", "files"),
			r.Device, wholeness(&r))
		for _, text := range r.Damaged {
			s.Printf("    %s\n", s.Screen.Paint(cli.Yellow, cli.Clean("the log was damaged at "+
				"the time of the backup: "+text)))
		}
	}
}

// wholeness says what of a backup was compared.
func wholeness(r *backupReport) string {
	switch {
	case !r.Compared:
		return "checksums correct; an earlier version of emberd created the backup, " +
			"so emberd cannot compare the memories"
	case r.LostTrash > 0:
		return fmt.Sprintf("intact; emberd added %s from RAM; texts lost in the trash: %d",
			cli.Count(r.FromMemory, "memory", "memories"), r.LostTrash)
	case r.FromMemory > 0:
		return fmt.Sprintf("intact; emberd added %s from RAM", cli.Count(r.FromMemory, "memory", "memories"))
	}
	return "intact, memories compared"
}

func backupRestoreCommand(s *cli.App) *cobra.Command {
	var replace bool
	cmd := cli.Command("restore FILE", cli.ArgCount(1, 1, "one backup"), s.Offer(completeBackups),
		func(cmd *cobra.Command, args []string) error {
			return restoreBackup(cmd.Context(), s, args[0], replace)
		})
	cmd.Flags().BoolVar(&replace, "replace", false, "")
	return cmd
}

func restoreBackup(ctx context.Context, s *cli.App, name string, replace bool) (err error) {
	c, err := s.Load()
	if err != nil {
		return err
	}
	if name, err = findBackup(c.State, name); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(c.Data)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = c.Data, nil
	}
	if err != nil {
		return restoreError(name, c.Data, err)
	}
	if err := durable.MkdirAll(durable.OS{}, c.State); err != nil {
		return restoreError(name, c.Data, err)
	}
	lock, err := durable.AcquireLock(filepath.Join(c.State, "daemon.lock"))
	if errors.Is(err, durable.ErrLocked) {
		return &cli.Exit{Code: cli.ExitLocked,
			Err: fmt.Errorf("the daemon is running, so emberd changed nothing; stop the daemon first: %w", err)}
	}
	if err != nil {
		return restoreError(name, c.Data, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	r := restoring{state: c.State, target: target, now: s.Now}
	res, err := backup.Restore(ctx, durable.OS{}, name, target, replace,
		func(fresh string, m *backup.Manifest) error { return r.settle(ctx, fresh, m) })
	if err != nil {
		return restoreError(name, target, err)
	}
	if r.unsealed != nil {
		s.Note(
			"the audit log does not contain the restore, because the chain is damaged: %v; run: emberd audit --check",
			r.unsealed)
	}
	return printRestored(s, target, res, r.purged)
}

// restoring is what a restore does between unpacking a backup and putting it in place.
type restoring struct {
	state, target string
	now           func() time.Time
	purged        int   // live memories of the backup that were purged since
	unsealed      error // why the audit log does not say that a backup was restored
}

// settle compares the unpacked log with the manifest and takes out of it what was purged here since.
func (r *restoring) settle(ctx context.Context, fresh string, m *backup.Manifest) error {
	purges, err := content.ReadPurges(ctx, durable.OS{}, r.target)
	if err == nil {
		err = core.AddPurged(durable.OS{}, r.state, purges)
	}
	if err != nil {
		return fmt.Errorf("cannot find the memories that were deleted permanently after the backup: %w", err)
	}
	if r.purged, err = m.Settle(ctx, durable.OS{}, fresh, purges, r.now()); err != nil {
		return err
	}
	// The audit log knows of changes that the backup may not have. A damaged one does not prevent a restore.
	r.unsealed = ledger.Restored(durable.OS{}, filepath.Join(r.state, core.ChainDir), r.now)
	return stm.ForgetDevice(durable.OS{}, r.state, m.Device)
}

// findBackup is the backup of a name: a path, or a file in the folder of backups.
func findBackup(state, name string) (string, error) {
	if _, err := os.Lstat(name); err == nil {
		return name, nil
	}
	if below := filepath.Join(core.BackupFolder(state), name); filepath.Base(name) == name {
		if _, err := os.Lstat(below); err == nil {
			return below, nil
		}
	}
	return "", memory.Errorf(memory.NotFound, "backup %s not found; run: emberd backup list", name)
}

func restoreError(name, data string, err error) error {
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return memory.Errorf(memory.Invalid,
			"data folder %s is not empty (nothing was changed); to rename the folder first, use --replace", data)
	case errors.Is(err, backup.ErrDamaged):
		return memory.Errorf(memory.Invalid, "%w (nothing was changed); run: emberd backup list", err)
	case errors.Is(err, backup.ErrDiffers):
		return memory.Errorf(memory.Invalid, "cannot restore %s: %w; %s was not changed; restore another backup "+
			"(run: emberd backup list), or unpack this backup with tar and run: emberd doctor log check FOLDER", name,
			err, data)
	case errors.Is(err, backup.ErrNoRoom):
		return memory.Errorf(memory.DiskFull, "cannot restore %s: %w (nothing was changed); free some disk space", name,
			err)
	case cli.IsPathError(err):
		return &cli.Exit{Code: cli.ExitDisk, Err: fmt.Errorf("restore %s: %w", name, err)}
	}
	return err
}

func printRestored(s *cli.App, target string, res *backup.Restored, purged int) error {
	if s.JSON {
		return s.PrintJSON(map[string]any{"data": target, "aside": res.Aside, "created": res.Created,
			"memories": res.Memories - purged, "purged": purged, "compared": res.Holds != nil,
			"files": len(res.Files), "content_bytes": res.Bytes()})
	}
	s.Printf("restored %s as of %s to %s\n", cli.Count(res.Memories-purged, "memory", "memories"), s.When(res.Created),
		target)
	if purged > 0 {
		s.Note("skipped %s deleted permanently after the backup", cli.Count(purged, "memory", "memories"))
	}
	if res.Holds == nil {
		s.Note("an earlier version of emberd created the backup, so emberd " +
			"could not compare the memories; run: emberd doctor log check")
	}
	if res.Aside != "" {
		s.Printf("renamed the previous data folder to %s\n", res.Aside)
		s.Note("to go back, stop the daemon, move %s away, rename %s to %s, and start emberd once with: "+
			"emberd serve --accept-empty-data", target, res.Aside, target)
	}
	return nil
}

// completeBackups offers the names in the folder of backups, and files.
func completeBackups(s *cli.App, _ *cobra.Command, _ []string, _ string) ([]cobra.Completion,
	cobra.ShellCompDirective) {
	files, err := backupFiles(s, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []cobra.Completion
	for _, f := range files {
		out = append(out, filepath.Base(f))
	}
	return out, cobra.ShellCompDirectiveDefault
}
