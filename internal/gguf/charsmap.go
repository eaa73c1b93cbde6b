package gguf

import (
	"bytes"
	"encoding/binary"
)

// A charsmap is how SentencePiece normalises characters before it looks for tokens: a double
// array (Kanda, "Space- and time-efficient string dictionaries", 2018) whose leaves are
// places in a list of strings that end in zeros. llama.cpp checks each step while it
// tokenises, and ends the process where one leads out of the tables.
type charsmap struct {
	nodes   []uint32
	strings []byte
}

const maxCharsmap = 16 << 20 // bytes; XLM-RoBERTa's has 237 KB

// checkCharsmap walks through all of the table that a text can reach.
func (f *File) checkCharsmap() error {
	value, told := f.meta[charsmapKey]
	if !told {
		return nil
	}
	list, ok := value.(array)
	if !ok || list.kind != typeUint8 && list.kind != typeInt8 || list.count < 5 || list.count > maxCharsmap {
		return damaged("key %s is not a list of 5 to %d bytes", charsmapKey, maxCharsmap)
	}
	raw := make([]byte, list.count)
	if _, err := f.file.ReadAt(raw, list.at); err != nil {
		return err
	}
	size := binary.LittleEndian.Uint32(raw)
	if rest := uint64(len(raw) - 4); size%4 != 0 || uint64(size) >= rest {
		return damaged("key %s has tables of %d bytes, but only %d bytes of data", charsmapKey, size, rest)
	}
	m := charsmap{nodes: make([]uint32, size/4), strings: raw[4+size:]}
	for i := range m.nodes {
		m.nodes[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	if !m.sound() {
		return damaged("key %s refers to data outside of its tables", charsmapKey)
	}
	return nil
}

// A node of a charsmap is packed: the byte that leads to it in bits 0 to 7, whether a string
// belongs to it in bit 8, whether its base is in units of 256 in bit 9, the base in bits 10
// to 30. Bit 31 marks the place of a string in the others.
type node uint32

func (n node) base() uint32           { return uint32(n>>10) << (uint32(n) & (1 << 9) >> 6) }
func (n node) reached(by uint32) bool { return uint32(n)&(1<<31|0xff) == by }
func (n node) whole() bool            { return n>>8&1 == 1 }
func (n node) place() uint32          { return uint32(n) &^ (1 << 31) }

// sound reports whether every walk stays in the tables. A walk is at the base of a node; the
// next byte is added to it by exclusive or, and the walk goes on if the node there has been
// reached by that byte.
func (m charsmap) sound() bool {
	if len(m.nodes) == 0 {
		return true // it is not looked at
	}
	last := bytes.LastIndexByte(m.strings, 0) // of the end of a string
	seen := make(map[uint32]bool)
	next := []uint32{node(m.nodes[0]).base()}
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for b := uint32(1); b < 256; b++ {
			i := at ^ b
			if i >= uint32(len(m.nodes)) {
				return false
			}
			n := node(m.nodes[i])
			if !n.reached(b) {
				continue
			}
			to := i ^ n.base()
			if n.whole() && (to >= uint32(len(m.nodes)) || int(node(m.nodes[to]).place()) > last) {
				return false
			}
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	return true
}
