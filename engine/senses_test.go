package engine_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"emberd/embedding"
)

// concepts is a model of a few words: those of one line mean the same. Numbers, negations
// and names hardly change a vector, as with models of sentences.
type concepts map[string]string

func newConcepts(lines ...string) concepts {
	c := make(concepts)
	for _, line := range lines {
		for word := range strings.FieldsSeq(line) {
			c[word] = line
		}
	}
	return c
}

const conceptDim = 96

// vector is the mean of the concepts of a text's words, of length 1.
func (c concepts) vector(text string) []float32 {
	sum := make([]float64, conceptDim)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		concept, known := c[word]
		weight := 1.0
		switch {
		case len(word) < 3 || word == "the" || word == "and":
			continue
		case !known:
			concept, weight = word, 0.05
		}
		h := fnv.New64a()
		_, _ = io.WriteString(h, concept)
		r := rand.New(rand.NewPCG(h.Sum64(), 0))
		for i := range sum {
			sum[i] += weight * r.NormFloat64()
		}
	}
	square := 0.0
	for _, x := range sum {
		square += x * x
	}
	out := make([]float32, conceptDim)
	for i, x := range sum {
		out[i] = float32(x / math.Sqrt(max(square, 1e-12)))
	}
	return out
}

// serve answers requests for embeddings over a unix socket and returns its address.
func (c concepts) serve(t testing.TB) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			go c.talk(conn)
		}
	}()
	return "unix://" + socket
}

// talk answers the requests of one connection until the other side has enough.
func (c concepts) talk(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		size := 0
		for header := "…"; strings.TrimSpace(header) != ""; {
			if header, err = in.ReadString('\n'); err != nil {
				return
			}
			if name, value, _ := strings.Cut(header, ":"); strings.EqualFold(name, "Content-Length") {
				size, _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		code, answer := c.answer(line, body)
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			code, len(answer), answer); err != nil {
			return
		}
	}
}

func (c concepts) answer(line string, body []byte) (code string, answer []byte) {
	var asked struct{ Input []string }
	if !strings.HasPrefix(line, "POST ") || json.Unmarshal(body, &asked) != nil {
		return "404 Not Found", []byte("{}")
	}
	var data []map[string]any
	for i, text := range asked.Input {
		data = append(data, map[string]any{"index": i, "embedding": c.vector(text)})
	}
	answer, _ = json.Marshal(map[string]any{"data": data})
	return "200 OK", answer
}

// kitchenConcepts are words of a kitchen and of a computer room.
func kitchenConcepts() concepts {
	return newConcepts("kettle boiler", "leaks drips", "seam joint", "database store", "staging preproduction",
		"runs listens", "port",
		"backup", "ledger", "night", "host", "tea drink", "green", "prefers likes like", "roof", "shed", "paint colour",
		"tide", "harbour")
}

// trusted is the grade of a model that knows what words mean.
func trusted() embedding.Calibration {
	return embedding.Calibration{Exam: 2, Score: 0.9, Low: 0.1, High: 0.8}
}

// sensible is a house whose engines ask a server for vectors, which are worth what the
// grade says.
func sensible(t testing.TB, h *house, grade embedding.Calibration) *house {
	t.Helper()
	meant(t, h, embedding.Options{Providers: []string{embedding.HTTP}, URL: kitchenConcepts().serve(t),
		URLModel: "concepts"})
	h.Options.Meaning.Grade = grade
	return h
}
