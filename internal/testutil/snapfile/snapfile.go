// Package snapfile takes snapshots of package snapshot apart and puts them together again, by their
// documented format alone, so that tests can damage them, or give them any content with right checksums.
package snapfile

import (
	"encoding/binary"
	"hash/crc32"
)

// Part is a part of a snapshot.
type Part struct {
	Kind    string // 4 letters
	Count   uint32
	Content []byte
	At, End int // where its header begins, and where it ends, in the file that it was taken from
}

const mib = 1 << 20

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func aligned(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

// Parts are the parts of a whole snapshot, in its order.
func Parts(file []byte) (parts []Part) {
	end := file[len(file)-32:]
	at, n := binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint32(end[8:])
	for i := range int(n) {
		e := file[int(at)+32*i:]
		begins, length := int(binary.LittleEndian.Uint64(e[8:])), int(binary.LittleEndian.Uint64(e[16:]))
		p := Part{Kind: string(e[:4]), Count: binary.LittleEndian.Uint32(e[4:]), At: begins,
			Content: file[begins+24 : begins+24+length]}
		blocks := (len(p.Content)+7)&^7 + mib - 1
		p.End = begins + 24 + (length+7)&^7 + (blocks/mib*4+7)&^7
		parts = append(parts, p)
	}
	return parts
}

// Build is the snapshot with some parts, of version 9.
func Build(parts ...Part) []byte {
	file := append([]byte("emberstm"), 9, 0, 0, 0, 0, 0, 0, 0)
	var directory []byte
	for _, p := range parts {
		at, sums := len(file), []byte{}
		head := append([]byte("part"), p.Kind...)
		head = binary.LittleEndian.AppendUint64(head, uint64(len(p.Content)))
		head = binary.LittleEndian.AppendUint32(head, p.Count)
		file = append(file, binary.LittleEndian.AppendUint32(head, sum(head))...)
		content := aligned(append([]byte{}, p.Content...))
		for i := 0; i < len(content); i += mib {
			sums = binary.LittleEndian.AppendUint32(sums, sum(content[i:min(i+mib, len(content))]))
		}
		sums = aligned(sums)
		file = append(append(file, content...), sums...)
		directory = binary.LittleEndian.AppendUint32(append(directory, p.Kind...), p.Count)
		directory = binary.LittleEndian.AppendUint64(directory, uint64(at))
		directory = binary.LittleEndian.AppendUint64(directory, uint64(len(p.Content)))
		directory = binary.LittleEndian.AppendUint32(directory, sum(sums))
		directory = append(directory, 0, 0, 0, 0)
	}
	end := binary.LittleEndian.AppendUint64(nil, uint64(len(file)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(parts)))
	end = binary.LittleEndian.AppendUint32(end, sum(directory))
	end = append(end, 0, 0, 0, 0)
	end = binary.LittleEndian.AppendUint32(end, sum(end))
	return append(append(append(file, directory...), end...), "emberend"...)
}
