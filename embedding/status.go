package embedding

import "time"

// Status reports how vectors are made.
type Status struct {
	Provider string // "" while none was chosen
	Model    string
	Dim      int
	// MaxTokens is how much of a text counts with this model, which may be less than is set.
	MaxTokens int
	Lexical   bool
	Loaded    bool              // whether a model is in memory, or a server answered last
	Passed    []SkippedProvider // the configured providers before it in the chain
	Problem   string            // of the last call, "" if it went well

	Native *NativeStatus // nil without a helper and an engine
}

// SkippedProvider is a provider that was skipped, and why.
type SkippedProvider struct {
	Provider string
	Reason   string
}

// NativeStatus describes the helper process of the llama provider.
type NativeStatus struct {
	Helper string // the program
	Engine string // the folder of the libraries
	// Unconfined reports that the libraries are loaded outside of a sandbox.
	Unconfined bool
	// NoSandbox is why the helper did not load the libraries: it could not confine them. "" if it could.
	NoSandbox string

	// What the helper last said of itself and of them, empty before it was started.
	Version  string
	Release  string
	System   string
	Warning  string
	Backends []string

	PID      int       // 0 while none runs
	Started  time.Time // the one that runs, or ran last
	Restarts int       // after it ended without being told to
	// LastExit is how it last ended without being told to, and Output the beginning and
	// the end of what it printed, both empty if it never did.
	LastExit string
	Output   string
	Bad      []IncompatibleModel
	// GivenUp reports why this run gave its engine up over its model, "" if it did not.
	GivenUp string
}

// IncompatibleModel is a model that crashes an engine, and is not tried again with it.
type IncompatibleModel struct {
	Model  string    `json:"model"`  // SHA-256 of its file, in hex
	Engine string    `json:"engine"` // digest of the helper and its libraries
	File   string    `json:"file"`   // where the model was
	When   time.Time `json:"when"`
	Why    string    `json:"why"`
}

// Status reports how vectors are made. It waits for nothing.
func (e *Embedder) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Status{Passed: append([]SkippedProvider(nil), e.passed...)}
	if e.problem != nil {
		s.Problem = e.problem.Error()
	}
	if c := e.chosen; c != nil {
		s.Provider, s.Model, s.Dim, s.Lexical = c.name, c.identity.Model, c.identity.Dim, c.identity.Lexical
		s.MaxTokens, s.Loaded = c.identity.MaxTokens, c.loaded()
	}
	for _, l := range e.chain {
		if helped, ok := l.provider.(interface{ nativeStatus() *NativeStatus }); ok {
			s.Native = helped.nativeStatus()
		}
	}
	return s
}
