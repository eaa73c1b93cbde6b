// Command peers answers for engines that are libraries in Go, so that the benchmark can ask each beside emberd in a
// process of its own: peers fts5 FOLDER, or peers bleve FOLDER. It reads requests and writes answers, a JSON object on a
// line each, and tells the time that the engine took without the way to it and back. It is a module of its own because
// what it imports is no part of emberd.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// item is a text with its name. A text that is in a file has its name there, from the request's folder.
type item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// engine is what is compared.
type engine interface {
	load(next func() (item, error)) error // next ends with io.EOF
	save(item) error                      // on the disk when it returns
	search(words []string) ([]string, error)
	settle() error // writes what is only in memory
	version() string
}

type request struct {
	Do    string   `json:"do"` // load, save, search or settle
	File  string   `json:"file,omitempty"`
	Dir   string   `json:"dir,omitempty"`
	Item  item     `json:"item,omitzero"`
	Words []string `json:"words,omitempty"`
}

type answer struct {
	Nanos   int64    `json:"nanos"`
	IDs     []string `json:"ids,omitempty"`
	Version string   `json:"version,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 3 {
		return errors.New("say which engine, and a folder for it: peers fts5 FOLDER")
	}
	open := map[string]func(string) (engine, error){"fts5": openFTS5, "bleve": openBleve}[os.Args[1]]
	if open == nil {
		return fmt.Errorf("%q is neither fts5 nor bleve", os.Args[1])
	}
	e, err := open(os.Args[2])
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r request
		if err := in.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := out.Encode(carryOut(e, &r)); err != nil {
			return err
		}
	}
}

func carryOut(e engine, r *request) answer {
	a := answer{Version: e.version()}
	begun, err := time.Now(), error(nil)
	switch r.Do {
	case "load":
		err = load(e, r)
	case "save":
		err = e.save(r.Item)
	case "search":
		a.IDs, err = e.search(r.Words)
	case "settle":
		err = e.settle()
	default:
		err = fmt.Errorf("%q is no request", r.Do)
	}
	a.Nanos = time.Since(begun).Nanoseconds()
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// load reads items from a file, a line each, and the texts of those that have none from the folder.
func load(e engine, r *request) error {
	f, err := os.Open(r.File)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	return e.load(func() (it item, err error) {
		if err := lines.Decode(&it); err != nil || it.Text != "" {
			return it, err
		}
		text, err := os.ReadFile(filepath.Join(r.Dir, it.ID))
		it.Text = string(text)
		return it, err
	})
}
