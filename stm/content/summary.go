package content

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"emberd/stm/record"
	"emberd/stm/table"
)

// Trash is the name under which a [Summary] has the memories that can be restored.
const Trash = "trash"

// Held is how many memories there are of one stage, and the digest of them.
type Held struct {
	Memories int    `json:"memories"`
	Digest   string `json:"digest"` // 64 hex digits
}

// Summary reports what a log holds, by stage and [Trash]. A stage without memories is left out.
type Summary map[string]Held

// Live counts the live memories.
func (s Summary) Live() (n int) {
	for stage, h := range s {
		if stage != Trash {
			n += h.Memories
		}
	}
	return n
}

// Differences says in phrases where got is not what s is, nothing if it is the same.
func (s Summary) Differences(got Summary) (out []string) {
	stages := Summary{}
	maps.Copy(stages, s)
	maps.Copy(stages, got)
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		switch want, have := s[stage], got[stage]; {
		case want.Memories != have.Memories:
			out = append(out, fmt.Sprintf("%d instead of %d memories (%s)", have.Memories, want.Memories, stage))
		case want.Digest != have.Digest:
			out = append(out, fmt.Sprintf("%d memories (%s) with other texts, fields or times", have.Memories, stage))
		}
	}
	return out
}

// sum adds up digests, so that the order does not matter.
type sum struct {
	memories int
	lanes    [4]uint64
	buf      []byte
}

func (s *sum) add(parts ...[]byte) {
	s.buf = s.buf[:0]
	for _, p := range parts {
		s.buf = append(binary.LittleEndian.AppendUint64(s.buf, uint64(len(p))), p...)
	}
	d := sha256.Sum256(s.buf)
	for i := range s.lanes {
		s.lanes[i] += binary.LittleEndian.Uint64(d[8*i:])
	}
}

func (s *sum) held() Held {
	var b [32]byte
	for i, lane := range s.lanes {
		binary.LittleEndian.PutUint64(b[8*i:], lane)
	}
	return Held{Memories: s.memories, Digest: hex.EncodeToString(b[:])}
}

// sums gathers a [Summary].
type sums map[string]*sum

func (s sums) of(stage string) *sum {
	if s[stage] == nil {
		s[stage] = &sum{}
	}
	return s[stage]
}

// row adds a live memory.
func (s sums) row(r *table.Row) {
	to := s.of(string(r.Stage()))
	to.memories++
	// The document was walked when it was merged.
	_ = record.EachField(r.JSON(), func(name, value []byte) bool {
		to.add(r.Key[:], name, stampOf(r, name).Append(nil), value)
		return true
	})
}

// stampOf is when a field that the row has was written.
func stampOf(r *table.Row, name []byte) record.Stamp {
	if r.Odd != nil {
		for _, g := range r.Odd.Regs {
			if g.Key == string(name) {
				return g.Stamp
			}
		}
	}
	return r.Base
}

// trashed adds a delete that can be reverted.
func (s sums) trashed(key [16]byte, at record.Stamp) {
	to := s.of(Trash)
	to.memories++
	to.add(key[:], at.Append(nil))
}

func (s sums) summary() Summary {
	out := Summary{}
	for stage, of := range s {
		out[stage] = of.held()
	}
	return out
}
