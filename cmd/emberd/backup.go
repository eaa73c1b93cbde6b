package main

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

	"emberd/engine"
	"emberd/internal/backup"
	"emberd/internal/durable"
	"emberd/memory"
	"emberd/op"
	"emberd/stm"
)

func (s *state) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Keep the log as one file, and bring it back",
		Long: `Keep the log as one file, and bring it back. A backup holds every memory with
its history, as of one moment, also while the daemon runs; a damaged one is
noticed and refused. It is a tar archive in gzip. It is not encrypted.`,
		Example: `  emberd backup create
  emberd backup list
  emberd backup restore emberd-20260131T120000.000Z-k7q2mzxa.tar.gz`,
		Annotations: exits(endings{exitNothing: ""}),
	}
	asGroup(cmd)
	cmd.AddCommand(s.backupCreateCommand(), s.backupListCommand(), s.backupRestoreCommand())
	return cmd
}

func (s *state) backupCreateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "create [FILE]",
		Short: "Write a backup, also while the daemon runs",
		Long: `Write a backup to a new FILE, or to a file named after the time in the folder
backups of the state directory. It is on the disk when the command returns.`,
		Example: `  emberd backup create
  emberd backup create /mnt/stick/emberd.tar.gz`,
		Annotations: exits(endings{exitNoDaemon: "", exitLocked: "", exitDisk: "", exitAgain: ""}),
		Args:        takes(0, 1, "at most one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req := &op.BackupCreateRequest{}
			if len(args) > 0 {
				var err error
				if req.File, err = filepath.Abs(args[0]); err != nil {
					return fmt.Errorf("find %s: %w", args[0], err)
				}
			}
			res, err := reach(cmd.Context(), s, op.BackupCreate, req)
			if memory.CodeOf(err) == memory.Forbidden && req.File != "" { // its sandbox does not reach there
				res, err = s.backupTo(cmd.Context(), req.File)
			}
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(res)
			}
			s.printf("%s\n", res.File)
			s.note("%s of log in %s, packed into %s", size(res.Content), count(res.Files, "file", "files"), size(res.Bytes))
			return nil
		},
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
}

func (s *state) backupListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [FILE…]",
		Short: "List backups and verify every byte of each",
		Long: `List backups, those named or those in the folder backups of the state directory,
and verify every byte of each.`,
		Example: `  emberd backup list
  emberd backup list /mnt/stick/emberd.tar.gz --json`,
		Annotations: exits(endings{exitDone: "all are whole", exitNothing: "one is damaged, or there is none"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := s.backupFiles(args)
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
			return s.found(map[string]any{"backups": reports}, whole, func() { s.printBackups(reports) })
		},
	}
}

// backupFiles are the files named, or all in the folder of backups.
func (s *state) backupFiles(args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(globbed(engine.BackupFolder(c.State)), "*.tar.gz"))
	if err != nil {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	return files, nil
}

// globbed is a folder's name as a pattern that stands for itself.
func globbed(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
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
	r.Files, r.Content = len(m.Files), m.Bytes()
	return r, nil
}

func (s *state) printBackups(reports []backupReport) {
	if len(reports) == 0 {
		s.note("no backups yet; make one with: emberd backup create")
	}
	for _, r := range reports {
		if !r.OK {
			s.printf("%s\n    %s\n", flat(r.File), s.screen.paint(red, clean(r.Problem)))
			continue
		}
		s.printf("%s\n    %s, %s, %s in %s, device %s: whole\n", flat(r.File), s.when(r.Created),
			count(r.Memories, "memory", "memories"), size(r.Content), count(r.Files, "file", "files"), r.Device)
	}
}

func (s *state) backupRestoreCommand() *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the data folder",
		Long: `Put a backup in the place of the data folder, while no daemon runs. All of the
backup is verified first; a damaged one is refused and nothing is touched. If
something is in the data folder, --replace moves it aside, to a name that is
told, and deletes nothing. The next start writes under a new device name. A bare
FILE is looked for in the folder of backups, too.`,
		Example: `  emberd backup restore /mnt/stick/emberd.tar.gz
  emberd backup restore emberd-20260131T120000.000Z-k7q2mzxa.tar.gz --replace`,
		Annotations: exits(endings{
			exitNothing: "no such backup", exitInput: "the backup is damaged, or the data folder is not empty",
			exitLocked: "a daemon runs; stop it first", exitDisk: "the disk is full or cannot be written",
		}),
		Args:              takes(1, 1, "one backup"),
		ValidArgsFunction: s.completeBackups,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.restoreBackup(cmd.Context(), args[0], replace)
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "move what is in the data folder aside")
	return cmd
}

func (s *state) restoreBackup(ctx context.Context, name string, replace bool) (err error) {
	c, err := s.load()
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
		return &exit{code: exitLocked, err: fmt.Errorf("an emberd runs on these folders, so that nothing was touched; stop it first: %w", err)}
	}
	if err != nil {
		return restoreError(name, c.Data, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	res, err := backup.Restore(ctx, durable.OS{}, name, target, replace, func() error { return stm.ForgetDevice(durable.OS{}, c.State) })
	if err != nil {
		return restoreError(name, target, err)
	}
	return s.printRestored(target, res)
}

// findBackup is the backup of a name: a path, or a file in the folder of backups.
func findBackup(state, name string) (string, error) {
	if _, err := os.Lstat(name); err == nil {
		return name, nil
	}
	if below := filepath.Join(engine.BackupFolder(state), name); filepath.Base(name) == name {
		if _, err := os.Lstat(below); err == nil {
			return below, nil
		}
	}
	return "", memory.Errorf(memory.NotFound, "there is no backup %s; emberd backup list shows those there are", name)
}

func restoreError(name, data string, err error) error {
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return memory.Errorf(memory.Invalid, "the data folder %s is not empty, and nothing was touched; --replace moves what is there aside", data)
	case errors.Is(err, backup.ErrDamaged):
		return memory.Errorf(memory.Invalid, "%w; nothing was touched; emberd backup list tells which backups are whole", err)
	case errors.Is(err, backup.ErrNoRoom):
		return memory.Errorf(memory.DiskFull, "%s is not restored: %w; make room first, and nothing was touched", name, err)
	case isPathError(err):
		return &exit{code: exitDisk, err: fmt.Errorf("restore %s: %w", name, err)}
	}
	return err
}

func (s *state) printRestored(target string, res *backup.Restored) error {
	if s.json {
		return s.printJSON(map[string]any{"data": target, "aside": res.Aside, "created": res.Created,
			"memories": res.Memories, "files": len(res.Files), "content_bytes": res.Bytes()})
	}
	s.printf("restored %s as of %s to %s\n", count(res.Memories, "memory", "memories"), s.when(res.Created), target)
	if res.Aside != "" {
		s.printf("what was there is now in %s\n", res.Aside)
	}
	return nil
}

// completeBackups offers the names in the folder of backups, and files.
func (s *state) completeBackups(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	files, err := s.backupFiles(nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []cobra.Completion
	for _, f := range files {
		out = append(out, filepath.Base(f))
	}
	return out, cobra.ShellCompDirectiveDefault
}
