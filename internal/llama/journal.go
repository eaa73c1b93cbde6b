package llama

import (
	"strings"
	"sync"
	"unicode"
	"unsafe"
)

// The levels of ggml_log_level.
const (
	levelWarning  = 3
	levelError    = 4
	levelContinue = 5 // the rest of a line
)

// maxLine bounds a line of llama.cpp's. What is longer is cut.
const maxLine = 4096 // bytes

// A journal puts together the lines that llama.cpp says in pieces, passes them on and keeps
// the first error, to be part of an error of ours: those after it only say what has failed
// for that reason.
type journal struct {
	to func(level int, text string)

	mu    sync.Mutex // held while to is called, so that lines keep their order
	level int
	line  strings.Builder
	first string // error
}

// native is what llama.cpp calls. It is given a string in C's form.
func (j *journal) native(level int32, text *byte, _ uintptr) uintptr {
	if text != nil {
		j.hear(int(level), goString(text))
	}
	return 0
}

// goString copies a string in C's form, mostLine bytes of it.
func goString(text *byte) string {
	n := 0
	for n < maxLine && *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}

func (j *journal) hear(level int, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if level != levelContinue {
		j.flush()
		j.level = level
	}
	for {
		piece, rest, ended := strings.Cut(text, "\n")
		j.line.WriteString(piece[:min(len(piece), maxLine-min(maxLine, j.line.Len()))])
		if !ended {
			return
		}
		j.flush()
		text = rest
	}
}

// flush ends the line.
func (j *journal) flush() {
	line := strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // a model's file may have written it
			return -1
		}
		return r
	}, strings.ToValidUTF8(j.line.String(), "")))
	j.line.Reset()
	if line == "" || strings.Trim(line, ".") == "" { // how far the loading is
		return
	}
	if j.level == levelError && j.first == "" {
		j.first = line
	}
	if j.to != nil {
		j.to(j.level, line)
	}
}

// forget makes firstError tell only of what comes from now on.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.first = ""
}

// firstError is the first error since forget, or "".
func (j *journal) firstError() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.first
}
