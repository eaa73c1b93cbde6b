// Package service renders what a service manager needs to keep emberd running, a user unit
// and a socket of systemd or an agent of launchd, puts it where the manager reads it, tells
// whether what is there is still what the settings ask for, and calls the manager's own
// programs. docs/install.md describes how to use it.
//
// Rendering is pure: the same [Spec] gives the same bytes. Nothing here is shared between
// goroutines.
package service

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"emberd/internal/durable"
	"emberd/memory"
)

// Spec is what the files are made of. Paths are absolute.
type Spec struct {
	Program  string   // emberd
	Args     []string // "serve" and what follows
	Env      []string // NAME=value, which the manager does not have by itself
	Config   string   // the file of settings; by it a service is known to be about the same daemon
	Socket   string   // what systemd listens on for the daemon
	Writable []string // folders that the daemon writes to
	Network  bool     // whether settings have it connect by TCP
	Native   bool     // whether it may start native code of somebody else's
	Log      string   // where launchd writes what the daemon says; systemd has its journal
}

// A File is one that a manager reads.
type File struct {
	Name string // in the manager's folder
	Text []byte
}

// The names of the files.
const (
	UnitName   = "emberd.service"
	SocketName = "emberd.socket"
	AgentName  = Label + ".plist"
	Label      = "emberd" // of the launchd agent
)

// mark is what our files say in a line near their beginning, before the quoted name of
// the config file.
const mark = "Written by emberd service install for "

// maxFile bounds what is read from a manager's folder.
const maxFile = 1 << 20

// markOf is that line. Two hyphens would end a comment of XML, and a quoted string may say
// one of them otherwise.
func markOf(s *Spec) string {
	return mark + strings.ReplaceAll(strconv.QuoteToASCII(s.Config), "--", `-\x2d`)
}

// configOf reads the mark: which config file a file is about, "" when it is not ours.
func configOf(text []byte) string {
	_, after, _ := bytes.Cut(text, []byte(mark))
	quoted, err := strconv.QuotedPrefix(string(after))
	if err != nil {
		return ""
	}
	name, _ := strconv.Unquote(quoted) // which QuotedPrefix has checked
	return name
}

// Installed is what a manager's folder has.
type Installed struct {
	Config  string   // the config file that it was made for, "" when nothing is there
	Present []string // paths of the files that are there
	Stale   []string // paths of those that are not what the settings ask for, the missing among them
}

// Look compares what is in dir with files. A file of our name that we did not write is an
// error with [memory.Conflict]. With nothing there, nothing is stale.
func Look(dir string, files []File) (*Installed, error) {
	in := &Installed{}
	var missing []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		text, err := read(path)
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, path)
			continue
		}
		if err != nil {
			return nil, err
		}
		config := configOf(text)
		if config == "" {
			return nil, memory.Errorf(memory.Conflict,
				"the command emberd service install did not write %s; move the file to another folder first", path)
		}
		in.Config = config
		in.Present = append(in.Present, path)
		if !bytes.Equal(text, f.Text) {
			in.Stale = append(in.Stale, path)
		}
	}
	if len(in.Present) > 0 {
		in.Stale = append(in.Stale, missing...)
	}
	return in, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, memory.Errorf(memory.Conflict,
			"the command emberd service install did not write %s; move the file to another folder first", path)
	}
	return durable.ReadGiven(path, maxFile)
}

// Write puts files into dir, which it makes, and returns the paths of those that were not
// there like that already. Each is whole or as it was.
func Write(dir string, files []File) (changed []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the service folder: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if text, err := read(path); err == nil && bytes.Equal(text, f.Text) {
			continue
		}
		if err := durable.ReplaceFile(durable.OS{}, path, f.Text); err != nil {
			return changed, err
		}
		changed = append(changed, path)
	}
	return changed, nil
}

// Remove removes the files at paths that are there, and returns them.
func Remove(paths []string) (removed []string, err error) {
	for _, path := range paths {
		switch err := os.Remove(path); {
		case err == nil:
			removed = append(removed, path)
		case !errors.Is(err, fs.ErrNotExist):
			return removed, fmt.Errorf("cannot remove the service: %w", err)
		}
	}
	return removed, nil
}
