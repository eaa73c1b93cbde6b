package models

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"
)

// Pins is the list of model files and archives of llama.cpp whose size and digest are known.
// That a model is listed says nothing about its quality: package embedding calibrates each model
// on each machine. None of the model files was available when the list was written. Of
// all-MiniLM-L6-v2 the weights were: tests convert them and hold the vectors to those of the
// makers' runtime. All other facts are from public pages, seen on 2026-11-21:
//
//   - sizes and digests: public source files that pin these very files by address, mostly with
//     the revision, and check a download against the digest. Two independent projects agree on
//     each, except that only one project pins all-MiniLM-L12-v2 and snowflake-arctic-embed-s.
//     The digest that two files state for snowflake-arctic-embed-m belongs to another model, so
//     that model is listed without one;
//   - MiniLM: the page of sentence-transformers/all-MiniLM-L12-v2 (Apache 2.0, 384) and
//     deepinfra.com's page about it (512); for L6 the projects that pin it;
//   - bge: docs.api.nvidia.com/nim/reference/baai-bge-m3, which lists both (384 and 512, 1024
//     and 8192; bge-m3 has the MIT licence); the licence of bge-small-en-v1.5 as four of the
//     projects above state it;
//   - e5: the card of ChristianAzinn/e5-small-v2-gguf (MIT, 384, 512); for the multilingual
//     model the projects that pin it (MIT, 384, 512, its prefixes);
//   - arctic-embed: the card of Snowflake/snowflake-arctic-embed-m (384 and 768) and
//     hivebook.wiki, snowflake-arctic-embed-apache-2-0-multilingual-embedding-family (512,
//     Apache 2.0);
//   - nomic-embed-text: the card of nomic-ai/nomic-embed-text-v1-GGUF (Apache 2.0, prefixes,
//     2048 tokens with llama.cpp) and the projects that pin v1.5 (768);
//   - mxbai-embed-large: mixedbread.ai/docs/embeddings/mxbai-embed-large-v1 (1024, 512, English,
//     the prompt) and hivebook.wiki, mxbai-embed-mixedbread-s-open-weight-sentence-embeddings
//     (Apache 2.0).
//
// The runtimes are the packages of node-llama-cpp's libraries, versions 3.22.1 (v0.5.0), 3.21.1
// (v0.4.0, where the former has none) and 3.18.1 (b8390). The digests are of the .tgz files as
// npm pack wrote them on 2026-11-21; each release is the one in its _nlcBuildMetadata.json.
type Pins struct {
	Models   []KnownModel   `json:"models"`
	Runtimes []KnownRuntime `json:"runtimes"`
}

// A KnownModel is one file of a published model.
type KnownModel struct {
	Name          string   `json:"name"`
	Size          int64    `json:"size"` // bytes; 0 if no page states it
	Dim           int      `json:"dim"`  // of its vectors
	MaxTokens     int      `json:"max_tokens"`
	Licence       string   `json:"licence"`
	Languages     string   `json:"languages"`
	QueryPrefix   string   `json:"query_prefix"`   // for embedding.query_prefix
	PassagePrefix string   `json:"passage_prefix"` // for embedding.passage_prefix
	Engines       []string `json:"engines"`        // that run the file: [Llama], [Go]
	SHA256        string   `json:"sha256"`         // empty if no page states it; the user must
	URL           string   `json:"url"`
	// Weights is the digest of model.safetensors in the makers' folder, from which emberd can
	// make a file of this model; empty if no page states it. Six independent public projects
	// pin that of all-MiniLM-L6-v2.
	Weights string `json:"weights_sha256"`
}

// A KnownRuntime is an archive of llama.cpp's libraries. Its digest identifies it, wherever a
// copy of it is found.
type KnownRuntime struct {
	Release  string `json:"release"` // of llama.cpp
	Platform string `json:"platform"`
	Size     int64  `json:"size"`
	Loaded   bool   `json:"loaded"` // emberd's tests load it; of the others only the format is known
	SHA256   string `json:"sha256"`
}

//go:embed pinned.json
var pinnedJSON []byte

// Pinned returns the pinned list, small models first. The caller must not change it.
var Pinned = sync.OnceValue(func() (p Pins) {
	if err := json.Unmarshal(pinnedJSON, &p); err != nil {
		panic(err) // the list is a part of the program
	}
	return p
})

// knownModel returns the pinned model of a name or a digest, and nil if there is none.
func knownModel(name, sha256 string) *KnownModel {
	for _, k := range Pinned().Models {
		if k.Name == name || sha256 != "" && k.SHA256 == sha256 {
			return &k
		}
	}
	return nil
}

// knownWeights returns the pinned model of a digest of weights, and nil if there is none.
func knownWeights(sha256 string) *KnownModel {
	for _, k := range Pinned().Models {
		if sha256 != "" && k.Weights == sha256 {
			return &k
		}
	}
	return nil
}

// IsPinned reports whether emberd knows where a model of this name comes from, so that its name is
// enough to install it.
func IsPinned(name string) bool { return knownModel(name, "") != nil }

// isKnownRuntime reports whether an archive with a digest is pinned.
func isKnownRuntime(sha256 string) bool {
	return slices.ContainsFunc(Pinned().Runtimes, func(k KnownRuntime) bool { return k.SHA256 == sha256 })
}
