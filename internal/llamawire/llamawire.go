// Package llamawire is what emberd and its helper emberd-llama say to each other.
//
// The helper is told on its command line which libraries and which model to load, reads
// requests from standard input and writes replies to descriptor 3: what native code
// prints, wherever it prints it, stays out of them. The first reply is a [Hello]. Then
// each request has one reply, in the order of the requests. At the end of its input the
// helper exits.
//
// A message is a frame: four bytes with the length of the rest, little endian, a header
// as one line of JSON, and for vectors the numbers as float32, little endian. A frame has
// at most [MostBytes]; what is longer, or breaks off, is an error, and nothing can be
// read after it. Readers and writers are for one goroutine.
package llamawire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Protocol is the version of what is said here. Both ends are built together, so the
// helper of another version is refused.
const Protocol = 1

// MaxBytes is the most that a frame may have after its length.
const MaxBytes = 64 << 20

// ReplyFD is the descriptor that the helper writes its replies to.
const ReplyFD = 3

// Warning begins the lines of standard error that only warn, and are no reason for an end.
const Warning = "llama.cpp warns: "

// Hello reports what the helper runs, or why it cannot.
type Hello struct {
	Protocol int     `json:"protocol"`
	Version  string  `json:"version"` // of the helper
	Engine   Engine  `json:"engine"`
	Model    *Model  `json:"model,omitempty"` // nil without one to load
	Failed   *Failed `json:"failed,omitempty"`
}

// Engine is what the libraries say of themselves.
type Engine struct {
	Release  string   `json:"release,omitempty"` // such as v0.5.0 or b8390; "" if nothing tells
	System   string   `json:"system,omitempty"`  // what llama.cpp prints of the processor's abilities
	Backends []string `json:"backends,omitempty"`
	Warning  string   `json:"warning,omitempty"` // that it is older than what was tested, or unknown
}

// Model is what was loaded.
type Model struct {
	SHA256    string `json:"sha256"` // of the file, in hex
	Dim       int    `json:"dim"`
	Context   int    `json:"context"`    // tokens that it was trained with
	MaxTokens int    `json:"max_tokens"` // of a text that count
	Pooling   string `json:"pooling"`
}

// Failed is why a helper cannot work, or a text has no vector.
type Failed struct {
	// Of is what the failure is of.
	Of   Part   `json:"of"`
	Text string `json:"text"`
}

func (f *Failed) Error() string { return f.Text }

// Part is what a failure is of.
type Part string

// The parts. A text fails alone; the others end the helper.
const (
	OfEngine Part = "engine" // the libraries
	OfModel  Part = "model"  // the model's file, whatever the libraries
	OfBoth   Part = "both"   // this model with these libraries
	OfFile   Part = "file"   // a file that could not be read this time
	OfText   Part = "text"

	// OfSandbox is the sandbox, without which the libraries are not loaded.
	OfSandbox Part = "sandbox"
)

// Request asks for the vector of a text, or only for its tokens.
type Request struct {
	ID     uint64 `json:"id"`
	Text   string `json:"text"`
	Count  bool   `json:"count,omitempty"` // tokens only
	Thread int    `json:"threads,omitempty"`
}

// Reply answers the request of its ID.
type Reply struct {
	ID      uint64    `json:"id"`
	Tokens  int       `json:"tokens"`            // of the whole text, with those of its ends
	Unknown float64   `json:"unknown,omitempty"` // share of them that the model does not know
	Failed  *Failed   `json:"failed,omitempty"`
	Vector  []float32 `json:"-"` // of unit length; nil where only tokens were asked for
}

// Write writes one message. Of a Reply the vector follows its header.
func Write(to io.Writer, message any) error {
	header, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	frame := make([]byte, 4, 4+len(header)+1)
	frame = append(append(frame, header...), '\n')
	if reply, ok := message.(*Reply); ok {
		for _, x := range reply.Vector {
			frame = binary.LittleEndian.AppendUint32(frame, math.Float32bits(x))
		}
	}
	if len(frame)-4 > MaxBytes {
		return fmt.Errorf("a message of %d bytes is too long (limit %d)", len(frame)-4, MaxBytes)
	}
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-4))
	if _, err := to.Write(frame); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return nil
}

var errBroken = errors.New("the message is not a line of JSON followed by numbers")

// Read reads one message. The error is io.EOF where nothing follows, and wraps
// io.ErrUnexpectedEOF where a message breaks off.
func Read(from io.Reader, message any) error {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("read a message: %w", err)
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > MaxBytes {
		return fmt.Errorf("cannot read a message: it has %d bytes (limit %d)", n, MaxBytes)
	}
	var frame bytes.Buffer
	if _, err := io.CopyN(&frame, from, int64(n)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // it is not the end of the input, but of one that died
		}
		return fmt.Errorf("cannot read a message: incomplete after %d of %d bytes: %w", frame.Len(), n, err)
	}
	header, numbers, found := bytes.Cut(frame.Bytes(), []byte{'\n'})
	reply, has := message.(*Reply)
	if !found || len(numbers)%4 != 0 || !has && len(numbers) > 0 {
		return fmt.Errorf("read a message: %w", errBroken)
	}
	if err := json.Unmarshal(header, message); err != nil {
		return fmt.Errorf("read a message: %w", errBroken)
	}
	if has && len(numbers) > 0 {
		reply.Vector = make([]float32, len(numbers)/4)
		for i := range reply.Vector {
			reply.Vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(numbers[4*i:]))
		}
	}
	return nil
}
