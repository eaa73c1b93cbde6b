package embedding

import "syscall"

// ownProcess sets the helper apart from the terminal, whose Ctrl+C is for its user,
// and has it end with this process even where it is stopped.
func ownProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
