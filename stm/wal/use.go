package wal

import "emberd/memory"

// UsesWritten tells, once the writer has stopped, whether it could write them all.
func (s *Log) UsesWritten() error {
	if s.Uses.Waiting() {
		return memory.Errorf(memory.ReadOnly, "uses counted lately could not be written to the log")
	}
	return nil
}
