package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"

	"emberd/internal/llamawire"
	"emberd/internal/testutil/llamatest"
)

// TestMain is also the process that becomes a helper on a kernel without a system call, if the
// environment says so.
func TestMain(m *testing.M) {
	if call := os.Getenv("EMBERD_TEST_WITHOUT"); call != "" {
		fmt.Fprintln(os.Stderr, without(call, os.Getenv("EMBERD_TEST_HELPER")))
		os.Exit(exitMisuse)
	}
	os.Exit(m.Run())
}

// The libraries are not loaded where the system cannot confine them, unless the user wants it so.
func TestNotConfined(t *testing.T) {
	engine := llamatest.Libraries(t)[0]
	for call, says := range map[string]string{
		"landlock_create_ruleset": "Landlock is missing or disabled in this kernel",
		"seccomp":                 "the kernel does not support seccomp",
	} {
		p := startBy(t, []string{"EMBERD_TEST_WITHOUT=" + call, "EMBERD_TEST_HELPER=" + llamatest.Helper(t)}, "--engine", engine)
		hello := p.hello()
		if f := hello.Failed; f == nil || f.Of != llamawire.OfSandbox || !strings.Contains(f.Text, says) ||
			!strings.HasSuffix(f.Text, "run: emberd config set sandbox off") || hello.Engine.Release != "" {
			t.Errorf("without %s: hello is %+v (%v)", call, hello, hello.Failed)
		}
		if code := p.ended(); code != exitFailed {
			t.Errorf("without %s: exit code %d, want %d", call, code, exitFailed)
		}
	}
	p := startBy(t, []string{"EMBERD_TEST_WITHOUT=landlock_create_ruleset", "EMBERD_TEST_HELPER=" + llamatest.Helper(t)},
		"--engine", engine, "--sandbox", "off")
	if hello := p.hello(); hello.Failed != nil || hello.Engine.Release == "" {
		t.Errorf("with --sandbox off: hello is %+v (%v)", hello, hello.Failed)
	}
	p.input.Close()
	p.wait()
}

// without executes a program for which a system call does not exist. It returns only an error.
func without(call, program string) error {
	runtime.LockOSThread()
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: seccomp.Policy{DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{{Names: []string{call}, Action: seccomp.ActionErrno | seccomp.Action(syscall.ENOSYS)}}}})
	if err != nil {
		return err
	}
	return syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
}
