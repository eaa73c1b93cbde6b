package ltm

import "context"

// Together counts the notes that hold a term and any of the others.
func (x *Index) Together(ctx context.Context, term string, others []string) (int, error) {
	done, err := x.use()
	if err != nil {
		return 0, err
	}
	defer done()
	s, err := x.searcher(&Query{})
	if err != nil {
		return 0, err
	}
	defer s.close()
	list, err := s.postingsOf(nil, &queryTerm{text: term})
	beside := make(map[uint32]bool)
	for _, p := range list {
		beside[p.note] = true
	}
	n := 0
	for _, other := range others {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || len(beside) == 0 {
			return n, err
		}
		list, err = s.postingsOf(list[:0], &queryTerm{text: other})
		for _, p := range list {
			if beside[p.note] {
				delete(beside, p.note)
				n++
			}
		}
	}
	return n, err
}
