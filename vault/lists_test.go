package vault_test

import "testing"

// A note is one that holds a list by its property, or by the list if no property can be
// read.
func TestNotesThatHoldLists(t *testing.T) {
	for note, want := range map[string]string{
		"---\nemberd: index\n---\n":                                          "index",
		"---\nemberd: core\n---\n":                                           "core",
		"---\nemberd: something\n---\n":                                      "something",
		"---\nemberd: [\n---\n<!-- emberd:core -->\n<!-- /emberd:core -->\n": "core",
		"---\nemberd: [\n---\n<!-- emberd:core -->\nand no end\n":            "core",
		"---\nbroken: [\n---\ntext\n":                                        "",
		"emberd:: index\n":                                                   "",
		"<!-- emberd:index -->\n<!-- /emberd:index -->\n":                    "",
		"---\ntags: a\n---\n<!-- emberd:index -->\n<!-- /emberd:index -->\n": "",
	} {
		if got := noteOf(note).List; got != want {
			t.Errorf("%q holds %q, want %q", note, got, want)
		}
	}
}
