package bench

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peers are other programs that index a vault.
type peers struct {
	vault   string
	fts5    string // database of SQLite, "" without SQLite
	recoll  *filesPeer
	missing []string // sentences about what is not installed
}

// recollLimit is the largest vault that recoll is given, which takes it minutes.
const recollLimit = 10_000

func findPeers(b *testing.B, v *notesVault) peers {
	b.Helper()
	p, dir := peers{vault: v.dir}, b.TempDir()
	probe := "import sqlite3; sqlite3.connect(':memory:').execute('CREATE VIRTUAL TABLE t USING fts5(a)')"
	if err := exec.CommandContext(b.Context(), "python3", "-c", probe).Run(); err != nil {
		p.missing = append(p.missing, "not compared with SQLite: python3 with FTS5 is not installed")
	} else {
		p.fts5 = filepath.Join(dir, "fts5.db")
	}
	if _, err := exec.LookPath("recollindex"); err != nil {
		p.missing = append(p.missing, "not compared with recoll: recollindex is not installed (Debian: recollcmd)")
	} else if len(v.paths) <= recollLimit {
		var err error
		if p.recoll, err = newRecoll(b, &itemSet{dir: v.dir}); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// index has every peer index the vault, from nothing, and sets the time that
// emberd took beside theirs.
func (p *peers) index(b *testing.B, emberd time.Duration, got *figures) {
	b.Helper()
	if p.fts5 != "" {
		took, processor, words := p.indexFTS5(b)
		got.add("FTS5-s", took.Seconds())
		got.add("FTS5-CPU-s", processor.Seconds())
		got.add("wall/FTS5", emberd.Seconds()/took.Seconds())
		got.add("FTS5-index-MB", words)
		got.add("FTS5-file-MB", folderMB(b, p.fts5))
	}
	if p.recoll != nil {
		took, processor := p.indexRecoll(b)
		got.add("recoll-s", took.Seconds())
		got.add("recoll-CPU-s", processor.Seconds())
		got.add("wall/recoll", emberd.Seconds()/took.Seconds())
		got.add("recoll-index-MB", folderMB(b, filepath.Join(p.recoll.index, "xapiandb")))
	}
}

const fts5Script = "testdata/fts5.py"

// indexFTS5 tells how large the index is without the texts, which the file has too.
func (p *peers) indexFTS5(b *testing.B) (took, processor time.Duration, megabytes float64) {
	b.Helper()
	if err := os.RemoveAll(p.fts5); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	cmd := exec.CommandContext(b.Context(), "python3", fts5Script, "build", p.fts5, p.vault)
	out, err := cmd.Output()
	took = time.Since(begun)
	if err != nil {
		b.Fatalf("index with SQLite: %v", err)
	}
	size, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		b.Fatal(err)
	}
	return took, processorTime(cmd), float64(size) / 1e6
}

func (p *peers) indexRecoll(b *testing.B) (took, processor time.Duration) {
	b.Helper()
	if err := os.RemoveAll(filepath.Join(p.recoll.index, "xapiandb")); err != nil {
		b.Fatal(err)
	}
	cmd := p.recoll.learn("")
	begun := time.Now()
	if _, err := p.recoll.run(cmd); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun), processorTime(cmd)
}

// fts5Session is a session of SQLite that answers questions in its own process.
type fts5Session struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// openFTS5 starts a session; the database is made when it is not there yet.
func (p *peers) openFTS5(b *testing.B) *fts5Session {
	b.Helper()
	if _, err := os.Stat(p.fts5); err != nil {
		p.indexFTS5(b)
	}
	cmd := exec.CommandContext(b.Context(), "python3", fts5Script, "ask", p.fts5)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = in.Close(), cmd.Wait() }) // it may have been ended already
	return &fts5Session{in, bufio.NewScanner(out)}
}

// ask tells the time that SQLite took, without the way to it and back.
func (s *fts5Session) ask(b *testing.B, q question) (took time.Duration, hits int) {
	b.Helper()
	line, _ := json.Marshal(map[string]string{"match": q.fts5(), "folder": q.folder}) // strings have no error
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		b.Fatal(err)
	}
	if !s.out.Scan() {
		b.Fatalf("SQLite has no answer: %v", s.out.Err())
	}
	var answer struct {
		Nanos time.Duration `json:"nanos"`
		Hits  int           `json:"hits"`
	}
	if err := json.Unmarshal(s.out.Bytes(), &answer); err != nil {
		b.Fatal(err)
	}
	return answer.Nanos, answer.Hits
}

// askRecoll asks in a process of its own, as there is no session.
func (p *peers) askRecoll(b *testing.B, words []string) (took time.Duration, hits int) {
	b.Helper()
	if _, err := os.Stat(filepath.Join(p.recoll.index, "xapiandb")); err != nil {
		p.indexRecoll(b)
	}
	said, took, err := p.recoll.search(words, "")
	if err != nil {
		b.Fatalf("ask recoll: %v", err)
	}
	return took, strings.Count(said, "file://")
}
