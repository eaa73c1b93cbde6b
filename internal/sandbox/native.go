package sandbox

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// NativeSystem returns what libraries of native code need of a system, whatever the engine: read
// are the folders and files of the dynamic loader, of processors and of the drivers of graphics
// cards; devices are read, written and controlled. None of them has data of a user.
func NativeSystem() (read, devices []string) {
	read = []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec",
		"/usr/local/lib", "/usr/local/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.preload",
		"/usr/share/vulkan", "/usr/share/glvnd", "/usr/share/libdrm", "/usr/share/drirc.d",
		"/etc/vulkan", "/etc/OpenCL", "/sys/devices", "/sys/bus", "/sys/class", "/sys/dev", "/sys/module",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/driver", "/dev/urandom", "/dev/random"}
	devices = []string{os.DevNull, "/dev/dri", "/dev/kfd"}
	for pattern, to := range map[string]*[]string{"/dev/nvidia*": &devices, "/opt/rocm*/lib": &read,
		"/usr/local/cuda*/lib64": &read, "/usr/local/cuda*/targets/*/lib": &read} {
		found, _ := filepath.Glob(pattern) // the only error is a bad pattern
		*to = append(*to, found...)
	}
	return read, devices
}

// Loader returns the program that the system loads a dynamic one with (PT_INTERP, elf(5)), ""
// for a static one.
func Loader(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, part := range f.Progs {
		if part.Type == elf.PT_INTERP && part.Filesz < 4096 {
			name := make([]byte, part.Filesz)
			if _, err := part.ReadAt(name, 0); err == nil {
				return strings.TrimRight(string(name), "\x00")
			}
		}
	}
	return ""
}
