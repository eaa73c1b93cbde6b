package secret

import (
	_ "embed"

	"gopkg.in/yaml.v3"
)

//go:embed rules.yaml
var rulesFile []byte

// allRules returns the rules in rules.yaml.
func allRules() []rule {
	var rules []rule
	if err := yaml.Unmarshal(rulesFile, &rules); err != nil {
		panic(err)
	}
	return rules
}

// UnmarshalYAML reads a rule. Functions have the names that they have in this package.
func (r *rule) UnmarshalYAML(n *yaml.Node) error {
	var in struct {
		ID, Pattern, Nearby           string
		Accept, Check                 string
		Entropy                       float64
		Changes, Window               int
		Fold, Inside, Blob, Weak, Raw bool
		Marks                         [][]string
		Lead                          struct {
			Of       string
			Min, Max int
		}
	}
	if err := n.Decode(&in); err != nil {
		return err
	}
	*r = rule{
		id: in.ID, pattern: in.Pattern, nearby: in.Nearby, entropy: in.Entropy, changes: in.Changes, window: in.Window,
		fold: in.Fold, inside: in.Inside, blob: in.Blob, weak: in.Weak, raw: in.Raw,
		lead: lead{classes[in.Lead.Of], in.Lead.Min, in.Lead.Max}, accept: judges[in.Accept], check: checks[in.Check],
	}
	for _, line := range in.Marks {
		for _, literal := range line[1:] {
			r.marks = append(r.marks, mark{literal: literal, words: line[0]})
		}
	}
	return nil
}

// judges are the functions that a rule can name as accept.
var judges = map[string]func(between, value string) bool{
	"assignedKey": assignedKey, "assignedPassword": assignedPassword, "hasDigit": hasDigit, "headerValue": headerValue,
	"keyBody": keyBody, "nearPassword": nearPassword, "netrcPassword": netrcPassword,
	"notDummy": notDummy, "spokenPassword": spokenPassword, "vendorKey": vendorKey,
}

// checks are the functions that a rule can name as check.
var checks = map[string]func(text string, start, end int) bool{
	"base58Check": base58Check, "cardNumber": cardNumber, "usedPassword": usedPassword,
}

// classes are the functions that a rule can name for the characters in front of a mark.
var classes = map[string]func(byte) bool{
	"isAlnum": isAlnum, "isAzure": isAzure, "isDigit": isDigit, "isHex": isHex, "isWord": isWord,
}

// isAzure reports whether c may stand before the mark of an Azure client secret.
func isAzure(c byte) bool { return isWord(c) || c == '~' || c == '.' }

// keyBody reports whether a key's header is followed by a key, and not by words
// about it: whether there is a line of base64.
func keyBody(_, block string) bool {
	const line = 40
	run := 0
	for i := range len(block) {
		run++
		if c := block[i]; !isAlnum(c) && c != '+' && c != '/' {
			run = 0
		}
		if run == line {
			return true
		}
	}
	return false
}

// headerValue judges what follows an authorization header's name.
func headerValue(between, value string) bool {
	return notDummy(between, value) && hasDigit(between, value) && changes(value) >= 3
}
