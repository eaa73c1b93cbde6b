package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"emberd/internal/testutil/secrettest"
	"emberd/op"
)

// TestExportHasNoCredentials exports memories that have credentials in texts, tags, sources and evidence, each
// saved although it looks like one.
func TestExportHasNoCredentials(t *testing.T) {
	w := start(t)
	rng := secrettest.Seeded(3)
	var all []string
	for i, c := range secrettest.Credentials {
		text, secret := c.In(rng, "it is ", " today")
		all = append(all, secret)
		m := w.save(t, &op.SaveRequest{Content: fmt.Sprintf("Number %d: %s", i, text), Source: text, Context: text,
			AllowSecret: true})
		if i%7 != 0 {
			continue
		}
		if _, err := op.ReviewCreate.Call(t.Context(), w.client, &op.ReviewCreateRequest{MemoryIDs: []string{string(m.ID)},
			Evidence: text, AllowSecret: true}); err != nil {
			t.Fatal(err)
		}
	}
	w.save(t, &op.SaveRequest{Content: "The staging database listens on port 5433"})
	var b bytes.Buffer
	if err := w.page.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, text := range all {
		if strings.Contains(page, text) {
			t.Errorf("the file contains %s", text)
		}
	}
	for _, want := range []string{"The staging database listens on port 5433", "redacted: the text looks like a credential",
		"default-src &#39;none&#39;"} {
		if !strings.Contains(strings.ReplaceAll(page, "default-src 'none'", "default-src &#39;none&#39;"), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	for _, bad := range []string{"<script", "src=", "<link", "http://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the file contains %q", bad)
		}
	}
}
