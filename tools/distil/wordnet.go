package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Lexicographer files of WordNet, which are left out: names of species hardly say what words mean.
const animals, plants = "05", "20"

var (
	quoted = regexp.MustCompile(`"([^"]*)"?`)
	marker = regexp.MustCompile(`\((a|p|ip)\)$`) // where an adjective may stand
)

// leastWords is the length of the shortest example that is taken.
const leastWords = 3

// readWordNet returns the texts of WordNet's database in a folder: for each group of synonyms these with their
// definition ("car, auto: a motor vehicle …"), and each example. Its format is that of wndb(5WN).
func readWordNet(folder string) (texts []string, err error) {
	for _, part := range []string{"noun", "verb", "adj", "adv"} {
		data, err := os.ReadFile(filepath.Join(folder, "data."+part))
		if err != nil {
			return nil, fmt.Errorf("WordNet: %w", err)
		}
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, "  ") { // the licence
				continue
			}
			if texts, err = appendTexts(texts, line); err != nil {
				return nil, fmt.Errorf("WordNet: data.%s: %w", part, err)
			}
		}
	}
	return texts, nil
}

// appendTexts adds the texts of a line, which is the offset, the file, the kind, the number of words in hex, each
// word with a number, what is about other lines, and behind a bar the definition and examples in quotes.
func appendTexts(texts []string, line string) ([]string, error) {
	head, gloss, ok := strings.Cut(strings.TrimSpace(line), " | ")
	fields := strings.Fields(head)
	const fixed = 4
	if !ok || len(fields) < fixed {
		return nil, fmt.Errorf("no group of synonyms: %.60q", line)
	}
	n, err := strconv.ParseUint(fields[3], 16, 8)
	if err != nil || len(fields) < fixed+2*int(n) {
		return nil, fmt.Errorf("%d fields for %q words: %.60q", len(fields), fields[3], line)
	}
	var words []string
	for i := range int(n) {
		words = append(words, strings.ReplaceAll(marker.ReplaceAllString(fields[fixed+2*i], ""), "_", " "))
	}
	if fields[1] != animals && fields[1] != plants && !isName(fields[2], words[0]) {
		definition := strings.Trim(quoted.ReplaceAllString(gloss, ""), " ;")
		texts = append(texts, strings.Join(words, ", ")+": "+definition)
	}
	for _, example := range quoted.FindAllStringSubmatch(gloss, -1) {
		if len(strings.Fields(example[1])) >= leastWords {
			texts = append(texts, strings.TrimSpace(example[1]))
		}
	}
	return texts, nil
}

func isName(kind, word string) bool { return kind == "n" && strings.ToLower(word[:1]) != word[:1] }
