package main

import (
	"fmt"
	"os"

	"emberd/internal/llama"
	"emberd/internal/sandbox/native"
)

// confine puts the process into its sandbox before a library is loaded, unless the user switched
// it off. The first call does not return, except with an error: the program starts again, and the
// second call there completes the sandbox.
func confine(opt *options) error {
	var err error
	switch opt.sandbox {
	case entered:
		err = native.Seal()
	case sandboxOff:
		stepBack()
		return nil
	default:
		stepBack() // the sandbox does not permit it
		err = restart(opt)
	}
	if err != nil {
		return fmt.Errorf("cannot run emberd-llama in a sandbox: %w; to load the "+
			"libraries without a sandbox, run: emberd config set sandbox off", err)
	}
	return nil
}

// restart starts the program again where only its model and libraries can be read.
func restart(opt *options) error {
	engine, policy := opt.engine, &native.Policy{Folders: []string{opt.engine}}
	if dir, folders, files, err := llama.Places(opt.engine); err == nil { // else Open says what is wrong
		engine, policy.Folders, policy.Files = dir, folders, files
	}
	args := []string{os.Args[0], "--sandbox", entered, "--engine", engine}
	if opt.model != "" {
		policy.Files = append(policy.Files, opt.model)
		args = append(args, "--model", opt.model, "--max-tokens", fmt.Sprint(opt.maxTokens))
	}
	if err := keepReplies(); err != nil {
		return err
	}
	return native.Restart(policy, args)
}
