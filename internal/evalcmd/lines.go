package evalcmd

import (
	"bufio"
	"emberd/memory"
	"encoding/json"
	"os"
	"strings"
)

// maxLine bounds a line of a file that is read.
const maxLine = 4 << 20

// readLines reads a file of JSON objects, one a line; check reports whether one is complete, and
// what says what a line without the needed members lacks.
func readLines[T any](name, what string, check func(*T) bool) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "%w", err)
	}
	defer f.Close()
	var all []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxLine)
	for number := 1; in.Scan(); number++ {
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		var one T
		if err := json.Unmarshal(in.Bytes(), &one); err != nil || !check(&one) {
			return nil, memory.Errorf(memory.Invalid, "%s: line %d holds no %s", name, number, what)
		}
		all = append(all, one)
	}
	if err := in.Err(); err != nil {
		return nil, memory.Errorf(memory.Invalid, "%s: %w", name, err)
	}
	return all, nil
}
