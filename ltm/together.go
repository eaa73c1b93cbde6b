package ltm

import "context"

// Together counts the notes that hold a term and any of the others.
func (x *Index) Together(ctx context.Context, term string, others []string) (int, error) {
	n := 0
	err := x.search(&Query{}, func(s *searcher) (err error) {
		n, err = s.together(ctx, term, others)
		return err
	})
	return n, err
}

func (s *searcher) together(ctx context.Context, term string, others []string) (int, error) {
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
