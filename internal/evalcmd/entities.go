package evalcmd

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"emberd/internal/cli"
	"emberd/internal/entity"
	"emberd/memory"
)

// namedSentence is a sentence with the names that somebody saw in it.
type namedSentence struct {
	Sentence string `json:"sentence"`
	Names    []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"names"`
}

// entitiesReport is what the finder of names finds of labelled sentences. A name is found if one
// of the same words is.
type entitiesReport struct {
	Sentences int                  `json:"sentences"`
	Found     int                  `json:"found"`
	Right     int                  `json:"right"`
	Kinds     map[string]*kindFind `json:"kinds"`
	Wrong     []string             `json:"wrong"`  // found and not labelled
	Missed    []string             `json:"missed"` // labelled and not found
}

// kindFind is how many names of a kind there are, and how many of them are found.
type kindFind struct {
	Names int `json:"names"`
	Found int `json:"found"`
}

// entitiesCommand prints its report to out, as JSON if asJSON is set then.
func entitiesCommand(out io.Writer, asJSON *bool) *cobra.Command {
	return &cobra.Command{
		Use:  "entities FILE…",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			report := entitiesReport{Kinds: map[string]*kindFind{}, Wrong: []string{}, Missed: []string{}}
			for _, name := range args {
				all, err := readLines(name, "sentence with its names",
					func(s *namedSentence) bool { return s.Sentence != "" })
				if err != nil {
					return err
				}
				for i := range all {
					report.add(&all[i])
				}
			}
			slices.Sort(report.Wrong)
			if *asJSON {
				return cli.WriteJSON(out, &report)
			}
			report.print(out)
			return nil
		},
	}
}

// add compares what is found in a sentence with its names.
func (r *entitiesReport) add(s *namedSentence) {
	found := map[string]string{}
	for _, e := range entity.Entities(s.Sentence, entity.Options{Limit: memory.MaxEntities}) {
		found[entity.Key(e.Name)] = fmt.Sprintf("%s (%s) in: %s", e.Name, e.Kind, s.Sentence)
	}
	r.Sentences++
	r.Found += len(found)
	for _, n := range s.Names {
		of := r.Kinds[n.Kind]
		if of == nil {
			of = &kindFind{}
			r.Kinds[n.Kind] = of
		}
		of.Names++
		key := entity.Key(n.Name)
		if _, ok := found[key]; !ok {
			r.Missed = append(r.Missed, fmt.Sprintf("%s (%s) in: %s", n.Name, n.Kind, s.Sentence))
			continue
		}
		of.Found++
		r.Right++
		delete(found, key)
	}
	r.Wrong = slices.AppendSeq(r.Wrong, maps.Values(found))
}

func (r *entitiesReport) print(out io.Writer) {
	fmt.Fprintf(out, "%-20s %d\n%-20s %s\n", "sentences", r.Sentences, "precision", share(r.Right, r.Found))
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(out, "%-20s %s\n", "recall of "+kind, share(r.Kinds[kind].Found, r.Kinds[kind].Names))
	}
	for _, name := range r.Wrong {
		fmt.Fprintf(out, "%-20s %s\n", "wrong", name)
	}
	for _, name := range r.Missed {
		fmt.Fprintf(out, "%-20s %s\n", "missed", name)
	}
}

// share returns a part of a whole as both of them and a ratio.
func share(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%.3f (%d of %d)", float64(part)/float64(whole), part, whole)
}
