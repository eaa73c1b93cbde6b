package core

import "fmt"

// NumberOf returns a count with its noun, and its verb if the caller adds one: "1 note is", "3 notes are".
func NumberOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
