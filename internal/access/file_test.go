package access

import (
	"bytes"
	"testing"
	"time"
)

// FuzzDecode: whatever the file has is refused, or means the same after it was written
// once more, and nothing in it is without a limit that it names.
func FuzzDecode(f *testing.F) {
	b := (&tokenTable{}).clone()
	for _, secret := range []string{"a", "b"} {
		key := digestOf(secret)
		b.tokens[key] = newEntry(Token{Name: secret, Client: "cursor", Read: []Scope{{Tag, "home"}, {Folder, "Work"}}, Write: []Scope{{Kind: All}},
			Created: noon().Time, Expires: noon().Add(time.Hour), Shown: noon().Truncate(24 * time.Hour)}, key)
	}
	b.revoke(b.named("b"))
	f.Add(encode(b))
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":1,"tokens":[{"name":"a","sha256":"","read":null,"write":["all"]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := decode(raw)
		if err != nil {
			return
		}
		for _, e := range b.tokens {
			if len(e.Read)+len(e.Write) == 0 || !isName(e.Name) || e.grant.expires != e.Expires {
				t.Errorf("%+v was taken", e.Token)
			}
		}
		again, err := decode(encode(b))
		if err != nil || !bytes.Equal(encode(again), encode(b)) {
			t.Errorf("written once more it is refused (%v) or means something else", err)
		}
	})
}
