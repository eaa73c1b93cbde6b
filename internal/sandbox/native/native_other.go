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
	return fmt.Errorf("%w: emberd does not support a sandbox on %s", ErrUnavailable, runtime.GOOS)
}
