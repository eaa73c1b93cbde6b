package vault_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"emberd/vault"
	"emberd/vault/frontmatter"
	"emberd/vault/noteedit"
)

// A note is read once it was left alone for long enough and could be written.
func TestSteady(t *testing.T) {
	const text = "human\r\n"
	d := newDesk(t, files{"a.md": text})
	data, res, err := d.writer.Steady(t.Context(), "a.md", 30*time.Minute)
	wantOutcome(t, res, err, vault.Written, "")
	if string(data) != text || res.Digest != sha256.Sum256([]byte(text)) {
		t.Errorf("read %q, digest %x", data, res.Digest)
	}
	data, res, err = d.writer.Steady(t.Context(), "a.md", 2*time.Hour)
	wantOutcome(t, res, err, vault.Later, vault.NotQuiet)
	if wait := res.Until.Sub(d.clock.Now()); data != nil || wait < 50*time.Minute || wait > 70*time.Minute {
		t.Errorf("read %q, again in %s", data, wait)
	}
	d.save(t, "a.sync-conflict-20260301-120000-ABCDEFG.md", text)
	data, res, err = d.writer.Steady(t.Context(), "a.md", 0)
	wantOutcome(t, res, err, vault.Later, vault.ConflictCopy)
	if data != nil {
		t.Errorf("read %q", data)
	}
	_, res, err = d.writer.Steady(t.Context(), "b.md", 0)
	wantOutcome(t, res, err, vault.Refused, vault.Gone)
}

// An edit that was made for other bytes is not applied, however little they differ.
func TestAnEditOfOtherBytes(t *testing.T) {
	d := newDesk(t, files{"a.md": "- [x] tick\n"})
	edit := stamp("1")
	edit.Of = new(sha256.Sum256([]byte("- [ ] tick\n")))
	res, err := d.writer.Update(t.Context(), "a.md", edit)
	wantOutcome(t, res, err, vault.Conflict, vault.HumanChanged)
	if got := d.read(t, "a.md"); got != "- [x] tick\n" {
		t.Errorf("the note is %q", got)
	}
	edit.Of = new(sha256.Sum256([]byte("- [x] tick\n")))
	res, err = d.writer.Update(t.Context(), "a.md", edit)
	wantOutcome(t, res, err, vault.Written, "")
	if got := d.read(t, "a.md"); got != stamped("1", "- [x] tick\n") {
		t.Errorf("the note is %q", got)
	}
}

func TestRegionOf(t *testing.T) {
	for note, want := range map[string][2]string{
		"a\n<!-- emberd:x -->\nb\nc\n<!-- /emberd:x -->\nd":                            {"b\nc\n", "a\nd"},
		"\ufeff---\r\nk: v\r\n---\r\n<!-- emberd:x -->\r\nb\x01\r\n<!-- /emberd:x -->": {"b\x01\n", ""},
		"---\nk: v\n---\nmine": {"", "mine"},
		"":                     {"", ""},
	} {
		text, rest, found, err := noteedit.RegionOf([]byte(note), "x")
		if text != want[0] || rest != want[1] || found != (want[0] != "") || err != nil {
			t.Errorf("%q has %q in %q, %v, %v", note, text, rest, found, err)
		}
	}
	for _, note := range []string{"<!-- emberd:x -->\na", "a\n<!-- /emberd:x -->", "```\n<!-- emberd:x -->\n```\n<!-- /emberd:x -->\n"} {
		if _, _, _, err := noteedit.RegionOf([]byte(note), "x"); !errors.As(err, new(*frontmatter.EditError)) {
			t.Errorf("%q: %v", note, err)
		}
	}
}
