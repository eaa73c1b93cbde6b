package main

import "os"

// expendable has the kernel end this process before emberd when memory runs out.
func expendable() {
	os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0) // it is there on every Linux, and no harm where not
}
