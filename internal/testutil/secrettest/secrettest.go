// Package secrettest is, for tests, a corpus of texts with generated credentials that open
// nothing, and of texts that only look like them. Its sources contain no token, so that no
// scanner of credentials reports them: corpus.json has holes where a token would be.
package secrettest

import (
	_ "embed"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Alphabets that the fixtures name by one letter.
var alphabets = map[byte]string{
	'a': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
	'b': "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
	'd': "0123456789",
	'h': "0123456789abcdef",
	'l': "abcdefghijklmnopqrstuvwxyz",
	'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	'x': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
}

// Fill replaces each ‹a36› in spec by 36 random characters of alphabet a, and ‹a0› by
// nothing.
func Fill(rng *rand.Rand, spec string) string {
	var b strings.Builder
	for spec != "" {
		before, rest, found := strings.Cut(spec, "‹")
		b.WriteString(before)
		if !found {
			break
		}
		hole, after, _ := strings.Cut(rest, "›")
		n, err := strconv.Atoi(hole[1:])
		if err != nil {
			panic("bad fixture " + hole)
		}
		b.WriteString(random(rng, alphabets[hole[0]], n))
		spec = after
	}
	return b.String()
}

func random(rng *rand.Rand, alphabet string, n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(s)
}

// Seeded returns the source of randomness of one test.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(7, seed)) }

// Credential is a text whose secret is the part between « and ».
type Credential struct {
	Rule, Words string // what finds it, and what it is called
	spec        string
}

// In fills the spec and places it in a sentence, returning text and secret.
func (c Credential) In(rng *rand.Rand, before, after string) (text, secret string) {
	filled := Fill(rng, c.spec)
	_, rest, marked := strings.Cut(filled, "«")
	if !marked {
		return before + filled + after, filled
	}
	secret, _, _ = strings.Cut(rest, "»")
	return before + strings.NewReplacer("«", "", "»", "").Replace(filled) + after, secret
}

//go:embed corpus.json
var corpus []byte

// Credentials are one or more of each kind. No test changes them.
var Credentials []Credential

// Innocent are texts by what they are; they resemble a credential and contain none. [Fill]
// completes them. No test changes them.
var Innocent map[string]string

func init() {
	var read struct {
		Credentials [][3]string
		Innocent    map[string]string
	}
	if err := json.Unmarshal(corpus, &read); err != nil {
		panic(err)
	}
	for _, c := range read.Credentials {
		Credentials = append(Credentials, Credential{Rule: c[0], Words: c[1], spec: c[2]})
	}
	Innocent = read.Innocent
}
