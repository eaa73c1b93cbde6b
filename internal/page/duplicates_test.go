package page_test

import (
	"strings"
	"testing"

	"emberd/op"
)

// TestPairsThatAreLeftOutAreCounted: pairs whose decision waits or was to keep both are those by which the numbers of
// Health and Decisions differ.
func TestPairsThatAreLeftOutAreCounted(t *testing.T) {
	w := start(t)
	cookie := w.browser(t)
	const text = "The staging server runs on port 8443 behind nginx in the Berlin office"
	a, b := w.save(t, &op.SaveRequest{Content: text}), w.save(t, &op.SaveRequest{Content: text + ".", Again: true})
	shows := func(path string, want ...string) {
		t.Helper()
		_, _, body := w.send(t, request{path: path, cookie: cookie})
		for _, part := range want {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %q", path, part)
			}
		}
	}
	shows("/health", "<strong>1</strong> pairs of near-duplicates")
	shows("/duplicates", "Which memory do you want to keep?")
	w.do(t, cookie, "differ", map[string]string{"id1": string(a.ID), "id2": string(b.ID)})
	shows("/health?fresh=1", "<strong>1</strong> pairs of near-duplicates")
	shows("/duplicates", "No other near-duplicates.", "This list omits 1 pair that you kept or can decide above")
}
