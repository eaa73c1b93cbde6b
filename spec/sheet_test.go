package spec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A sheet is a file of rows. Its comments are
//
//	# worlds: empty large       where it runs
//	# quick                     it runs in the empty world without EMBERD_SPEC, too
//	# 4.101 what is required    the beginning of a row
//	# deviates: why             of the row above
type sheet struct {
	name, file string
	worlds     []string
	quick      bool
	rows       []*row
}

// A row is one requirement, and the commands that show it.
type row struct {
	id, says, deviates string
	line               int
	calls              []string // what it uses: tools, operations, commands
	checks             int
}

// document is the number of the document that a row is about, or x.
func (r *row) document() string {
	d, _, _ := strings.Cut(r.id, ".")
	return d
}

var (
	rowLine = regexp.MustCompile(`^# ([1-5x]\.\d+) (.+)$`)
	call    = regexp.MustCompile(`\b(?:mcp|http|exec|progress) (?:emberd )?([\w/. -]+)`)
	check   = regexp.MustCompile(`^(?:! )?(?:field|stdout|stderr|exists|grep|cmp|code|sum|figure|until|progress)\b|^! `)
)

func readSheet(file string) (*sheet, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	script, _, _ := strings.Cut(string(raw), "\n-- ")
	s := &sheet{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file}
	seen := 0
	for line := range strings.Lines(script) {
		seen++
		s.take(strings.TrimRight(line, "\n"), seen)
	}
	if len(s.worlds) == 0 {
		return nil, fmt.Errorf("%s names no worlds", file)
	}
	for _, r := range s.rows {
		if r.checks == 0 {
			return nil, fmt.Errorf("%s:%d: row %s expects nothing", file, r.line, r.id)
		}
	}
	return s, nil
}

func (s *sheet) take(line string, number int) {
	if list, ok := strings.CutPrefix(line, "# worlds: "); ok {
		s.worlds = strings.Fields(list)
		return
	}
	s.quick = s.quick || line == "# quick"
	if m := rowLine.FindStringSubmatch(line); m != nil {
		s.rows = append(s.rows, &row{id: m[1], says: m[2], line: number})
		return
	}
	if len(s.rows) == 0 {
		return
	}
	r := s.rows[len(s.rows)-1]
	if why, ok := strings.CutPrefix(line, "# deviates: "); ok {
		r.deviates = why
	}
	if check.MatchString(line) {
		r.checks++
	}
	if m := call.FindStringSubmatch(line); m != nil {
		r.calls = append(r.calls, strings.TrimSpace(m[1]))
	}
}

// rowAt is the row of a line; lines above the first row are of a row of their own.
func (s *sheet) rowAt(number string) *row {
	n, _ := strconv.Atoi(number)
	at := &row{id: s.name, says: "what the rows need"}
	for _, r := range s.rows {
		if r.line <= n {
			at = r
		}
	}
	return at
}
