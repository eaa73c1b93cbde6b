package op

import "time"

// Meaning reports what part vectors had in an answer.
type Meaning struct {
	Provider string `json:"provider,omitempty"` // llama, http, go, words; none yet if empty
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
	// Cosine is less than that of the vector if it is one of many passages of a memory, of which one
	// is near by chance.
	Cosine float64 `json:"cosine"`
	Near   float64 `json:"near"` // 0, as unrelated texts, to 1, as short ones of the same meaning, or more
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

// EngineResumeRequest lets it continue, on battery too if it waits for that, with the providers
// tried again from the first on.
type EngineResumeRequest struct{}

// What the making of vectors is at.
const (
	EngineOff      = "off"      // there are to be no vectors
	EngineUnused   = "unused"   // nothing would ask for those of this model
	EngineWaiting  = "waiting"  // for a model, after a failure, or on battery
	EngineWorking  = "working"  // vectors are being made
	EnginePaused   = "paused"   // the user paused it
	EngineComplete = "complete" // everything has its vectors
)

// WaitsOnBattery says that no vectors are made while the machine is on battery, but those of queries.
const WaitsOnBattery = "on battery"

// EngineStatusResult reports how vectors are made.
type EngineStatusResult struct {
	State   string   `json:"state"`
	Meaning *Meaning `json:"meaning,omitempty"` // nil when there are to be none
	// Model is the one whose vectors are made, or were last.
	Model *EngineModel `json:"model,omitempty"`
	// Earlier is a model whose vectors serve until those of Model are complete.
	Earlier *EngineModel `json:"earlier,omitempty"`
	// Passed are the providers that come first in the settings and do not work, with why.
	Passed []PassedProvider `json:"passed,omitempty"`
	// Problem is why nothing continues at present, what the last query failed of, or why there
	// are to be no vectors. Again is when it is tried again.
	Problem string    `json:"problem,omitempty"`
	Again   time.Time `json:"again,omitzero"`

	// Waits is why vectors are not made although they could be, such as [WaitsOnBattery], until that
	// changes or the user resumes.
	Waits string `json:"waits,omitempty"`

	Made      int64   `json:"made"`                 // vectors, since the daemon started
	PerSecond float64 `json:"per_second,omitempty"` // vectors made lately, rests included
	Left      int64   `json:"left_s,omitempty"`     // seconds until everything has vectors, about
	Share     float64 `json:"cpu_share,omitempty"`  // of one processor that this may take
	Skipped   int     `json:"skipped,omitempty"`    // memories and notes that cannot have vectors at present

	Folder  string `json:"folder,omitempty"`
	Vectors int    `json:"vectors"`
	Bytes   int64  `json:"bytes"`

	// Native is the engine in a process of its own, nil where none is set up.
	Native *NativeEngine `json:"native,omitempty"`
}

// NativeEngine describes llama.cpp and the helper process that runs it.
type NativeEngine struct {
	// Unconfined reports that the libraries are loaded outside of a sandbox, as the user set it.
	Unconfined bool `json:"unconfined,omitempty"`

	Helper   string   `json:"helper"`            // the program
	Folder   string   `json:"folder"`            // of the libraries
	Version  string   `json:"version,omitempty"` // of the helper, once it was started
	Release  string   `json:"release,omitempty"` // of llama.cpp
	System   string   `json:"system,omitempty"`  // what of the processor it uses
	Backends []string `json:"backends,omitempty"`
	Warning  string   `json:"warning,omitempty"` // that the release was not tried out

	PID      int       `json:"pid,omitempty"` // 0 while it does not run
	Started  time.Time `json:"started,omitzero"`
	Restarts int       `json:"restarts,omitempty"`  // after it ended by itself
	LastExit string    `json:"last_exit,omitempty"` // how it last ended by itself
	Output   string    `json:"output,omitempty"`    // what it printed then, its beginning and end
	Bad      []BadPair `json:"bad,omitempty"`
}

// BadPair is a model that brought an engine down; emberd model resume tries it again.
type BadPair struct {
	Model  string    `json:"model"`  // SHA-256 of its file
	Engine string    `json:"engine"` // digest of the helper and its libraries
	File   string    `json:"file"`
	When   time.Time `json:"when"`
	Why    string    `json:"why"`
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

// Bounds of one request for vectors.
const (
	MostEmbedTexts = 64
	MostEmbedBytes = 64 << 10 // of each text
)

// What a text is embedded as; some models want the two distinguished.
const (
	EmbedQuery   = "query"
	EmbedPassage = "passage"
)

// EmbedRequest asks for the vectors of 1 to [MostEmbedTexts] texts.
type EmbedRequest struct {
	Texts []string `json:"texts" doc:"texts to embed, 1 to 64, each at most 64 KiB"`
	As    string   `json:"as,omitempty" doc:"type of the texts: query or passage (default); some models embed queries and passages differently"`
}

// EmbedResult has a vector for each text, in their order.
type EmbedResult struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Dim      int    `json:"dim"`
	// Vectors are of length one; null for a text that the model can make nothing of.
	Vectors [][]float32 `json:"vectors"`
	// Tokens that each text takes, of which MaxTokens count.
	Tokens    []int `json:"tokens"`
	MaxTokens int   `json:"max_tokens"`
	// Cosines are of each text with each, when there are several; 0 without a vector.
	Cosines [][]float64 `json:"cosines,omitempty"`
	// Meanings are the same on a scale from 0, as texts that have nothing to do with each
	// other, to 1, the same meaning; none where the model's exam does not trust it.
	Meanings [][]float64 `json:"meanings,omitempty"`
}

// PassedProvider is a provider of vectors that does not work, and why.
type PassedProvider struct {
	Provider string `json:"provider"`
	Reason   string `json:"reason"`
}
