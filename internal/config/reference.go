package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Reference renders the documentation of every setting as Markdown, without a
// top heading.
func Reference() []byte {
	var b bytes.Buffer
	b.WriteString(placesText)
	for _, sec := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| key | default | accepts | variables | sets |\n|---|---|---|---|---|\n", sec.title)
		for _, k := range sec.keys {
			writeRow(&b, k.setting())
		}
	}
	b.WriteString(foreignText)
	return b.Bytes()
}

func writeRow(b *bytes.Buffer, s Setting) {
	def := "none"
	if s.Default != "" {
		def = "`" + s.Default + "`"
	}
	cells := []string{"`" + s.Key + "`", def, s.Accepts, "`" + strings.Join(s.Variables, "`, `") + "`", s.Help}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// Example renders a config file in which every setting is commented out and
// has its default. Lines of prose begin with "# ", settings with "#" alone, so
// that removing the "#" of a line is all it takes to change one.
func Example() []byte {
	var b bytes.Buffer
	b.WriteString(exampleHead)
	for _, k := range keys {
		def := k.def
		if def == "" {
			def = "[]"
		}
		s := k.setting()
		fmt.Fprintf(&b, "\n# %s\n# %s.\n#%s: %s\n", s.Help, capital(s.Accepts), k.name, def)
	}
	return b.Bytes()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

const exampleHead = `# Settings of emberd. Every line that begins with "#" and a key shows the
# default; remove the "#" to change it. The keys of a group may also be nested:
# "decay.model: exponential" and "decay: {model: exponential}" are the same.
# "emberd config" lists what is in force and where each value came from.
`

const placesText = "" +
	"A setting takes its value from the first of these places that names it:\n\n" +
	"1. `--set key=value`; the last one wins when a key is given twice.\n" +
	"2. Its own variable, the first one in the tables below. A variable set to nothing counts as not set, and an\n" +
	"   `" + envPrefix + "` variable that is no setting is an error. `" + envHome + "` and `" + envConfig + "` stand for the flags `--home` and\n" +
	"   `--config`, and `" + envToken + "` is a capability token itself; names that begin with `" + testPrefix + "` are ignored, they belong to emberd's own tests.\n" +
	"3. The variables that CortexGraph knows it by, in CortexGraph's units.\n" +
	"4. The config file.\n" +
	"5. The default.\n\n" +
	"Times are written `90s`, `72h`, `3d` or `1d12h`, sizes `4MiB`. In paths, `~` and `$VAR` are replaced (`$$` is a\n" +
	"dollar sign); a relative path starts from the working directory, in the config file from the file's directory.\n" +
	"Several paths in one variable are separated as in `PATH`.\n\n" +
	"Checked, but not acted on in this version: every setting of `recall`.\n\n" +
	"| | Linux | macOS | with `--home DIR` |\n|---|---|---|---|\n" +
	"| config file | `$XDG_CONFIG_HOME/emberd/config.yaml` | `~/Library/Application Support/emberd/config.yaml` | `DIR/config.yaml` |\n" +
	"| `data` | `$XDG_DATA_HOME/emberd` | `~/Library/Application Support/emberd` | `DIR/data` |\n" +
	"| `state` | `$XDG_STATE_HOME/emberd` | `~/Library/Application Support/emberd-state` | `DIR/state` |\n" +
	"| `embedding.folder` | `$XDG_DATA_HOME/emberd-models` | `~/Library/Application Support/emberd-models` | `DIR/models` |\n" +
	"| `socket` | `$XDG_RUNTIME_DIR/emberd/emberd.sock` | `run/emberd.sock` under `state` | `DIR/emberd.sock` |\n\n" +
	"An XDG variable that is unset or not absolute counts as `~/.config`, `~/.local/share` or `~/.local/state`; without\n" +
	"`XDG_RUNTIME_DIR` the socket is `run/emberd.sock` under `state`. `--home` moves the defaults only: a place\n" +
	"that is set anywhere stays where it is set.\n"

const foreignText = `
## Variables of CortexGraph that are not read

| variable | instead |
|---|---|
` + "| `CORTEXGRAPH_STORAGE_BACKEND`, `CORTEXGRAPH_SQLITE_PATH` | the log under `data` is the only storage |\n" +
	"| `CORTEXGRAPH_MEMORIES_FILENAME`, `CORTEXGRAPH_RELATIONS_FILENAME` | files of a CortexGraph store are given to `emberd import` by name |\n" +
	"| `LTM_INDEX_PATH`, `LTM_INDEX_FILENAME`, `LTM_LEGACY_INDEX_FILENAME`, `CORTEXGRAPH_LTM_INDEX_MAX_AGE_SECONDS` | the index is under `state` and follows the vault by itself |\n" +
	"| `CORTEXGRAPH_SEMANTIC_LO` | nothing asks from which similarity down memories differ; `consolidation.review_at` says from which cohesion up they are reviewed |\n" +
	"| `GIT_AUTO_COMMIT`, `GIT_COMMIT_INTERVAL` | emberd runs no git in a vault |\n"
