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
	beside := make(map[uint32]bool)
	s.eachNote(term, func(number uint32) { beside[number] = true })
	n := 0
	for _, other := range others {
		if err := ctx.Err(); err != nil || len(beside) == 0 {
			return n, err
		}
		s.eachNote(other, func(number uint32) {
			if beside[number] {
				delete(beside, number)
				n++
			}
		})
	}
	return n, nil
}
