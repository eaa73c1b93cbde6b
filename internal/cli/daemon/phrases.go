package daemon

import (
	"fmt"
	"io"

	"emberd/internal/durable"
	"emberd/internal/intent"
	"emberd/memory"
)

// maxPhrases bounds what is read of a file of phrases; intent says how long one may be.
const maxPhrases = 1 << 20

// phrases is who judges messages by the lists in a file, nil without one.
func phrases(path string) (*intent.Analyzer, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readPhrases(path)
	if err != nil {
		// Not wrapped: an error of a path is taken for one of the daemon's own folders.
		return nil, memory.Errorf(memory.Invalid,
			"cannot read the file of the setting phrases: %v; to see the format, run: emberd config phrases", err)
	}
	a, err := intent.Load(path, data)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "phrases: %w", err)
	}
	return a, nil
}

func readPhrases(path string) ([]byte, error) {
	f, err := durable.OpenGivenOrPipe(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPhrases))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
