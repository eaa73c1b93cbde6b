package wal

// ReturnHistories copies from the log under data the histories of this device that are gone or damaged, see
// [ownfiles.Files.ReturnHistories], and returns how many.
func ReturnHistories(s *Log, data string) (int, error) {
	if !s.Rewriting.TryLock() {
		return 0, errRewriting()
	}
	defer s.Rewriting.Unlock()
	back, err := s.own.ReturnHistories(data)
	for _, name := range back {
		s.Journal.NoteHistory(name)
	}
	return len(back), err
}
