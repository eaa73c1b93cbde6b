package ltm

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"emberd/internal/text/analysis"
)

func TestOccurrencesPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inBodiesAlone := rapid.Bool().Draw(t, "in bodies alone")
		field := func(name string, most int) int {
			if inBodiesAlone && name != "body" {
				return 0
			}
			return rapid.IntRange(0, most).Draw(t, name)
		}
		o := occurrence{
			body: field("body", 2*maxBody), headings: field("headings", 2*maxHeadings), names: field("names", 2*maxNames),
			tags: field("tags", 2*maxTags), other: field("other", 2*maxOther),
		}
		if o.body > 0 {
			o.bodyIn = rapid.Uint16Range(1, 1<<16-1).Draw(t, "bodyIn")
		}
		if o.headings > 0 {
			o.headingsIn = rapid.Uint16Range(1, 1<<16-1).Draw(t, "headingsIn")
		}
		o = o.capped()
		if got := unpack(uint64(o.pack())); got != o {
			t.Errorf("unpacked %+v, packed %+v", got, o)
		}
		bodyOnly := o.headings+o.names+o.tags+o.other == 0
		body, passages, ok := inBodies(uint64(o.pack()))
		if ok != bodyOnly || ok && o.body > 0 && (body != o.body || passages != o.bodyIn) {
			t.Errorf("in bodies alone: %d in %b, %v, packed %+v", body, passages, ok, o)
		}
		if o != (occurrence{}) && o.pack() <= 0 {
			t.Errorf("%+v is packed as %d, want a number that zap takes for a frequency", o, o.pack())
		}
	})
}

func TestCommonOccurrenceTakesOneByte(t *testing.T) {
	for passage := range partPassages {
		if v := (occurrence{body: 1, bodyIn: 1 << passage}).pack(); v >= 1<<6 {
			t.Errorf("once in passage %d is packed as %d, want less than 64: zap shifts it by one into a uvarint", passage, v)
		}
	}
}

// someRecord draws a record such as analyze makes.
func someRecord(t *rapid.T) record {
	words := rapid.StringN(0, 12, 40)
	d := Doc{
		Path: words.Draw(t, "path"), Title: words.Draw(t, "title"), MemoryID: words.Draw(t, "id"),
		Tags: rapid.SliceOfN(words, 0, 3).Draw(t, "tags"), Aliases: rapid.SliceOfN(words, 0, 3).Draw(t, "aliases"),
		Created: time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "created"), 5), Modified: time.Unix(7, 8),
		Cursor: cursorOf(words.Draw(t, "content")),
	}
	for range rapid.IntRange(0, 4).Draw(t, "properties") {
		d.Properties = append(d.Properties, Property{words.Draw(t, "key"), words.Draw(t, "value")})
	}
	for range rapid.IntRange(0, 30).Draw(t, "sections") {
		path := rapid.SliceOfN(words, 0, 3).Draw(t, "headings")
		d.Sections = append(d.Sections, Section{HeadingPath: path, Line: rapid.IntRange(1, 9999).Draw(t, "line"), Text: words.Draw(t, "body")})
	}
	return analyze(analysis.New(), false, &d).record
}

func TestRecordsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := someRecord(t)
		b := want.encode(nil)
		got, err := decodeRecord(b)
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		if again := got.encode(nil); !reflect.DeepEqual(again, b) {
			t.Errorf("a record that was read is written as %x, want %x", again, b)
		}
		if got.folded != want.folded || len(got.headings) != len(want.headings) || len(got.places) != len(want.places) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		n, err := decodeNote(b, newFolder())
		if err != nil || !reflect.DeepEqual(*n, got.note) {
			t.Errorf("the part in memory is %+v, %v; want %+v", n, err, got.note)
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if _, err := decodeRecord(b[:cut]); err == nil {
			t.Errorf("a record cut off after %d of %d bytes is read without an error", cut, len(b))
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeRecord(b)
		if err != nil {
			return
		}
		if _, err := decodeNote(b, newFolder()); err != nil {
			t.Errorf("the whole record is good, its first part is not: %v", err)
		}
		if len(got.places) != len(got.passages) {
			t.Errorf("%d places for %d passages", len(got.places), len(got.passages))
		}
	})
}
