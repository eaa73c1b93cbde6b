package vault

import (
	"context"
	"strings"
)

// Text returns the beginning of a note, at most 1 MiB, as it is written at this
// moment, for showing parts of it. It does not wait for an editor that is in the
// middle of saving. Bytes that are not UTF-8 read as "?". Its errors are those of
// [Vault.Read].
func (v *Vault) Text(ctx context.Context, path string) (string, error) {
	if err := v.admit(path); err != nil {
		return "", err
	}
	c, err := v.load(ctx, path)
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(string(c.data), "?"), nil
}
