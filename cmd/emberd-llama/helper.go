package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"emberd/internal/llama"
	"emberd/internal/llamawire"
)

// maxWaiting bounds the requests that are read ahead of their replies. It is what lets the
// end of the input be seen while a text is embedded.
const maxWaiting = 64

// probeTime is what a look at libraries may take. It has no input that would end it.
const probeTime = time.Minute

// A helper answers one emberd.
type helper struct {
	replies io.Writer
}

// run loads what it is told to and answers until its input ends. Without a model it only says
// what the libraries are.
func (h *helper) run(input io.Reader, opt *options) error {
	requests := make(chan *llamawire.Request, maxWaiting)
	if opt.model != "" {
		go read(input, requests)
	} else {
		time.AfterFunc(probeTime,
			func() {
				os.Exit(complain(exitFailed, errors.New(
					"cannot load the llama.cpp libraries: the time limit was exceeded")))
			})
	}
	model, err := h.load(opt)
	if model == nil || err != nil {
		return err
	}
	debug.FreeOSMemory() // what was needed to check the model's file
	for request := range requests {
		if err := llamawire.Write(h.replies, answer(model, request)); err != nil {
			return err
		}
	}
	return nil
}

// refuse says hello with why nothing is loaded.
func (h *helper) refuse(err error) error {
	f := &llamawire.Failed{Of: llamawire.OfSandbox, Text: err.Error()}
	hello := &llamawire.Hello{Protocol: llamawire.Protocol, Version: buildVersion(), Failed: f}
	return errors.Join(err, llamawire.Write(h.replies, hello))
}

// load says hello: with what it has loaded, or with what has failed. The model is nil where
// none was asked for.
func (h *helper) load(opt *options) (*llama.Model, error) {
	hello := &llamawire.Hello{Protocol: llamawire.Protocol, Version: buildVersion()}
	model, err := open(opt, hello)
	if err != nil && !errors.As(err, &hello.Failed) {
		return nil, err
	}
	if err := llamawire.Write(h.replies, hello); err != nil {
		return nil, err
	}
	return model, err
}

func open(opt *options, hello *llamawire.Hello) (*llama.Model, error) {
	engine, err := llama.Open(opt.engine, report)
	if err != nil {
		return nil, err
	}
	hello.Engine = engine.Facts()
	if opt.model == "" {
		return nil, nil
	}
	model, err := engine.Load(opt.model, llama.Options{MaxTokens: opt.maxTokens})
	if err != nil {
		return nil, err
	}
	facts := model.Facts()
	hello.Model = &facts
	return model, nil
}

// report passes on what is wrong in llama.cpp's eyes. It says nothing of texts.
func report(level int, text string) {
	const warning = 3
	switch {
	case level == warning:
		fmt.Fprintln(os.Stderr, llamawire.Warning+text)
	case level > warning:
		fmt.Fprintln(os.Stderr, "llama.cpp: "+text)
	}
}

// read reads requests, and ends the process when there will be no more: the program that would
// read the replies is gone. Native code is not asked, it may take long or forever.
func read(input io.Reader, requests chan<- *llamawire.Request) {
	for {
		request := &llamawire.Request{}
		switch err := llamawire.Read(input, request); {
		case errors.Is(err, io.EOF):
			os.Exit(exitDone)
		case err != nil:
			os.Exit(complain(exitFailed, err))
		}
		select {
		case requests <- request:
		default:
			os.Exit(complain(exitFailed,
				fmt.Errorf("too many waiting requests (limit %d)", maxWaiting)))
		}
	}
}

func answer(model *llama.Model, request *llamawire.Request) *llamawire.Reply {
	reply := &llamawire.Reply{ID: request.ID}
	var err error
	if request.Count {
		reply.Tokens, err = model.Tokens(request.Text)
	} else {
		reply.Vector, reply.Tokens, reply.Unknown, err = model.Embed(request.Text, request.Thread)
	}
	if err != nil && !errors.As(err, &reply.Failed) {
		reply.Failed = &llamawire.Failed{Of: llamawire.OfText, Text: err.Error()}
	}
	return reply
}
