package admission

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadTime measures the processor time of the calling goroutine, by keeping it on one
// thread. What it has others do is not in it. A thread without a clock costs nothing.
func threadTime() (stop func() time.Duration) {
	runtime.LockOSThread()
	begin := clock()
	return func() time.Duration {
		used := clock() - begin
		runtime.UnlockOSThread()
		return max(0, used)
	}
}

// clock is the time that the calling thread has had a processor: clock_gettime(2).
func clock() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
