package native

import (
	"fmt"
	"os"
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// permitted are the system calls that computing takes: those of the Go runtime, of the dynamic
// loader, of threads and of graphics drivers. Names that an architecture does not have are left
// out. What opens files is under the rules of Landlock as well.
var permitted = []string{
	// files
	"read", "readv", "pread64", "preadv", "write", "writev", "close", "lseek", "fstat", "newfstatat", "stat", "lstat",
	"statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents64", "getcwd",
	"fcntl", "dup", "dup2", "dup3", "fadvise64", "readahead", "ioctl", "memfd_create", "ftruncate",
	// memory
	"brk", "mmap", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock",
	"get_mempolicy", "membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect",
	// threads and signals to them
	"futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "exit", "exit_group", "sched_yield",
	"sched_getaffinity", "sched_getparam", "sched_getscheduler", "getcpu", "rt_sigaction", "rt_sigprocmask",
	"rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "sigaltstack", "restart_syscall", "arch_prctl",
	// waiting and time
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2", "pipe2", "poll", "ppoll",
	"select", "pselect6", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
	"timer_create", "timer_settime", "timer_delete", "setitimer", "getitimer",
	// what the process is
	"getpid", "getppid", "gettid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getpgrp",
	"getgroups", "getrlimit", "getrusage", "times", "uname", "sysinfo", "getrandom",
}

// PR_SET_VMA names a part of the memory (prctl(2)).
const setVMA = 0x53564d41

// Seal installs the filter of system calls in all threads of the process, for good. Calls that it
// refuses fail with EPERM. It returns [ErrUnavailable] if the kernel has no seccomp. The process
// must have been started by [Restart].
func Seal() error {
	if !seccomp.Supported() {
		return fmt.Errorf("%w: the kernel does not support seccomp", ErrUnavailable)
	}
	policy, err := calls()
	if err != nil {
		return err
	}
	err = seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: *policy})
	if err != nil {
		return fmt.Errorf("cannot restrict the system calls of this process: %w", err)
	}
	return nil
}

// calls returns what is permitted, of which some depends on the arguments. A file is never made or
// cut, a thread is never a process, and signals and limits are those of this process.
func calls() (*seccomp.Policy, error) {
	this, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	known := slices.DeleteFunc(slices.Clone(permitted), func(name string) bool {
		_, ok := this.SyscallNames[name]
		return !ok
	})
	when := func(name string, argument uint32, op seccomp.Operation, value uint64) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{
			{Argument: argument, Operation: op, Value: value}}}
	}
	return &seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		{Action: seccomp.ActionAllow, Names: known, NamesWithCondtions: []seccomp.NameWithConditions{
			when("openat", 2, seccomp.BitsNotSet, unix.O_CREAT|unix.O_TRUNC|unix.O_APPEND),
			when("clone", 0, seccomp.BitsSet, unix.CLONE_THREAD),
			when("tgkill", 0, seccomp.Equal, uint64(os.Getpid())),
			when("prlimit64", 0, seccomp.Equal, 0),
			when("prctl", 0, seccomp.Equal, unix.PR_SET_NAME),
			when("prctl", 0, seccomp.Equal, setVMA),
		}},
		// Its arguments cannot be seen; libraries then use clone.
		{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
	}}, nil
}
