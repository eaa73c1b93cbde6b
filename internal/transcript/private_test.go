package transcript

import "testing"

// What is private is cut however its tags are typed.
func TestPrivateHoweverItIsTyped(t *testing.T) {
	for message, want := range map[string]string{
		"a < private >b</ private> c":                 "a  c",
		"a &lt;private&gt;b&lt;/private&gt; c":        "a  c",
		"a <private/>b</private> c":                   "c",
		"b</private> c":                               "c",
		"a <PRIVATE reason=\"x\">b</Private> c":       "a  c",
		"a <private>b</private> c <private>d":         "a  c",
		"the private key is a type; see <privateKey>": "the private key is a type; see <privateKey>",
	} {
		if got := Clean(message); got != want {
			t.Errorf("of %q it leaves %q, want %q", message, got, want)
		}
	}
}
