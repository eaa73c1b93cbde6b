package gguf

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"emberd/internal/tinybert"
)

// parsed is a charsmap of its bytes.
func parsed(raw []byte) charsmap {
	size := binary.LittleEndian.Uint32(raw)
	m := charsmap{strings: raw[4+size:]}
	for i := uint32(4); i < 4+size; i += 4 {
		m.nodes = append(m.nodes, binary.LittleEndian.Uint32(raw[i:]))
	}
	return m
}

// stays reports whether a text is looked up without a step out of the tables, in the words
// of SentencePiece's double array: this is what llama.cpp does with every place of a text.
func (m charsmap) stays(text []byte) bool {
	at := node(m.nodes[0]).base()
	place := -1
	for _, b := range text {
		at ^= uint32(b)
		if at >= uint32(len(m.nodes)) {
			return false
		}
		n := node(m.nodes[at])
		if !n.reached(uint32(b)) {
			break
		}
		at ^= n.base()
		if n.whole() {
			if at >= uint32(len(m.nodes)) {
				return false
			}
			place = int(node(m.nodes[at]).place())
		}
	}
	return place < 0 || place < len(m.strings) && slices.Contains(m.strings[place:], 0)
}

func entries() map[string]string {
	return map[string]string{"Ａ": "A", "Ｂ": "B", "ﬁ": "fi", "ﬁx": "fix", "\t": " "}
}

func TestCharsmapThatIsSound(t *testing.T) {
	m := parsed(tinybert.Charsmap(entries()))
	if !m.sound() {
		t.Fatal("a sound charsmap is refused")
	}
	for text := range entries() {
		if !m.stays([]byte(text)) {
			t.Errorf("looking up %q leads out of a sound charsmap", text)
		}
	}
}

// Numbers of the tables change: what is still sound has no text that leads out of it, and
// reading it comes to an end.
func TestCharsmapsThatAreDamaged(t *testing.T) {
	whole := parsed(tinybert.Charsmap(entries()))
	random := rand.New(rand.NewPCG(42, 10))
	var used []int // the places that are not empty
	for i, n := range whole.nodes {
		if n != 0 {
			used = append(used, i)
		}
	}
	texts := [][]byte{}
	for text := range entries() {
		texts = append(texts, []byte(text))
	}
	sound, led := 0, 0
	for range 2000 {
		m := charsmap{slices.Clone(whole.nodes), slices.Clone(whole.strings)}
		switch at := used[random.IntN(len(used))]; random.IntN(3) {
		case 0:
			m.nodes[at] ^= 1 << random.IntN(32)
		case 1:
			m.nodes[at] = random.Uint32()
		default:
			m.strings[random.IntN(len(m.strings))] = byte(random.IntN(2) * 'x')
		}
		ok := m.sound()
		if ok {
			sound++
		}
		for _, text := range texts {
			if m.stays(text) {
				continue
			}
			led++
			if ok {
				t.Fatalf("%q leads out of %v, which is called sound", text, m)
			}
		}
	}
	if sound == 0 || led == 0 {
		t.Errorf("%d of 2000 were sound and %d texts led out: the test changes nothing, or everything", sound, led)
	}
}
