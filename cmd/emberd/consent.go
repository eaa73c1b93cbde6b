package main

import (
	"bufio"
	"strings"
)

// agreed asks a question on a terminal, and takes anything but yes for no.
func (s *state) agreed(question string) bool {
	s.note("%s [y/N]", question)
	answer, err := bufio.NewReader(s.stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "y" || answer == "yes")
}
