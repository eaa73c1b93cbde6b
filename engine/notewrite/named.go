package notewrite

import (
	"errors"
	"fmt"
	"strings"

	"emberd/memory"
)

// asSent returns an error about a note with the name that the caller sent in place of its path, which is stored text.
func asSent(err error, path, sent string) error {
	typed, ok := errors.AsType[*memory.Error](err)
	if !ok || path == sent {
		return err
	}
	out := *typed
	out.Message = strings.ReplaceAll(out.Message, fmt.Sprintf("%q", path), fmt.Sprintf("%.200q", sent))
	out.Message = strings.ReplaceAll(out.Message, path, sent)
	return &out
}

// aboutSource returns an error about a note with a link to one that moves, with its path apart from the message.
func aboutSource(err error, path string) error {
	typed, ok := errors.AsType[*memory.Error](err)
	quoted := fmt.Sprintf("%q", path)
	if !ok || !strings.Contains(typed.Message, quoted) {
		return err
	}
	out := *typed
	out.Message = strings.ReplaceAll(out.Message, quoted, "with a link to the moved note")
	return out.About(path)
}
