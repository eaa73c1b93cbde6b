// Package spelling says how far a misspelt name is from a known one, for errors
// that name the one that was probably meant.
package spelling

import "strings"

// longest bounds the work; names beyond it are compared by their beginning.
const longest = 64

// Distance is the Levenshtein distance of two names in bytes, ignoring case:
// the least number of bytes to insert, drop or replace. Of longer names the
// first 64 bytes count.
func Distance(a, b string) int {
	a, b = fold(a), fold(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

func fold(s string) string { return strings.ToLower(s[:min(len(s), longest)]) }
