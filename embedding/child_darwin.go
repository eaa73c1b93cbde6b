package embedding

import "syscall"

// ownProcess sets the helper apart from the terminal, whose Ctrl+C is for its user.
func ownProcess() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
