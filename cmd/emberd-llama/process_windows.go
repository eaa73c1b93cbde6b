package main

import (
	"errors"
	"os"
)

func replies() (*os.File, error) {
	return nil, errors.New("emberd can run llama.cpp on Linux and macOS only")
}

func keepReplies() error { return nil }

func stepBack() {}
