package record_test

import (
	"bytes"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/stm/record"
)

var packedID = memory.ID("01a22466-3469-7400-84dd-a3de0ea30bae")

// packedLine is a line about so many archived memories.
func packedLine(n int) record.Line {
	l := record.Line{Version: 1, Seq: 3, Stamp: record.Stamp{T: 9 << 16, Dev: record.Device([]byte("lzpcmoct"))},
		Op: record.OpAll, Verb: "archive", Packed: true}
	l.Tx = l.Stamp
	for i := range n {
		id := memory.ID(string(packedID[:35]) + string("0123456789abcdef"[i%16]))
		l.Changes = append(l.Changes, record.Change{Op: record.OpSet, ID: id, Prev: []byte(`{"d":{"stage":"demoted"}}`),
			Data: []byte(`{"content":"Ann: <héllo> \"there\"","stage":"archived","vault_path":"Memories/Archive/Ann.md"}`)})
	}
	return l
}

// A packed line says what it said before, and can be found by the ids.
func TestPackedLine(t *testing.T) {
	l := packedLine(12)
	b := l.Append(nil)
	plain := l
	plain.Packed = false
	if len(b) >= len(plain.Append(nil))/2 || !bytes.Contains(b, []byte(l.Changes[11].ID)) {
		t.Errorf("%d bytes, not packed %d: %s", len(b), len(plain.Append(nil)), b)
	}
	good, err := record.Trim(b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := record.Decode(good)
	if err != nil || !reflect.DeepEqual(got.Changes, l.Changes) || !got.Packed || got.Extra {
		t.Errorf("read back as %+v, %v", got, err)
	}
	if again := got.Append(nil); !bytes.Equal(again, b) {
		t.Errorf("written again as %s", again)
	}
}

// A line whose text names the texts that it was made from is found by that.
func TestPackedLineWithFrom(t *testing.T) {
	l := packedLine(2)
	l.Changes[1].Prev = []byte(`{"t":"` + l.Stamp.String() + `","from":["` + l.Stamp.String() + `"],"d":{}}`)
	b := l.Append(nil)
	got, err := record.Decode(bytes.TrimSuffix(b, []byte("\n")))
	if err != nil || got.Extra || !bytes.Contains(b, []byte(`"from":["`)) || len(got.Changes[1].From()) != 1 {
		t.Errorf("%s: %+v, %v", b, got, err)
	}
}

// A delete and what names another memory are not packed.
func TestSomeLinesAreNotPacked(t *testing.T) {
	for name, c := range map[string]record.Change{
		"delete": {Op: record.OpDelete, ID: packedID},
		"other":  {Op: record.OpSet, ID: packedID, Data: []byte(`{"superseded_by":"` + string(packedID) + `"}`)},
	} {
		l := packedLine(2)
		l.Changes = append(l.Changes, c)
		b := l.Append(nil)
		if got, err := record.Decode(bytes.TrimSuffix(b, []byte("\n"))); err != nil || got.Packed || len(got.Changes) != 3 {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

// A packed line that does not fit its ids, or is no list of changes, is an error and no panic.
func TestDamagedPackedLine(t *testing.T) {
	pack := func(list string) string {
		return base64.RawStdEncoding.EncodeToString(record.Deflate(nil, []byte(list)))
	}
	one := `{"op":"set","d":{"a":1}}`
	ids := `"` + string(packedID) + `"`
	for _, z := range []string{`"ids":[],"z":"` + pack("["+one+"]"), `"ids":[` + ids + `],"z":"` + pack("["+one+","+one+"]"),
		`"ids":[` + ids + `],"z":"` + pack("[]"), `"ids":[` + ids + `],"z":"` + pack("{"), `"ids":[` + ids + `],"z":"!`,
		`"ids":[` + ids + `],"z":"AAAA`, `"ids":[` + ids + `],"z":"` + pack(`[{"op":"del"}]`),
		`"ids":[` + ids + `],"z":"` + pack(`[1]`), `"ids":[` + ids + `],"z":"` + pack(`[{"op":"set","d":3}]`)} {
		line := `{"v":1,"q":3,"t":"` + packedLine(0).Stamp.String() + `","op":"all",` + z + `"}`
		if got, err := record.Decode([]byte(line)); err == nil {
			t.Errorf("%s is read as %+v", line, got)
		}
	}
	bomb := pack("[" + strings.Repeat(" ", record.MaxLine) + "]")
	if _, err := record.Decode([]byte(`{"v":1,"op":"all","ids":[],"z":"` + bomb + `"}`)); err == nil {
		t.Error("more than a line may have is read")
	}
}

// What is compressed comes back, whatever it is.
func TestDeflateAndInflate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		got, err := record.Inflate(record.Deflate(nil, text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q came back as %q, %v", text, got, err)
		}
	})
}
