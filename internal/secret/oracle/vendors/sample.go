// Package vendors makes credentials as their vendors document them, and texts that only look like
// credentials. It was written without sight of the rules of package secret, and must not import it: its
// tests measure what the rules find in it.
package vendors

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Sample is a text as somebody would save it, and the credential in it: empty if there is none.
type Sample struct {
	Text, Secret string
}

// A Kind is one kind of credential, or of text without a credential.
type Kind struct {
	Name string
	make func(s source) Sample
	// secret makes the credential alone, if its format identifies it.
	secret func(s source) string
}

// Samples returns n samples of the kind: the same ones for the same seed.
func (k Kind) Samples(seed uint64, n int) []Sample {
	s := source{rand.New(rand.NewPCG(seed, uint64(len(k.Name))))}
	all := make([]Sample, n)
	for i := range all {
		all[i] = k.make(s)
	}
	return all
}

// carriers are texts without any word of a vendor. A token with a format of its own needs no more.
var carriers = []string{
	"%s",
	"The new one is %s, we rotate it in March.",
	"export TOKEN=%s",
	`{"value": "%s", "ttl": 3600}`,
	"curl -H 'X-Auth: %s' https://api.acme-corp.net/v1/jobs",
	"- staging: %s (ask Priya before using it)",
	"Use `%s` for the deploy job.",
	"token: %s\nregion: eu-west-1",
}

// token is a kind whose format alone identifies it.
func token(name string, make func(s source) string) Kind {
	return Kind{name, func(s source) Sample {
		secret := make(s)
		return Sample{fmt.Sprintf(s.one(carriers...), secret), secret}
	}, make}
}

// inText is a kind that needs the words around it: make returns the credential, and texts have %s for it.
func inText(name string, make func(s source) string, texts ...string) Kind {
	return Kind{name, func(s source) Sample {
		secret := make(s)
		return Sample{fmt.Sprintf(s.one(texts...), secret), secret}
	}, nil}
}

// none is a kind without a credential: texts have %s for what make returns.
func none(name string, make func(s source) string, texts ...string) Kind {
	return Kind{name, func(s source) Sample {
		text := s.one(texts...)
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, make(s))
		}
		return Sample{Text: text}
	}, nil}
}
