package wal

import "emberd/memory"

// UsesWritten tells, once the writer has stopped, whether it could write them all.
func (s *Log) UsesWritten() error {
	if s.Uses.Waiting() {
		return memory.Errorf(memory.ReadOnly, "cannot write recent use counts to the log")
	}
	return nil
}
