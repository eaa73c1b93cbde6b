// Package power tells whether a machine runs on its battery, so that work that can wait does.
//
// On Linux the kernel has a folder for each supply in /sys/class/power_supply
// (https://docs.kernel.org/admin-guide/abi-testing-files.html, sysfs-class-power). On macOS,
// pmset(1) says what the machine draws from. Elsewhere no machine is said to have a battery.
package power

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A Machine is where to look. The zero Machine is never on battery.
type Machine struct {
	GOOS string // as runtime.GOOS
	Root string // of its files
}

// This returns the machine that runs this program.
func This() Machine { return Machine{GOOS: runtime.GOOS, Root: "/"} }

// OnBattery reports whether the machine runs on its battery. What cannot be found out counts as no.
func (m Machine) OnBattery(ctx context.Context) bool {
	switch m.GOOS {
	case "linux":
		return m.discharges()
	case "darwin":
		return m.draws(ctx)
	}
	return false
}

// Files returns what OnBattery reads on Linux, links resolved: the folder of supplies, and each
// of those that are there now.
func (m Machine) Files() []string {
	var files []string
	for _, dir := range append([]string{m.supplies()}, m.each()...) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			files = append(files, real)
		}
	}
	return files
}

func (m Machine) supplies() string { return filepath.Join(m.Root, "sys", "class", "power_supply") }

// each returns the folders of supplies, none if they cannot be listed.
func (m Machine) each() (dirs []string) {
	entries, err := os.ReadDir(m.supplies())
	if err != nil {
		return nil
	}
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(m.supplies(), e.Name()))
	}
	return dirs
}

// discharges reports whether a battery of the machine gives power and no mains adapter does. A
// battery of scope "Device" is that of a mouse or the like, and a UPS is none of the machine's.
// Beside an adapter that is online, one of two batteries may discharge into the other.
func (m Machine) discharges() bool {
	found := false
	for _, dir := range m.each() {
		switch attribute(dir, "type") {
		case "Mains":
			if online := attribute(dir, "online"); online != "" && online != "0" {
				return false
			}
		case "Battery":
			found = found || attribute(dir, "scope") != "Device" && attribute(dir, "status") == "Discharging"
		}
	}
	return found
}

// attribute returns what the kernel says of a supply, "" if nothing.
func attribute(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// pmsetTime is how long pmset may take, which answers within milliseconds.
const pmsetTime = 5 * time.Second

// draws asks pmset, whose first line is: Now drawing from 'Battery Power', or 'AC Power', or
// 'UPS Power'.
func (m Machine) draws(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pmsetTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(m.Root, "usr", "bin", "pmset"), "-g", "batt").Output()
	first, _, _ := bytes.Cut(out, []byte("\n"))
	return err == nil && bytes.Contains(first, []byte("'Battery Power'"))
}
