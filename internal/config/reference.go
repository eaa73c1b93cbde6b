package config

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
)

// referencePage is the page around the tables of settings.
//
//go:embed reference.md
var referencePage string

// Reference renders the documentation of every setting as Markdown, without a top heading.
func Reference() []byte {
	var b bytes.Buffer
	before, after, _ := strings.Cut(referencePage, "{{settings}}")
	b.WriteString(before)
	for _, sec := range sections(new(Config)) {
		fmt.Fprintf(&b, "\n## %s\n\n| key | default | accepts | variables | sets |\n|---|---|---|---|---|\n", sec.title)
		for _, k := range sec.keys {
			s := k.setting()
			writeRow(&b, code(s.Key), code(s.Default), s.Accepts, "`"+strings.Join(s.Variables, "`, `")+"`", s.Help)
		}
	}
	b.WriteString("\n" +
		"## Numbers of `tuning`\n" +
		"\n" +
		"Write each number as `NAME=NUMBER`, for example `tuning: [verify.confirmed=0.9]`.\n" +
		"\n" +
		"| name | default | accepts | sets |\n" +
		"|---|---|---|---|\n")
	for _, k := range numbers() {
		writeRow(&b, code(k.name), code(k.def), k.value.want, k.help())
	}
	b.WriteString("\n" +
		"## Settings of earlier versions\n" +
		"\n" +
		"emberd ignores these settings and shows a warning. In earlier versions, each number of `tuning` was a " +
		"separate setting.\n" +
		"\n" +
		"| setting | now |\n" +
		"|---|---|\n")
	for _, r := range removedKeys() {
		if r.now != "" {
			names := []string{code(r.name)}
			for _, v := range r.also {
				names = append(names, code(v))
			}
			writeRow(&b, strings.Join(names, ", "), r.now)
		}
	}
	b.WriteString(after)
	return b.Bytes()
}

func code(text string) string {
	if text == "" {
		return none
	}
	return "`" + text + "`"
}

func writeRow(b *bytes.Buffer, cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// Example renders a config file in which every setting is commented out and has its default.
// Lines of prose begin with "# ", settings with "#" alone, so that removing the "#" of a line is
// all it takes to change one.
func Example() []byte {
	b := bytes.NewBufferString(exampleHead)
	for _, k := range keys() {
		def := k.def
		if def == "" {
			def = "[]"
		}
		want := strings.ToUpper(k.value.want[:1]) + k.value.want[1:]
		fmt.Fprintf(b, "\n# %s\n# %s.\n#%s: %s\n", k.help(), want, k.name, def)
	}
	return b.Bytes()
}

const exampleHead = `# Settings of emberd. Every line that begins with "#" and a key shows the
# default; to change the setting, remove the "#". You can also nest the keys of
# a group: "decay.model: exponential" and "decay: {model: exponential}" are the
# same.
# "emberd config" lists the current values and the source of each value.
`
