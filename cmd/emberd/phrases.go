package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

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
		return nil, memory.Errorf(memory.Invalid, "phrases: %v; it must be a file that can be read, such as emberd config phrases prints", err)
	}
	a, err := intent.Load(path, data)
	if err != nil {
		return nil, memory.Errorf(memory.Invalid, "phrases: %w", err)
	}
	return a, nil
}

func readPhrases(path string) ([]byte, error) {
	f, err := os.Open(path)
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

func (s *state) configPhrasesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "phrases",
		Short: "Print the phrases by which messages are judged",
		Long: `Print the lists of phrases that come with emberd, as a file. A list in a file of
your own, which the setting phrases names, takes the place of the list here of
the same name; what it leaves out stays as it is.`,
		Example: `  emberd config phrases > phrases.yaml
  emberd serve --set phrases=phrases.yaml`,
		Annotations: exits(nil),
		Args:        takes(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			if s.json {
				return s.printJSON(map[string]string{"phrases": string(intent.DefaultFile())})
			}
			s.printf("%s", intent.DefaultFile())
			return nil
		},
	}
}
