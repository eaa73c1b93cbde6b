package vendors

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"emberd/internal/secret"
)

// Rules were written against samples of the seed 1; the published figures are those of another.
var seed = flag.Uint64("seed", 1, "the seed of the samples")

var misses = flag.Bool("misses", false, "print each credential that Scan misses and each other text that it refuses")

// perKind is how many samples of each kind are scanned.
const perKind = 100

// found reports whether a finding overlaps the credential of the sample.
func found(s Sample) bool {
	at := strings.Index(s.Text, s.Secret)
	for _, f := range secret.Scan(s.Text) {
		if f.Start < at+len(s.Secret) && f.End > at {
			return true
		}
	}
	return false
}

// scanned returns in how many samples of a kind Scan finds a credential.
func scanned(t *testing.T, k Kind) (refused int) {
	for _, s := range k.Samples(*seed, perKind) {
		hit := found(s)
		if s.Secret == "" {
			hit = len(secret.Scan(s.Text)) > 0
		}
		if hit {
			refused++
		}
		if *misses && hit == (s.Secret == "") {
			t.Logf("%s: %q", k.Name, s.Text)
		}
	}
	return refused
}

// What the tests of this package require: the share of credentials that Scan finds, of all kinds and of each that has a
// documented format, and the share of what it finds that are credentials.
const (
	minRecall    = 0.95
	minKind      = 0.85
	minPrecision = 0.98
	// In texts that were written after the rules: somewhat below what it was when they were.
	minUnseen          = 0.8
	minUnseenPrecision = 0.97
)

// recall logs the recall of each kind, and returns how many credentials Scan finds of how many.
func recall(t *testing.T, kinds []Kind) (hits, total int) {
	for _, k := range kinds {
		n := scanned(t, k)
		hits, total = hits+n, total+perKind
		t.Logf("| %-24s | %2d of %d | %.3f |", k.Name, n, perKind, float64(n)/perKind)
	}
	return hits, total
}

// TestFormats measures Scan on credentials as their vendors document them: make oracle prints the figures.
func TestFormats(t *testing.T) {
	formats := slices.Concat(Tokens, InContext, Claimed)
	kinds := slices.Concat(formats, Wordings)
	hits, total := recall(t, kinds)
	for _, k := range formats {
		if n := scanned(t, k); float64(n) < minKind*perKind {
			t.Errorf("%s: %d of %d found, want %.0f %%", k.Name, n, perKind, 100*minKind)
		}
	}
	wrong := refused(t, Negatives)
	recall, precision := float64(hits)/float64(total), float64(hits)/float64(hits+wrong)
	t.Logf("%d kinds: %d of %d found, recall %.3f; %d kinds of other texts: %d of %d refused, precision %.3f",
		len(kinds), hits, total, recall, len(Negatives), wrong, len(Negatives)*perKind, precision)
	if recall < minRecall || precision < minPrecision {
		t.Errorf("recall %.3f and precision %.3f, want %.2f and %.2f", recall, precision, minRecall, minPrecision)
	}
}

// refused logs in how many samples of each kind Scan finds a credential that is not there, and returns their number.
func refused(t *testing.T, kinds []Kind) (wrong int) {
	for _, k := range kinds {
		n := scanned(t, k)
		wrong += n
		t.Logf("| %-24s | %2d of %d refused |", k.Name, n, perKind)
	}
	return wrong
}

// TestUnseen measures Scan on texts that the rules were not written for.
func TestUnseen(t *testing.T) {
	hits, total := recall(t, Unseen)
	wrong := refused(t, UnseenOthers)
	recall, precision := float64(hits)/float64(total), float64(hits)/float64(hits+wrong)
	t.Logf("%d of %d found, recall %.3f; %d of %d other texts refused, precision %.3f",
		hits, total, recall, wrong, len(UnseenOthers)*perKind, precision)
	if recall < minUnseen || precision < minUnseenPrecision {
		t.Errorf("recall %.3f and precision %.3f, want %.2f and %.2f", recall, precision, minUnseen, minUnseenPrecision)
	}
}
