package op

import "time"

// Meaning tells what part vectors had in an answer.
type Meaning struct {
	Provider string `json:"provider,omitempty"` // http, go, words; none yet if empty
	Model    string `json:"model,omitempty"`
	// Covered of Total memories and notes have their vectors.
	Covered int `json:"covered"`
	Total   int `json:"total"`
	// Weight is what rankings trust the vectors, 0 to 1: 0 leaves them out.
	Weight float64 `json:"weight"`
	// Without is why this answer is by words alone, if it is.
	Without string `json:"without,omitempty"`
}

// MeaningExplain is what the nearest vector of a hit added to its relevance.
type MeaningExplain struct {
	Cosine float64 `json:"cosine"`
	Near   float64 `json:"near"` // 0, as texts that have nothing to do with each other, to 1, the same meaning
	Line   int     `json:"line,omitempty"`
	Score  float64 `json:"score"`
}

// SignalExplain is what something beside words and meaning added to a relevance, and for what.
type SignalExplain struct {
	For   string  `json:"for"`
	Score float64 `json:"score"`
}

// EngineStatusRequest has no fields.
type EngineStatusRequest struct{}

// EnginePauseRequest stops the making of vectors.
type EnginePauseRequest struct{}

// EngineResumeRequest lets it go on.
type EngineResumeRequest struct{}

// What the making of vectors is at.
const (
	EngineOff      = "off"      // there are to be no vectors
	EngineUnused   = "unused"   // nothing would ask for those of this model
	EngineWaiting  = "waiting"  // for a model, or after a failure
	EngineWorking  = "working"  // vectors are being made
	EnginePaused   = "paused"   // somebody asked for it
	EngineComplete = "complete" // everything has its vectors
)

// EngineStatusResult tells how vectors are made.
type EngineStatusResult struct {
	State   string   `json:"state"`
	Meaning *Meaning `json:"meaning,omitempty"` // nil when there are to be none
	// Model is the one whose vectors are made, or were last.
	Model *EngineModel `json:"model,omitempty"`
	// Earlier is a model whose vectors serve until those of Model are complete.
	Earlier *EngineModel `json:"earlier,omitempty"`
	// Passed are the providers that come first in the settings and do not work, with why.
	Passed []PassedProvider `json:"passed,omitempty"`
	// Problem is why nothing goes on at present, what the last query failed of, or why there
	// are to be no vectors. Again is when it is tried again.
	Problem string    `json:"problem,omitempty"`
	Again   time.Time `json:"again,omitzero"`

	Made      int64   `json:"made"`                 // vectors, since the daemon started
	PerSecond float64 `json:"per_second,omitempty"` // vectors made lately, rests included
	Left      int64   `json:"left_s,omitempty"`     // seconds until everything has vectors, about
	Share     float64 `json:"cpu_share,omitempty"`  // of one processor that this may take
	Skipped   int     `json:"skipped,omitempty"`    // memories and notes that cannot have vectors at present

	Folder  string `json:"folder,omitempty"`
	Vectors int    `json:"vectors"`
	Bytes   int64  `json:"bytes"`
}

// EngineModel is a model that makes vectors.
type EngineModel struct {
	Provider string  `json:"provider"`
	Name     string  `json:"name"`
	Dim      int     `json:"dim"`
	Lexical  bool    `json:"lexical,omitempty"` // near is what is spelt alike
	Loaded   bool    `json:"loaded,omitempty"`
	Trust    float64 `json:"trust"` // what its exam says its vectors are worth, 0 to 1
}

// PassedProvider is a provider of vectors that does not work, and why.
type PassedProvider struct {
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
}
