package notesync

import (
	"emberd/internal/secret"
	"emberd/vault"
)

// checkCredentials reports the credentials in a note. Notes belong to the user, so emberd changes
// nothing.
func (c *vaultChecker) checkCredentials(note *vault.Note) {
	if !c.e.Opt.DetectSecrets {
		return
	}
	for _, s := range note.Sections {
		text := s.Heading + "\n" + s.Text
		for _, f := range secret.Scan(text) {
			c.find("credential", note.Path, s.Line, "this section of the note contains text that looks like a "+
				"credential (%s, %s), and agents that can search the vault can read it; remove the credential", f.Type,
				secret.Masked(text, f))
		}
	}
	for _, p := range note.Properties {
		text := p.Key + ": " + p.Value
		for _, f := range secret.Scan(text) {
			c.find("credential", note.Path, p.Line, "the property %.40s contains text that looks like a credential "+
				"(%s, %s), and agents that can search the vault can read it; remove the credential", p.Key, f.Type,
				secret.Masked(text, f))
		}
	}
}
