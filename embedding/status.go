package embedding

// Status tells how vectors are made.
type Status struct {
	Provider string // "" while none was chosen
	Model    string
	Dim      int
	Lexical  bool
	Loaded   bool     // whether a model is in memory, or a server answered last
	Passed   []Passed // the configured providers before it in the chain
	Problem  string   // of the last call, "" if it went well
}

// Passed is a provider that was passed over.
type Passed struct {
	Provider string
	Reason   string
}

// Status tells how vectors are made. It waits for nothing.
func (e *Embedder) Status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Status{Passed: append([]Passed(nil), e.passed...)}
	if e.problem != nil {
		s.Problem = e.problem.Error()
	}
	if c := e.chosen; c != nil {
		s.Provider, s.Model, s.Dim, s.Lexical = c.name, c.identity.Model, c.identity.Dim, c.identity.Lexical
		s.Loaded = c.loaded()
	}
	return s
}
