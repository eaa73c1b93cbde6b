package tempdaemon

import (
	"cmp"
	"slices"
	"strings"

	"emberd/internal/config"
	"emberd/memory"
)

// Settings returns the settings, as KEY=VALUE, of a daemon that is measured. It makes vectors as
// fast as it can and waits for that of a query, since a measurement is about how good they are.
// set are the changes that the user asks for, and own the user's configuration, of which only the
// installed models and engines are used. A setting that would lead the daemon out of its folder is
// an error.
func Settings(set []string, own *config.Config) ([]string, error) {
	settings := []string{"log.level=warn", "tuning=embedding.cpu_share=1,search.meaning_wait=10s"}
	for _, s := range set {
		if key := keyOf(s); slices.Contains([]string{"data", "state", "socket", "vaults"}, key) {
			return nil, memory.Errorf(memory.Invalid,
				"eval cannot use the setting %s, because its temporary daemon uses its own folder; omit the setting",
				key)
		}
	}
	settings = append(append(settings, set...), "embedding.folder="+own.Embedding.Folder)
	if Sets(set, "embedding.model") { // which may be a path from here, where the daemon is not
		settings = append(settings, "embedding.model="+cmp.Or(own.Embedding.Model, "none"))
	}
	return settings, nil
}

// Sets reports whether one of some settings changes a key.
func Sets(set []string, key string) bool {
	return slices.ContainsFunc(set, func(s string) bool { return keyOf(s) == key })
}

func keyOf(setting string) string {
	key, _, _ := strings.Cut(setting, "=")
	return strings.TrimSpace(key)
}

// Flags returns settings as arguments of emberd serve.
func Flags(settings []string) []string {
	var flags []string
	for _, set := range settings {
		flags = append(flags, "--set", set)
	}
	return flags
}
