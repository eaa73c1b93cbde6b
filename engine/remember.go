package engine

import "emberd/memory"

func notYet() error { return memory.Errorf(memory.Unavailable, "this is not built yet") }
