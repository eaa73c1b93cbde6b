package staticmodel_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"emberd/internal/dedupe/similarity"
	"emberd/internal/staticmodel"
)

const limit = 256

// TestDefault checks what the table in this program says of itself, and that it is the one that
// ORIGIN.md speaks of.
func TestDefault(t *testing.T) {
	table := staticmodel.Default()
	if table.Name != "all-MiniLM-L6-v2" || table.Licence != "apache-2.0" || table.Dim != 256 || len(table.Source) != 64 {
		t.Errorf("the table is of %+v", table.Header)
	}
	origin, err := os.ReadFile("ORIGIN.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{table.SHA256(), table.Source} {
		if !strings.Contains(string(origin), digest) {
			t.Errorf("ORIGIN.md does not name the digest %s", digest)
		}
	}
	const most = 8 << 20
	if info, err := os.Stat("minilm.bin"); err != nil || info.Size() > most {
		t.Errorf("the table is of %d bytes (%v), at most %d", info.Size(), err, most)
	}
}

// TestSynonymsAreNearer compares each text with one of the same meaning that shares no word with
// it, and with those of the others.
func TestSynonymsAreNearer(t *testing.T) {
	pairs := [][2]string{
		{"car insurance", "the policy for our automobile"},
		{"Doctor's appointment", "see a physician on Monday"},
		{"The server crashed.", "an outage of our computer"},
		{"my sister's wedding", "Anna gets married"},
		{"What do we feed the dog?", "pet food for puppies"},
	}
	table := staticmodel.Default()
	for i, p := range pairs {
		own := near(t, table, p[0], p[1])
		for j, other := range pairs {
			if x := near(t, table, p[0], other[1]); i != j && x >= own {
				t.Errorf("%q is as near to %q (%.2f) as to %q (%.2f)", p[0], other[1], x, p[1], own)
			}
		}
	}
}

func near(t *testing.T, table *staticmodel.Table, a, b string) float64 {
	t.Helper()
	cosine, err := similarity.Cosine(table.Embed(a, limit), table.Embed(b, limit))
	if err != nil {
		t.Fatalf("%q and %q: %v", a, b, err)
	}
	return cosine
}

// TestUnknownWords has texts of which the table knows nothing, or less than three quarters.
func TestUnknownWords(t *testing.T) {
	table := staticmodel.Default()
	for _, text := range []string{"", " \n", "今天天气很好", "Привет, как дела", "שלום עולם", "日本語のメモ car", "a car 今", "\xff\xfe", "🙂"} {
		if v := table.Embed(text, limit); v != nil {
			t.Errorf("%q has a vector", text)
		}
	}
	for _, text := range []string{"car", "a red car 今", "Überraschung", "naïve café"} {
		if v := table.Embed(text, limit); v == nil {
			t.Errorf("%q has no vector", text)
		}
	}
}

// TestOnlyTheFirstTokensCount embeds a text with more behind it.
func TestOnlyTheFirstTokensCount(t *testing.T) {
	table := staticmodel.Default()
	if x := near(t, table, "red wine", "red wine"); x < 0.999 {
		t.Errorf("a text has a cosine of %f with itself", x)
	}
	long := "red wine" + strings.Repeat(" database server", limit)
	short, cut := table.Embed("red wine", limit), table.Embed(long, 2)
	if fmt.Sprint(short) != fmt.Sprint(cut) {
		t.Error("what follows the first two tokens counts")
	}
	if got := table.Count(long); got != 2+2*limit {
		t.Errorf("%d tokens, want %d", got, 2+2*limit)
	}
}

func file(header, tokens string, scales []float32, rows ...byte) []byte {
	var b bytes.Buffer
	b.WriteString("emberd static embeddings 1\n" + header + "\n" + tokens)
	binary.Write(&b, binary.LittleEndian, scales)
	b.Write(rows)
	return b.Bytes()
}

// TestParse makes a table by hand.
func TestParse(t *testing.T) {
	table, err := staticmodel.Parse(file(`{"dim":2,"tokens":2}`, "\u2581a\nb\n", []float32{0.5, 2}, 3, 0, 0, 0xfe))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(table.Embed("a ab c", limit)); got != "[0.6 -0.8]" { // 2·1.5 and −4
		t.Errorf("the vector of two known words is %s", got)
	}
	if v := table.Embed("b", limit); v != nil { // no word begins with it
		t.Errorf("the vector of an unknown word is %v", v)
	}
}

// TestParseRefuses has files that are none.
func TestParseRefuses(t *testing.T) {
	good := file(`{"dim":1,"tokens":1}`, "a\n", []float32{1}, 1)
	for name, bad := range map[string][]byte{
		"empty":              nil,
		"another form":       []byte("GGUF"),
		"no description":     []byte("emberd static embeddings 1\n"),
		"bad description":    file(`{`, "a\n", []float32{1}, 1),
		"no tokens":          file(`{"dim":1}`, "", nil),
		"too many tokens":    file(`{"dim":1,"tokens":2000000000}`, "a\n", []float32{1}, 1),
		"negative dimension": file(`{"dim":-1,"tokens":1}`, "a\n", []float32{1}, 1),
		"missing token":      file(`{"dim":1,"tokens":2}`, "a\n", nil),
		"empty token":        file(`{"dim":1,"tokens":1}`, "\n", []float32{1}, 1),
		"cut":                good[:len(good)-1],
		"more":               append(good[:len(good):len(good)], 0),
		"negative scale":     file(`{"dim":1,"tokens":1}`, "a\n", []float32{-1}, 1),
	} {
		if _, err := staticmodel.Parse(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := staticmodel.Parse(good); err != nil {
		t.Error(err)
	}
}

// BenchmarkEmbed embeds a text of some sixty tokens.
func BenchmarkEmbed(b *testing.B) {
	table := staticmodel.Default()
	text := strings.Repeat("My Flask budget tracker has its deadline on April 15, and the report is due then. ", 3)
	b.ReportMetric(float64(table.Count(text)), "tokens")
	for b.Loop() {
		table.Embed(text, limit)
	}
}
