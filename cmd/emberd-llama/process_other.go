//go:build unix && !linux

package main

// expendable does nothing: there is no such setting.
func expendable() {}
