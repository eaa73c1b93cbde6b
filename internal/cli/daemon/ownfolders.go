package daemon

import (
	"errors"
	"io/fs"
	"os"

	"emberd/api"
	"emberd/internal/config"
	"emberd/internal/durable"
	"emberd/memory"
)

// ownFolders refuses folders of memories that others may write to: they could put a log of their own there. Without a
// state folder, it refuses a socket that is in use. Folders that are not there yet are made for us alone.
func ownFolders(c *config.Config) error {
	return errors.Join(ownFolder("data", c.Data), ownFolder("state", c.State), firstAlone(c))
}

// firstAlone refuses to make folders for a daemon that cannot start, because another one listens at its socket.
// If the folders are there, their lock decides first, which names them. A service manager may listen for this
// daemon.
func firstAlone(c *config.Config) error {
	_, err := os.Stat(c.State)
	if !errors.Is(err, fs.ErrNotExist) || os.Getenv("LISTEN_FDS") != "" {
		return nil
	}
	_, err = api.SocketFree(c.Socket)
	return err
}

// ownFolder checks one. File systems without modes show the same for every file, and what
// they are mounted with decides.
func ownFolder(what, dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return memory.Errorf(memory.Unavailable, "cannot access the %s folder %s: %w", what, dir, err)
	}
	if !info.IsDir() || !durable.OthersWrite(info) || !keepsModes(dir) {
		return nil
	}
	return memory.Errorf(memory.Forbidden,
		"the %s folder %s is writable by other users (mode %04o), so they can change your memories; run: chmod go-w %s",
		what, dir, info.Mode().Perm(), dir)
}

// keepsModes reports whether a file in a folder can be closed to others.
func keepsModes(dir string) bool {
	f, err := os.CreateTemp(dir, ".modes-*")
	if err != nil {
		return true
	}
	info, err := f.Stat()
	_ = errors.Join(f.Close(), os.Remove(f.Name())) // if it stays it is empty and closed to others
	return err != nil || info.Mode().Perm()&0o077 == 0
}
