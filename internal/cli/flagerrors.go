package cli

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"emberd/memory"
)

// flagFor are the flags that are not called what the field of a request is that they
// fill, but for its underscores.
var flagFor = map[string]string{
	"tags": "tag", "entities": "entity", "session_id": "session", "new_evidence": "evidence",
	"window_days": "within", "file": "from",
	"days_unused": "days", "min_age_days": "days", "max_access_count": "most", "similarity_threshold": "threshold",
	"sample_size": "sample",
}

// flagged says what is wrong with a request in the words of who typed it: by the flags of
// the command, where the sentence names the fields that they fill.
func flagged(cmd *cobra.Command, err error) error {
	e, ok := err.(*memory.Error) // what wraps one says more than it, or has an exit code
	if !ok {
		return err
	}
	said := *e
	name := cmp.Or(flagFor[e.Field], dashes(e.Field))
	if rest, ok := strings.CutPrefix(e.Message, e.Field+" "); ok && cmd.Flags().Changed(name) {
		said.Message = "--" + name + " " + rest
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if field := strings.ReplaceAll(f.Name, "-", "_"); field != f.Name &&
			!strings.Contains(said.Message, "--"+f.Name) {
			said.Message = regexp.MustCompile(`\b`+field+`\b`).ReplaceAllLiteralString(said.Message, "--"+f.Name)
		}
	})
	return &said
}

// FlagsOnly removes the names of fields from a message of the daemon that names a flag too, in one of two forms.
func FlagsOnly(message string) string {
	flagAndField := regexp.MustCompile(`(--[a-z-]+) \([a-z_]+\)`)
	fieldAndFlag := regexp.MustCompile(`set [a-z_]+ \((--[a-z-]+)\)`)
	return fieldAndFlag.ReplaceAllString(flagAndField.ReplaceAllString(message, "$1"), "use $1")
}

func dashes(field string) string { return strings.ReplaceAll(field, "_", "-") }
