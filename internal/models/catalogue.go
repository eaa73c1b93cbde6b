package models

// A Known is a model of the catalogue: one file of it, at one place.
type Known struct {
	Name          string
	Size          int64 // bytes of the file; 0 where no page tells them exactly
	Dim           int   // of its vectors
	MaxTokens     int   // that it has positions for
	Licence       string
	Languages     string
	SHA256        string // of the file; empty where no page tells it, and then a person must
	URL           string
	QueryPrefix   string   // what the model wants before a question, for embedding.query_prefix
	PassagePrefix string   // and before what is found
	Engines       []string // that run such a file; the file itself is asked when it is there
	Made          string   // who made a GGUF file of it
}

// What several models want before a question.
const retrieval = "Represent this sentence for searching relevant passages: "

// both run a BERT with WordPiece; the others are for llama.cpp alone.
func both() []string { return []string{Llama, Go} }

// Catalogue are models that are known to be made for embedding texts, the small ones first.
// That they are listed says nothing about how good they are: the exam of package embedding
// does, of each on each machine. None of the files was at hand when this was written. So all is
// from public pages, seen on 2026-11-21:
//
//   - sizes and digests: public source files that pin these very files, by their address and
//     mostly by the revision as well, and check what they download against the digest. Each
//     agrees with that of another, independent project, except for all-MiniLM-L12-v2 and
//     snowflake-arctic-embed-s, which one project each pins. Two public files give a digest
//     for snowflake-arctic-embed-m's, but take it for another model, and so none is here;
//   - MiniLM: the page of sentence-transformers/all-MiniLM-L12-v2 (Apache 2.0, 384) and
//     deepinfra.com's of it (512); for L6 the projects that pin it (Apache 2.0, 384, 512);
//   - bge: docs.api.nvidia.com/nim/reference/baai-bge-m3, which lists both (384 and 512, 1024
//     and 8192; bge-m3 has the MIT licence); the licence of bge-small-en-v1.5 as four of the
//     projects above state it;
//   - e5: the card of ChristianAzinn/e5-small-v2-gguf (MIT, 384, 512), and for the multilingual
//     one the projects that pin it (MIT, 384, 512, its prefixes);
//   - arctic-embed: the card of Snowflake/snowflake-arctic-embed-m (384 and 768), and
//     hivebook.wiki, snowflake-arctic-embed-apache-2-0-multilingual-embedding-family (512,
//     Apache 2.0);
//   - nomic-embed-text: the card of nomic-ai/nomic-embed-text-v1-GGUF (Apache 2.0, prefixes,
//     2048 tokens with llama.cpp), and the projects that pin v1.5 (768);
//   - mxbai-embed-large: mixedbread.ai/docs/embeddings/mxbai-embed-large-v1 (1024, 512, English,
//     the prompt), hivebook.wiki, mxbai-embed-mixedbread-s-open-weight-sentence-embeddings
//     (Apache 2.0).
func Catalogue() []Known { return append(english(), others()...) }

// english are the small ones, for English alone.
func english() []Known {
	return []Known{
		{
			Name: "all-MiniLM-L6-v2", Size: 25_008_064, Dim: 384, MaxTokens: 512, Licence: "Apache-2.0", Languages: "English",
			SHA256:  "263215c3cadd6e16740741a7624ab4cbb6c8e777688bd5331ecfbf5681c2f8ed",
			URL:     hub + "second-state/All-MiniLM-L6-v2-Embedding-GGUF/resolve/544f204f2eaa2d71361ffc74d6df7170285b286a/all-MiniLM-L6-v2-Q8_0.gguf",
			Engines: both(), Made: "second-state",
		},
		{
			Name: "all-MiniLM-L12-v2", Size: 36_413_728, Dim: 384, MaxTokens: 512, Licence: "Apache-2.0", Languages: "English",
			SHA256:  "161d07a32057e754e1fe82e30547c736032ab255a6719890b7e76414c565b748",
			URL:     hub + "leliuga/all-MiniLM-L12-v2-GGUF/resolve/f048c4f3577816f9825989a59a7eed3c9afa3f1d/all-MiniLM-L12-v2.Q8_0.gguf",
			Engines: both(), Made: "leliuga",
		},
		{
			Name: "bge-small-en-v1.5", Size: 36_806_944, Dim: 384, MaxTokens: 512, Licence: "MIT", Languages: "English",
			SHA256:      "ec38e8da142596baa913124ae50550de284b6916bf59577ef2f0cb9660c2f514",
			URL:         hub + "CompendiumLabs/bge-small-en-v1.5-gguf/resolve/d32f8c040ea3b516330eeb75b72bcc2d3a780ab7/bge-small-en-v1.5-q8_0.gguf",
			QueryPrefix: retrieval, Engines: both(), Made: "CompendiumLabs",
		},
		{
			Name: "snowflake-arctic-embed-s", Size: 36_685_120, Dim: 384, MaxTokens: 512, Licence: "Apache-2.0", Languages: "English",
			SHA256:      "4db660cc9122d6153be9306fb8707bba6b77035cbeb2ab078d9a58c33dfea6be",
			URL:         hub + "yixuan-chia/snowflake-arctic-embed-s-GGUF/resolve/main/snowflake-arctic-embed-s-Q8_0.gguf",
			QueryPrefix: retrieval, Engines: both(), Made: "yixuan-chia",
		},
		{
			Name: "e5-small-v2", Size: 36_685_088, Dim: 384, MaxTokens: 512, Licence: "MIT", Languages: "English",
			SHA256:      "afdfb5c342d2efc2a051c426dd1d00913495d5f2bbceaea100d2f3892aa31cbc",
			URL:         hub + "ggml-org/e5-small-v2-Q8_0-GGUF/resolve/14aa7ca88ca627e2ea0051929636561158e289ab/e5-small-v2-q8_0.gguf",
			QueryPrefix: "query: ", PassagePrefix: "passage: ", Engines: both(), Made: "ggml-org",
		},
	}
}

// others are larger, or know other languages.
func others() []Known {
	return []Known{
		{
			Name: "snowflake-arctic-embed-m", Dim: 768, MaxTokens: 512, Licence: "Apache-2.0", Languages: "English",
			URL:         hub + "ChristianAzinn/snowflake-arctic-embed-m-gguf/resolve/main/snowflake-arctic-embed-m-Q8_0.GGUF",
			QueryPrefix: retrieval, Engines: both(), Made: "ChristianAzinn",
		},
		{
			Name: "multilingual-e5-small", Size: 132_439_008, Dim: 384, MaxTokens: 512, Licence: "MIT", Languages: "about 100",
			SHA256:      "e011debc1208e31bf7b6aebee2d9fc8bd2ca11694a77ed66ac9d0c9d0a877c93",
			URL:         hub + "TwinSunsLLC/multilingual-e5-small-gguf/resolve/b6cac9615d4ecce28d7f22539b7322d695fc2886/multilingual-e5-small-q8_0.gguf",
			QueryPrefix: "query: ", PassagePrefix: "passage: ", Engines: []string{Llama}, Made: "TwinSunsLLC",
		},
		{
			Name: "nomic-embed-text-v1.5", Size: 146_146_432, Dim: 768, MaxTokens: 2048, Licence: "Apache-2.0", Languages: "English",
			SHA256:      "3e24342164b3d94991ba9692fdc0dd08e3fd7362e0aacc396a9a5c54a544c3b7",
			URL:         hub + "nomic-ai/nomic-embed-text-v1.5-GGUF/resolve/main/nomic-embed-text-v1.5.Q8_0.gguf",
			QueryPrefix: "search_query: ", PassagePrefix: "search_document: ", Engines: []string{Llama}, Made: "nomic-ai",
		},
		{
			Name: "bge-m3", Size: 634_553_760, Dim: 1024, MaxTokens: 8192, Licence: "MIT", Languages: "more than 100",
			SHA256:  "aa473d51f451a22f0fcf39ba3330c14bed38a385712b1113440f69df4047a173",
			URL:     hub + "ggml-org/bge-m3-Q8_0-GGUF/resolve/9eba04c5d75ba5a1595e45de734d36bef4e5cb98/bge-m3-q8_0.gguf",
			Engines: []string{Llama}, Made: "ggml-org",
		},
		{
			Name: "mxbai-embed-large-v1", Size: 669_603_712, Dim: 1024, MaxTokens: 512, Licence: "Apache-2.0", Languages: "English",
			SHA256:      "819c2adf5ce6df2b6bd2ae4ca90d2a69f060afeb438d0c171db57daa02e39c3d",
			URL:         hub + "mixedbread-ai/mxbai-embed-large-v1/resolve/main/gguf/mxbai-embed-large-v1-f16.gguf",
			QueryPrefix: retrieval, Engines: both(), Made: "mixedbread-ai",
		},
	}
}

// hub is where the files are.
const hub = "https://huggingface.co/"
