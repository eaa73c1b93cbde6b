package llamawire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Whatever is said is heard, message after message, however the bytes arrive.
func TestMessagesArrive(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var said []any
		var pipe bytes.Buffer
		for range rapid.IntRange(0, 5).Draw(r, "messages") {
			message := drawn(r)
			if err := Write(&pipe, message); err != nil {
				r.Fatal(err)
			}
			said = append(said, message)
		}
		from := io.Reader(&pipe)
		if rapid.Bool().Draw(r, "byte by byte") {
			from = iotest.OneByteReader(from)
		}
		for i, want := range said {
			got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
			if err := Read(from, got); err != nil {
				r.Fatalf("message %d: %v", i, err)
			}
			if !reflect.DeepEqual(got, want) {
				r.Errorf("message %d is %+v, want %+v", i, got, want)
			}
		}
		if err := Read(from, &Hello{}); err != io.EOF {
			r.Errorf("after the last message the error is %v, want io.EOF", err)
		}
	})
}

// drawn is a message of any kind.
func drawn(r *rapid.T) any {
	text := rapid.String().Draw(r, "text") // a newline and all
	var failed *Failed
	if rapid.Bool().Draw(r, "failed") {
		failed = &Failed{Of: rapid.SampledFrom([]Part{OfEngine, OfModel, OfBoth, OfFile, OfText}).Draw(r, "of"),
			Text: text}
	}
	switch rapid.IntRange(0, 2).Draw(r, "kind") {
	case 0:
		return &Hello{Protocol: Protocol, Version: text, Failed: failed, Model: &Model{Dim: 384, Pooling: text}}
	case 1:
		return &Request{ID: rapid.Uint64().Draw(r, "id"), Text: text, Count: failed != nil, Thread: 1}
	default:
		vector := rapid.SliceOf(rapid.Float32()).Draw(r, "vector")
		if len(vector) == 0 {
			vector = nil
		}
		return &Reply{ID: rapid.Uint64().Draw(r, "id"), Tokens: 5, Unknown: 0.25, Failed: failed, Vector: vector}
	}
}

// Numbers that JSON could not say arrive to the bit.
func TestNumbersArriveToTheBit(t *testing.T) {
	want := []uint32{0x7fc00001, 0xff800000, 0x80000000, 0x00000001, 0x7f7fffff}
	said := &Reply{}
	for _, bits := range want {
		said.Vector = append(said.Vector, math.Float32frombits(bits))
	}
	var pipe bytes.Buffer
	if err := Write(&pipe, said); err != nil {
		t.Fatal(err)
	}
	var heard Reply
	if err := Read(&pipe, &heard); err != nil {
		t.Fatal(err)
	}
	for i, x := range heard.Vector {
		if got := math.Float32bits(x); got != want[i] {
			t.Errorf("number %d is %#x, want %#x", i, got, want[i])
		}
	}
}

// framed is a frame that says that it has n bytes after its length.
func framed(n uint32, content string) string {
	return string(binary.LittleEndian.AppendUint32(nil, n)) + content
}

func TestWhatIsNoMessage(t *testing.T) {
	for name, test := range map[string]struct {
		bytes string
		into  any
		says  string
	}{
		"part of a length": {"\x01\x00", &Request{}, "unexpected EOF"},
		"nothing after it": {framed(3, ""), &Request{}, "incomplete after 0 of 3 bytes: unexpected EOF"},
		"half of it":       {framed(100, `{"id":1}`), &Request{}, "incomplete after 8 of 100 bytes: unexpected EOF"},
		"too long": {framed(MaxBytes+1, "{}\n"), &Request{},
			"it has 67108865 bytes (limit 67108864)"},
		"another protocol":      {"HTTP/1.1 200 OK\r\n", &Hello{}, "(limit 67108864)"},
		"empty":                 {framed(0, ""), &Request{}, "is not a line of JSON"},
		"no line":               {framed(2, "{}"), &Request{}, "is not a line of JSON"},
		"no JSON":               {framed(3, "no\n"), &Request{}, "is not a line of JSON"},
		"JSON of another kind":  {framed(3, "[]\n"), &Request{}, "is not a line of JSON"},
		"a number that is part": {framed(6, "{}\n123"), &Reply{}, "followed by numbers"},
		"numbers for a request": {framed(7, "{}\n1234"), &Request{}, "is not a line of JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Read(strings.NewReader(test.bytes), test.into)
			if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want what says %q", err, test.says)
			}
		})
	}
}

func TestTooLongToSay(t *testing.T) {
	var pipe bytes.Buffer
	if err := Write(&pipe, &Request{Text: strings.Repeat("x", MaxBytes)}); err == nil ||
		!strings.Contains(err.Error(), "(limit 67108864)") {
		t.Errorf("got %v, want that it is too long", err)
	}
	if pipe.Len() > 0 {
		t.Errorf("%d bytes were written of what is too long, want none", pipe.Len())
	}
	whole := &Reply{Vector: make([]float32, (MaxBytes-64)/4)}
	if err := Write(&pipe, whole); err != nil {
		t.Errorf("a message that just fits: %v", err)
	}
}

// A frame that claims to be long takes no more memory than what arrives of it.
func TestLengthIsNotBelieved(t *testing.T) {
	frame := framed(MaxBytes, "{}\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Read(strings.NewReader(frame), &Request{}); err == nil {
		t.Error("a frame that breaks off was read")
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d bytes are taken for a frame of 7, want less than 1 MiB", taken)
	}
}

func TestErrorsOfTheOtherEnd(t *testing.T) {
	broken := errors.New("broken pipe")
	if err := Read(iotest.ErrReader(broken), &Request{}); !errors.Is(err, broken) {
		t.Errorf("Read returns %v, want %v", err, broken)
	}
	read, write := io.Pipe()
	read.CloseWithError(broken)
	if err := Write(write, &Request{}); !errors.Is(err, broken) {
		t.Errorf("Write returns %v, want %v", err, broken)
	}
}

// FuzzRead reads anything, and writes what it has read so that it is read again.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, content []byte) {
		var reply Reply
		if err := Read(bytes.NewReader(content), &reply); err != nil {
			return
		}
		var pipe bytes.Buffer
		if err := Write(&pipe, &reply); err != nil {
			t.Fatal(err)
		}
		var again Reply
		if err := Read(&pipe, &again); err != nil {
			t.Fatal(err)
		}
		if len(again.Vector) != len(reply.Vector) || again.ID != reply.ID || again.Tokens != reply.Tokens {
			t.Errorf("read %+v, and again %+v", reply, again)
		}
	})
}
