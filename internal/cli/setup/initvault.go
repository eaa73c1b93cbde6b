package setup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"emberd/internal/cli"
	"emberd/internal/config"
	"emberd/internal/text"
	"emberd/memory"
)

// vaultFolder is the folder that somebody means, in full, if it can be a vault.
func vaultFolder(c *config.Config, text string) (string, error) {
	dir := text
	if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", memory.Errorf(memory.Invalid,
				"the home directory is unknown; set HOME, or write the full path of %s", text)
		}
		dir = filepath.Join(home, rest)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", memory.Errorf(memory.Invalid, "the working directory is unknown (%w); write the full path of %s",
			err, text)
	}
	if !utf8.ValidString(dir) || strings.ContainsFunc(dir, unicode.IsControl) {
		return "", memory.Errorf(memory.Invalid,
			"invalid vault path: it must be one line of UTF-8 without control characters; rename the folder")
	}
	return dir, checkVaultFolder(c, dir)
}

// checkVaultFolder refuses a folder that the daemon could not serve notes from.
func checkVaultFolder(c *config.Config, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return memory.Errorf(memory.NotFound, "folder %s not found; create it first, or use another folder", dir)
	case err != nil:
		return memory.Errorf(memory.Invalid, "cannot access folder %s: %w; use another folder", dir, err)
	case !info.IsDir():
		return memory.Errorf(memory.Invalid, "%s is not a folder; use the folder that Obsidian opens", dir)
	}
	for _, own := range []string{c.Data, c.State, c.Embedding.Folder} {
		if nested(dir, own) {
			return memory.Errorf(memory.Invalid,
				"vault %s and the folder %s of emberd must not contain each other; choose another folder", dir, own)
		}
	}
	if err := readable(dir); err != nil {
		return memory.Errorf(memory.Invalid, "your user cannot read %s; run: chmod u+rx %s", dir, text.ShellWord(dir))
	}
	switch err := unix.Access(dir, unix.W_OK|unix.X_OK); {
	case errors.Is(err, unix.EROFS):
		return memory.Errorf(memory.Invalid, "%s is on a read-only file system, so emberd cannot write notes into "+
			"the vault; remount the file system read-write, or use another folder", dir)
	case err != nil:
		return memory.Errorf(memory.Invalid,
			"your user cannot write to %s, but emberd writes notes into the vault; run: chmod u+w %s", dir,
			text.ShellWord(dir))
	}
	return nil
}

func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); !errors.Is(err, io.EOF) { // of an empty folder
		return err
	}
	return nil
}

// nested tells whether one of two folders lies in the other, whatever links lead there.
func nested(a, b string) bool {
	a, b = cli.Linkless(a), cli.Linkless(b)
	within := func(outer, inner string) bool {
		rel, err := filepath.Rel(outer, inner)
		return err == nil && filepath.IsLocal(rel)
	}
	return within(a, b) || within(b, a)
}

// vaultChange is what has to be set for a folder to be the vault: nothing if it is.
// "" is for no vault.
func vaultChange(c *config.Config, dir string) []cli.SettingChange {
	was, err := c.Explain("vaults")
	if err != nil || cli.SameVaults(c.Vaults, dir) {
		return nil
	}
	return []cli.SettingChange{{Setting: "vaults", Was: was.Value, Value: strings.ReplaceAll(dir, "$", "$$")}}
}
