package main

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker; a plain go build leaves it empty.
var version string

// buildVersion names this build as emberd names its own.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return cmp.Or(version, info.Main.Version, "devel")
	}
	return cmp.Or(version, "devel")
}
