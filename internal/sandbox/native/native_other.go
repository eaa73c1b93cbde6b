//go:build !linux

package native

import (
	"fmt"
	"runtime"
)

// Restart is not possible here.
func Restart(*Policy, []string) error { return unavailable() }

// Seal is not possible here.
func Seal() error { return unavailable() }

func unavailable() error {
	return fmt.Errorf("%w: %s has no sandbox that a program can enter itself", ErrUnavailable, runtime.GOOS)
}
