package hookrun

import (
	"bytes"
	"encoding/json"
	"os"
	"time"
)

const (
	maxInput  = 4 << 20     // bytes of an event
	inputWait = time.Second // for its end
)

// readInput reads an event. It does not wait for the end of a stdin that already gave one whole object, or that
// is a terminal, and gives up on one that is too long. After a wait it returns what there is.
func readInput(in *os.File, wait time.Duration) []byte {
	if info, err := in.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	pieces := make(chan []byte)
	go readPieces(in, pieces) // ends with stdin or with the process
	timer := time.NewTimer(wait)
	var all []byte
	for {
		select {
		case piece, ok := <-pieces:
			all = append(all, piece...)
			switch {
			case len(all) > maxInput:
				return nil
			case !ok || isWhole(all):
				return all
			}
		case <-timer.C:
			return all
		}
	}
}

// readPieces sends what it reads until there is no more.
func readPieces(in *os.File, pieces chan<- []byte) {
	defer close(pieces)
	for {
		piece := make([]byte, 64<<10)
		n, err := in.Read(piece)
		if n > 0 {
			pieces <- piece[:n]
		}
		if err != nil {
			return
		}
	}
}

// isWhole reports whether a text is one JSON value that ends like an object.
func isWhole(text []byte) bool {
	return bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n"), []byte("}")) && json.Valid(text)
}
