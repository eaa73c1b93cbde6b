package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
			return s.Answer(res, func() {
				s.Printf("%s\n", res.File)
				s.Note("%s of log in %s, packed into %s", cli.Size(res.Content), cli.Count(res.Files, "file", "files"),
					cli.Size(res.Bytes))
			})
		})
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
	r.Files, r.Content = len(m.Files), m.Bytes()
	return r, nil
}

func printBackups(s *cli.App, reports []backupReport) {
	if len(reports) == 0 {
		s.Note("no backups yet; make one with: emberd backup create")
	}
	for _, r := range reports {
		if !r.OK {
			s.Printf("%s\n    %s\n", cli.Flat(r.File), s.Screen.Paint(cli.Red, cli.Clean(r.Problem)))
			continue
		}
		s.Printf("%s\n    %s, %s, %s in %s, device %s: whole\n", cli.Flat(r.File), s.When(r.Created),
			cli.Count(r.Memories, "memory", "memories"), cli.Size(r.Content), cli.Count(r.Files, "file", "files"),
			r.Device)
	}
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
			Err: fmt.Errorf("an emberd runs on these folders, so that nothing was touched; stop it first: %w", err)}
	}
	if err != nil {
		return restoreError(name, c.Data, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	res, err := backup.Restore(ctx, durable.OS{}, name, target, replace,
		func() error {
			// The audit chain knows of changes that the backup may not have.
			if err := ledger.Restored(durable.OS{}, filepath.Join(c.State, core.ChainDir), s.Now); err != nil {
				return err
			}
			return stm.ForgetDevice(durable.OS{}, c.State)
		})
	if err != nil {
		return restoreError(name, target, err)
	}
	return printRestored(s, target, res)
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
	return "", memory.Errorf(memory.NotFound, "there is no backup %s; emberd backup list shows those there are", name)
}

func restoreError(name, data string, err error) error {
	switch {
	case errors.Is(err, backup.ErrNotEmpty):
		return memory.Errorf(memory.Invalid,
			"the data folder %s is not empty, and nothing was touched; --replace moves what is there aside", data)
	case errors.Is(err, backup.ErrDamaged):
		return memory.Errorf(memory.Invalid,
			"%w; nothing was touched; emberd backup list tells which backups are whole", err)
	case errors.Is(err, backup.ErrNoRoom):
		return memory.Errorf(memory.DiskFull, "%s is not restored: %w; make room first, and nothing was touched", name,
			err)
	case cli.IsPathError(err):
		return &cli.Exit{Code: cli.ExitDisk, Err: fmt.Errorf("restore %s: %w", name, err)}
	}
	return err
}

func printRestored(s *cli.App, target string, res *backup.Restored) error {
	if s.JSON {
		return s.PrintJSON(map[string]any{"data": target, "aside": res.Aside, "created": res.Created,
			"memories": res.Memories, "files": len(res.Files), "content_bytes": res.Bytes()})
	}
	s.Printf("restored %s as of %s to %s\n", cli.Count(res.Memories, "memory", "memories"), s.When(res.Created), target)
	if res.Aside != "" {
		s.Printf("what was there is now in %s\n", res.Aside)
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
