package logcheck

import (
	"fmt"
	"slices"

	"emberd/stm/record"
)

// sequence gathers the numbers of one device over its files.
type sequence struct {
	known record.Ranges // met, given up, or explained by a damaged line
	upto  uint64
	jumps []sequenceGap
}

// sequenceGap is where a file continues with another number than the next.
type sequenceGap struct {
	to uint64
	at Finding
}

func (s *sequence) note(from, to uint64) {
	if from <= to && to > 0 {
		s.known.Add(max(from, 1), to)
	}
}

// missing lists the numbers that nothing explains, at the first line after them.
func (s *sequence) missing(dir string) []Finding {
	s.known.Add(0, 0)
	s.known.Add(max(s.upto, s.known.Last())+1, max(s.upto, s.known.Last())+1)
	var out []Finding
	for i := 1; i < len(s.known.Spans); i++ {
		from, to := s.known.Spans[i-1][1]+1, s.known.Spans[i][0]-1
		f := Finding{File: dir}
		if j := slices.IndexFunc(s.jumps, func(j sequenceGap) bool { return j.to == to+1 }); j >= 0 {
			f = s.jumps[j].at
		}
		f.Reason = fmt.Sprintf("records %d to %d are missing", from, to)
		if from == to {
			f.Reason = fmt.Sprintf("record %d is missing", from)
		}
		if f.Line > 0 {
			f.Reason += " before this line"
		}
		out = append(out, f)
	}
	return out
}
