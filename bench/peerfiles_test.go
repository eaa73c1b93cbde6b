package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"emberd/internal/durable"
)

// filesPeer is a program that searches files, and starts anew for each question. Memories are lines of one file for it,
// or a file each.
type filesPeer struct {
	set   *itemSet
	dir   string // that has the memories; the vault for notes
	each  bool   // a file for each memory
	index string // folder of its index, "" for none
	ask   func(words []string) *exec.Cmd
	learn func(file string) *exec.Cmd // brings a new file into its index; nil without one
	peak  int64                       // kilobytes, of the greediest process
}

// memoryFile is the file that has all memories as lines.
const memoryFile = "memories.txt"

// newRipgrep searches without an index, for any of the words.
func newRipgrep(b *testing.B, set *itemSet) *filesPeer {
	p := &filesPeer{set: set, dir: set.dir}
	if p.dir == "" {
		p.dir = b.TempDir()
	}
	p.ask = func(words []string) *exec.Cmd {
		args := []string{"--ignore-case", "--word-regexp", "--no-messages", "--no-line-number", "--color=never"}
		if set.dir != "" {
			args = append(args, "--files-with-matches")
		}
		for _, word := range words {
			args = append(args, "--regexp", word)
		}
		return exec.CommandContext(b.Context(), "rg", append(args, p.dir)...)
	}
	return p
}

// newRecoll leaves out what recoll does beyond words: spelling suggestions.
func newRecoll(b *testing.B, set *itemSet) (*filesPeer, error) {
	p := &filesPeer{set: set, dir: set.dir, each: true, index: b.TempDir()}
	if p.dir == "" {
		p.dir = b.TempDir()
	}
	config := fmt.Sprintf("topdirs = %s\nindexstemminglanguages = english\nnoaspell = 1\nloglevel = 2\n", p.dir)
	p.learn = func(file string) *exec.Cmd {
		if file == "" {
			return exec.CommandContext(b.Context(), "recollindex", "-c", p.index)
		}
		return exec.CommandContext(b.Context(), "recollindex", "-c", p.index, "-i", file)
	}
	p.ask = func(words []string) *exec.Cmd {
		return exec.CommandContext(b.Context(), "recollq", "-c", p.index, "-b", "-n", "10", strings.Join(words, " OR "))
	}
	return p, os.WriteFile(filepath.Join(p.index, "recoll.conf"), []byte(config), 0o600)
}

func (p *filesPeer) load(set *itemSet, _ time.Time) (int, error) {
	if set.dir == "" {
		if err := p.lay(set); err != nil {
			return 0, err
		}
	}
	if p.learn == nil {
		return len(set.items), nil
	}
	_, err := p.run(p.learn(""))
	return len(set.items), err
}

// lay writes memories as files.
func (p *filesPeer) lay(set *itemSet) error {
	var all bytes.Buffer
	for _, it := range set.items {
		if !p.each {
			fmt.Fprintf(&all, "%s %s\n", it.ID, it.Text)
		} else if err := os.WriteFile(p.file(it.ID), []byte(it.Text), 0o600); err != nil {
			return err
		}
	}
	if p.each {
		return nil
	}
	return os.WriteFile(filepath.Join(p.dir, memoryFile), all.Bytes(), 0o600)
}

func (p *filesPeer) file(id string) string { return filepath.Join(p.dir, id+".txt") }

// run tells what a process said, and keeps how much memory it took.
func (p *filesPeer) run(cmd *exec.Cmd) (string, error) {
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	err := cmd.Run()
	p.peak = max(p.peak, peakOf(cmd.ProcessState))
	if err != nil {
		return "", fmt.Errorf("%s: %w: %.300s", filepath.Base(cmd.Path), err, complaint.String())
	}
	return said.String(), nil
}

func (p *filesPeer) search(words []string, _ string) (string, time.Duration, error) {
	begun := time.Now()
	said, err := p.run(p.ask(words))
	took := time.Since(begun)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", took, nil // ripgrep's way to say that it found nothing
	}
	return said, took, err
}

// save appends a line or writes a file, syncs it, and has it indexed.
func (p *filesPeer) save(it item) (time.Duration, error) {
	name, text := filepath.Join(p.dir, memoryFile), it.ID+" "+it.Text+"\n"
	if p.each {
		name, text = p.file(it.ID), it.Text
	}
	begun := time.Now()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && p.each {
		err = durable.OS{}.SyncDir(p.dir)
	}
	if err == nil && p.learn != nil {
		_, err = p.run(p.learn(name))
	}
	return time.Since(begun), err
}

func (p *filesPeer) known(i int) string { return p.set.items[i].ID }

func (p *filesPeer) footprint() (diskMB, peakMB float64, err error) {
	dir := p.index
	if dir == "" && p.set.dir == "" {
		dir = p.dir
	}
	if dir != "" {
		diskMB, err = folderBytes(dir)
	}
	return diskMB / 1e6, float64(p.peak) * 1024 / 1e6, err
}
