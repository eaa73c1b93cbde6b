package gguf_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/tinybert"
)

// The remedies, as they end a sentence.
const (
	again = "; download the file again"
	other = "; use a BERT embedding model in GGUF format, such as all-MiniLM-L6-v2, " +
		"or run this model on a server and set embedding.url"
	types = "; use the file of this model in the format Q8_0, F16 or F32"
)

// None of these is as much as a header.
func TestFilesThatAreNoGGUF(t *testing.T) {
	for name, test := range map[string]struct {
		contents []byte
		problem  string
	}{
		"empty":           {nil, "it is empty" + again},
		"a web page":      {[]byte("\n<!DOCTYPE html><title>404</title>"), "the file is a web page, not a GGUF file" + again},
		"another page":    {[]byte("<html><body>Sign in</body></html>"), "the file is a web page, not a GGUF file" + again},
		"XML":             {[]byte(`<?xml version="1.0"?><Error/>`), "the file is a web page, not a GGUF file" + again},
		"Git LFS":         {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:"), "the file is a Git LFS pointer, not a GGUF file" + again},
		"a zip":           {[]byte("PK\x03\x04"), `the file begins with "PK\x03\x04" instead of "GGUF"` + again},
		"an older format": {[]byte("ggjt\x03\x00\x00\x00"), `the file begins with "ggjt" instead of "GGUF"` + again},
		"one byte":        {[]byte("G"), `the file begins with "G" instead of "GGUF"` + again},
		"magic alone":     {[]byte("GGUF"), "the file ends too early, in the version, after 4 bytes" + again},
		"version 0":       {header("GGUF").uint32(0), "the file has GGUF version 0; only versions 2 and 3 are supported" + other},
		"version 1":       {header("GGUF").uint32(1), "the file has GGUF version 1; only versions 2 and 3 are supported" + other},
		"version 4":       {header("GGUF").uint32(4), "the file has GGUF version 4; only versions 2 and 3 are supported" + other},
		"big endian":      {header("GGUF\x00\x00\x00\x03").room(64), "the file is big-endian; only little-endian files are supported" + other},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, file(t, test.contents), test.problem) })
	}
}

// Counts and lengths that a header may claim are believed as far as the file goes.
func TestHeadersThatClaimTooMuch(t *testing.T) {
	const huge = math.MaxUint64
	for name, test := range map[string]struct {
		contents header
		problem  string
	}{
		"tensors":         {tensors(huge), "the list of tensors has 18446744073709551615 entries (limit 16384)" + again},
		"more tensors":    {tensors(16384), "the list of tensors has 16384 entries, which do not fit into the 24 bytes of the file" + again},
		"keys":            {begin().uint64(0).uint64(huge), "the list of keys has 18446744073709551615 entries (limit 4096)" + again},
		"more keys":       {begin().uint64(0).uint64(4096), "the list of keys has 4096 entries, which do not fit into the 24 bytes of the file" + again},
		"a key's name":    {begin().uint64(0).uint64(1).uint64(huge).room(99), "key 1 of 1 is a string of 18446744073709551615 bytes (limit 65535)" + again},
		"a longer name":   {begin().uint64(0).uint64(1).uint64(65535).room(99), "the file ends too early, in key 1 of 1, after 131 bytes" + again},
		"a string":        {key("a", 8).uint64(huge).room(9), `key "a" is a string of 18446744073709551615 bytes (limit 67108864)` + again},
		"a long string":   {key("a", 8).uint64(1 << 26).room(9), `the file ends too early, in key "a", after 54 bytes` + again},
		"an array":        {key("a", 9).uint32(4).uint64(huge).room(9), `key "a" has 18446744073709551615 entries (limit 67108864)` + again},
		"a long array":    {key("a", 9).uint32(0).uint64(10).room(9), `key "a" has 10 entries, which do not fit into the 58 bytes of the file` + again},
		"strings":         {key("a", 9).uint32(8).uint64(huge).room(9), `key "a" has 18446744073709551615 entries (limit 2097152)` + again},
		"many strings":    {key("a", 9).uint32(8).uint64(2).room(15), `key "a" has 2 entries, which do not fit into the 64 bytes of the file` + again},
		"a tensor's name": {tensors(1).uint64(65).room(99), "tensor 1 of 1 is a string of 65 bytes (limit 64)" + again},
		"a dimension":     {tensors(1).info("a", 0, huge), `tensor "a" has a dimension of 18446744073709551615, which is invalid in a file of 57 bytes` + again},
		"dimensions":      {tensors(1).info("a", 0, 64, 64), `tensor "a" does not fit into the 65 bytes of the file` + again},
		"more of them":    {tensors(1).info("a", 0, 64, 64, 64, 64).room(1 << 20), `tensor "a" does not fit into the 1048657 bytes of the file` + again},
		"an offset":       {tensors(1).info("a", huge-31, 8).room(99), `tensor "a" begins at offset 18446744073709551584, which is not a multiple of 32` + again},
		"a far offset":    {tensors(1).info("a", 1<<62, 8).room(99), `tensor "a" ends after the end of the file, which has 156 bytes` + again},
		"the last byte":   {tensors(1).info("a", 0, 8).room(64 - 57 + 31), `tensor "a" ends after the end of the file, which has 95 bytes` + again},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, file(t, test.contents), test.problem) })
	}
}

func TestHeadersThatMakeNoSense(t *testing.T) {
	const badAlignment = `key "general.alignment" must be a power of two of at most 1048576` + again
	two := func(offset uint64) header {
		h := tensors(2).info("a", 0, 16).info("b", offset, 16)
		return h.room((32-len(h)%32)%32 + 128)
	}
	for name, test := range map[string]struct {
		contents header
		problem  string
	}{
		"a value's type":         {key("a", 13).room(9), `key "a" has the unknown type 13` + again},
		"an array's type":        {key("a", 9).uint32(13).uint64(0), `key "a" is an array of the unknown type 13` + again},
		"arrays of arrays":       {key("a", 9).uint32(9).uint64(1).uint32(9).uint64(1).room(9), `key "a" is an array of the unknown type 9` + again},
		"neither true":           {append(key("a", 7), 2), `key "a" is 2; it must be 1 (true) or 0 (false)` + again},
		"a key twice":            {begin().uint64(0).uint64(2).string("a").uint32(4).uint32(1).string("a").uint32(4).uint32(1), `key "a" occurs twice` + again},
		"a key without name":     {key("", 4).uint32(1), "key 1 of 1 has no name, or its name contains a zero byte" + again},
		"a key with a zero byte": {key("a\x00b", 4).uint32(1), "key 1 of 1 has no name, or its name contains a zero byte" + again},
		"a very long key":        {key(strings.Repeat("long", 20), 13), `key "longlonglonglonglonglonglonglonglonglong"... has the unknown type 13` + again},
		"no dimension":           {tensors(1).info("a", 0).room(64), `tensor "a" has 0 dimensions, which is out of range (1 to 4)` + again},
		"five dimensions":        {tensors(1).info("a", 0, 1, 1, 1, 1, 1).room(64), `tensor "a" has 5 dimensions, which is out of range (1 to 4)` + again},
		"nothing in it":          {tensors(1).info("a", 0, 8, 0).room(64), `tensor "a" has a dimension of 0, which is invalid in a file of 129 bytes` + again},
		"an unknown type":        {tensors(1).string("a").uint32(1).uint64(1).uint32(99).uint64(0).room(64), `tensor "a" has the unknown type 99` + types},
		"half a block":           {tensors(1).string("a").uint32(1).uint64(16).uint32(8).uint64(0).room(64), `tensor "a" has rows of 16 numbers, but Q8_0 requires blocks of 32` + again},
		"not aligned":            {two(72), `tensor "b" begins at offset 72, which is not a multiple of 32` + again},
		"one over the other":     {two(32), `tensors "a" and "b" overlap` + again},
		"alignment 0":            {key("general.alignment", 4).uint32(0), badAlignment},
		"alignment 33":           {key("general.alignment", 4).uint32(33), badAlignment},
		"alignment 2 MiB":        {key("general.alignment", 4).uint32(2 << 20), badAlignment},
		"alignment in words":     {key("general.alignment", 8).string("32"), `key "general.alignment" does not have the type uint32` + again},
		"alignment in 8 bytes":   {key("general.alignment", 10).uint64(32), `key "general.alignment" does not have the type uint32` + again},
		"a tensor twice":         {tensors(2).info("a", 0, 8).info("a", 32, 8).room(99), `two tensors have the name "a", or a tensor has no name` + again},
		"a zero byte":            {tensors(1).info("a\x00b", 0, 8).room(99), `the tensor name "a\x00b" contains a zero byte` + again},
		"no name":                {tensors(1).info("", 0, 8).room(99), `two tensors have the name "", or a tensor has no name` + again},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, file(t, test.contents), test.problem) })
	}
	if _, err := gguf.Open(file(t, two(64))); err != nil {
		t.Errorf("tensors side by side: %v", err)
	}
}

// These files are as long as they claim, and hold nothing but zeros.
func TestHeadersThatAreTooLong(t *testing.T) {
	for name, test := range map[string]struct {
		contents header
		size     int64
		problem  string
	}{
		"a string":   {key("a", 8).uint64(1 << 26), 1 << 30, "the header is longer than 64 MiB" + again},
		"numbers":    {key("a", 9).uint32(10).uint64(1 << 26), 1 << 30, "the header is longer than 64 MiB" + again},
		"everything": {begin(), 8<<30 + 1, "the file has 8589934593 bytes (limit 8 GiB)" + other},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, test.contents)
			if err := os.Truncate(path, test.size); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, path, test.problem)
		})
	}
}

// A broken model is a sound one that was edited, and the problem that it has then.
type broken map[string]struct {
	edit    func(*tinybert.Model)
	problem string
}

func (models broken) wantRefused(t *testing.T) {
	t.Helper()
	for name, test := range models {
		t.Run(name, func(t *testing.T) {
			m := small()
			test.edit(m)
			wantRefused(t, file(t, contents(t, m)), test.problem)
		})
	}
}

// with returns an edit that gives a key a value, and without one that drops a key.
func with(key string, value any) func(*tinybert.Model) {
	return func(m *tinybert.Model) { set(m, key, value) }
}

func without(key string) func(*tinybert.Model) {
	return func(m *tinybert.Model) { drop(m, key) }
}

func TestModelsOfAShapeThatIsRefused(t *testing.T) {
	const badPooling = "key bert.pooling_type is %d; supported values are 1 (mean), 2 (cls) and 3 (last)" + other
	const badEpsilon = "key bert.attention.layer_norm_epsilon must be a number greater than 0 and at most 0.1" + again
	broken{
		"architecture":     {with("general.architecture", "llama"), `the architecture is "llama"; only "bert" is supported` + other},
		"no architecture":  {without("general.architecture"), `the architecture is ""; only "bert" is supported` + other},
		"no layers":        {with("bert.block_count", uint32(0)), "key bert.block_count has the value 0, which is out of range (1 to 512)" + again},
		"100000 layers":    {with("bert.block_count", uint32(100000)), "key bert.block_count has the value 100000, which is out of range (1 to 512)" + again},
		"negative":         {with("bert.embedding_length", int32(-32)), "key bert.embedding_length is missing or not a number" + again},
		"no dimensions":    {with("bert.embedding_length", uint32(0)), "key bert.embedding_length has the value 0, which is out of range (1 to 16384)" + again},
		"many dimensions":  {with("bert.embedding_length", uint64(math.MaxUint64)), "key bert.embedding_length has the value 18446744073709551615, which is out of range (1 to 16384)" + again},
		"no heads":         {with("bert.attention.head_count", uint32(0)), "key bert.attention.head_count has the value 0, which is out of range (1 to 16384)" + again},
		"three heads":      {with("bert.attention.head_count", uint32(3)), "the number of attention heads (3) does not divide the number of dimensions (32)" + again},
		"no context":       {with("bert.context_length", uint32(2)), "key bert.context_length has the value 2, which is out of range (3 to 131072)" + again},
		"epsilon 0":        {with("bert.attention.layer_norm_epsilon", float32(0)), badEpsilon},
		"epsilon -1":       {with("bert.attention.layer_norm_epsilon", float32(-1)), badEpsilon},
		"epsilon NaN":      {with("bert.attention.layer_norm_epsilon", float32(math.NaN())), badEpsilon},
		"epsilon infinite": {with("bert.attention.layer_norm_epsilon", float32(math.Inf(1))), badEpsilon},
		"epsilon a number": {with("bert.attention.layer_norm_epsilon", uint32(1)), badEpsilon},
		"causal":           {with("bert.attention.causal", true), "key bert.attention.causal is true, so the model generates text instead of embeddings" + other},
		"pooling none":     {with("bert.pooling_type", uint32(0)), fmt.Sprintf(badPooling, 0)},
		"pooling rank":     {with("bert.pooling_type", uint32(4)), "key bert.pooling_type is 4, so the model ranks texts instead of embedding them" + other},
		"pooling 77":       {with("bert.pooling_type", uint32(77)), fmt.Sprintf(badPooling, 77)},
		"pooling wraps":    {with("bert.pooling_type", uint64(1<<32+1)), fmt.Sprintf(badPooling, 1<<32+1)},
		"no pooling":       {without("bert.pooling_type"), "key bert.pooling_type is missing, so the pooling method for embeddings is unknown" + other},
		"grouped heads":    {with("bert.attention.head_count_kv", uint32(1)), "key bert.attention.head_count_kv is not 2, the value that other keys require" + again},
		"no heads for kv":  {with("bert.attention.head_count_kv", int32(-1)), "key bert.attention.head_count_kv is not 2, the value that other keys require" + again},
		"other keys":       {with("bert.attention.key_length", uint32(32)), "key bert.attention.key_length is not 16, the value that other keys require" + again},
		"other values":     {with("bert.attention.value_length", uint32(32)), "key bert.attention.value_length is not 16, the value that other keys require" + again},
	}.wantRefused(t)
}

func TestVocabulariesThatAreRefused(t *testing.T) {
	const tokens, id = "tokenizer.ggml.tokens", "tokenizer.ggml.seperator_token_id"
	changed := func(i int, token string) []string {
		list := tinybert.Tokens()
		list[i] = token
		return list
	}
	broken{
		"two equal tokens": {with(tokens, changed(150, tinybert.Tokens()[133])), `tokens 133 and 150 have the same text "▁note"` + again},
		"an empty token":   {with(tokens, changed(150, "")), "token 150 is empty" + again},
		"a zero byte":      {with(tokens, changed(150, "ab\x00c")), "token 150 contains a zero byte" + again},
		"a long token":     {with(tokens, changed(150, strings.Repeat("x", 257))), "token 150 has 257 bytes (limit 256)" + again},
		"no tokens":        {with(tokens, []string{}), "key tokenizer.ggml.tokens is not a list of 1 to 1048576 tokens" + again},
		"tokens of ids":    {with(tokens, []int32{1, 2}), "key tokenizer.ggml.tokens is not a list of 1 to 1048576 tokens" + again},
		"fewer tokens": {func(m *tinybert.Model) {
			drop(m, "tokenizer.ggml.token_type")
			set(m, tokens, tinybert.Tokens()[:196])
		}, "tensor token_embd.weight has the shape [32 197] instead of [32 196]" + again},
		"an id too far":    {with(id, uint32(197)), "key tokenizer.ggml.seperator_token_id is not the index of one of the 197 tokens" + again},
		"an id below":      {with(id, int32(-1)), "key tokenizer.ggml.seperator_token_id is not the index of one of the 197 tokens" + again},
		"an id in words":   {with(id, "3"), "key tokenizer.ggml.seperator_token_id is not the index of one of the 197 tokens" + again},
		"other vocabulary": {with("bert.vocab_size", uint32(198)), "key bert.vocab_size is not 197, the value that other keys require" + again},
		"fewer kinds":      {with("tokenizer.ggml.token_type", make([]int32, 196)), "key tokenizer.ggml.token_type does not contain one number for each of the 197 tokens" + again},
		"kinds in words":   {with("tokenizer.ggml.token_type", tinybert.Tokens()), "key tokenizer.ggml.token_type does not contain one number for each of the 197 tokens" + again},
		"integer scores":   {with("tokenizer.ggml.scores", make([]int32, 197)), "key tokenizer.ggml.scores does not contain one number for each of the 197 tokens" + again},
	}.wantRefused(t)
}

func TestTensorsThatAreRefused(t *testing.T) {
	broken{
		"one layer more":   {with("bert.block_count", uint32(3)), "tensor blk.2.attn_q.weight is missing" + again},
		"one layer less":   {with("bert.block_count", uint32(1)), `tensor "blk.1.attn_k.bias" does not belong to a BERT model with 1 layers` + again},
		"other dimensions": {with("bert.embedding_length", uint32(64)), "tensor token_embd.weight has the shape [32 197] instead of [64 197]" + again},
		"wider layers":     {with("bert.feed_forward_length", uint32(65)), "tensor blk.0.ffn_up.weight has the shape [32 64] instead of [32 65]" + again},
		"more context":     {with("bert.context_length", uint32(512)), "tensor position_embd.weight has the shape [32 8] instead of [32 512]" + again},
		"token types":      {with("tokenizer.ggml.token_type_count", uint32(3)), "tensor token_types.weight has the shape [32 2] instead of [32 3]" + again},
		"a turned matrix":  {func(m *tinybert.Model) { tensor(m, "blk.0.ffn_up.weight").Dims = []int{64, 32} }, "tensor blk.0.ffn_up.weight has the shape [64 32] instead of [32 64]" + again},
		"a short vector":   {func(m *tinybert.Model) { tensor(m, "blk.0.attn_q.bias").Dims = []int{16} }, "tensor blk.0.attn_q.bias has the shape [16] instead of [32]" + again},
		"a deeper matrix":  {func(m *tinybert.Model) { tensor(m, "blk.0.attn_q.weight").Dims = []int{32, 32, 2} }, "tensor blk.0.attn_q.weight has the shape [32 32 2] instead of [32 32]" + again},
		"a flat matrix":    {func(m *tinybert.Model) { tensor(m, "blk.0.attn_q.weight").Dims = []int{1024} }, "tensor blk.0.attn_q.weight has the shape [1024] instead of [32 32]" + again},
		"a rounded vector": {func(m *tinybert.Model) { tensor(m, "blk.0.attn_q.bias").Type = tinybert.F16 }, "tensor blk.0.attn_q.bias has the type F16 instead of F32" + other},
		"another layer":    {func(m *tinybert.Model) { tensor(m, "blk.1.attn_q.bias").Name = "dense_2.bias" }, `tensor "dense_2.bias" does not belong to a BERT embedding model` + other},
		"a norm of q":      {func(m *tinybert.Model) { tensor(m, "blk.1.attn_q.bias").Name = "blk.1.attn_q_norm.bias" }, `tensor "blk.1.attn_q_norm.bias" does not belong to a BERT model with 2 layers` + again},
	}.wantRefused(t)
}

func TestKeysThatAModelMustHave(t *testing.T) {
	for _, key := range []string{"bert.block_count", "bert.context_length", "bert.embedding_length", "bert.feed_forward_length",
		"bert.attention.head_count", "tokenizer.ggml.token_type_count"} {
		t.Run(key, func(t *testing.T) {
			m := small()
			drop(m, key)
			wantRefused(t, file(t, contents(t, m)), "key "+key+" is missing or not a number"+again)
			set(m, key, "two")
			wantRefused(t, file(t, contents(t, m)), "key "+key+" is missing or not a number"+again)
		})
	}
	m := small()
	drop(m, "tokenizer.ggml.model")
	wantRefused(t, file(t, contents(t, m)), "key tokenizer.ggml.model is missing"+again)
}

func TestKeysThatAModelMayLack(t *testing.T) {
	spec := tinybert.Tiny()
	for _, key := range []string{"general.name", "general.file_type", "general.quantization_version", "bert.attention.causal",
		"tokenizer.ggml.pre", "tokenizer.ggml.token_type", "tokenizer.ggml.cls_token_id", "tokenizer.ggml.padding_token_id",
		"tokenizer.ggml.mask_token_id", "tokenizer.ggml.bos_token_id", "tokenizer.ggml.seperator_token_id", "tokenizer.ggml.unknown_token_id"} {
		m := tinybert.New(spec)
		drop(m, key)
		if _, err := gguf.Preflight(file(t, contents(t, m))); err != nil {
			t.Errorf("without %s: %v", key, err)
		}
	}
}

// Where a file does not name the special tokens, they are those of BERT's own vocabulary.
func TestSpecialTokensOfAFileThatNamesNone(t *testing.T) {
	m := small()
	for _, name := range []string{"bos", "cls", "seperator", "unknown"} {
		drop(m, "tokenizer.ggml."+name+"_token_id")
	}
	facts, err := gguf.Preflight(file(t, contents(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	if facts.Begin != 101 || facts.End != 102 || facts.Unknown != 100 {
		t.Errorf("got %d, %d, %d, want 101, 102, 100", facts.Begin, facts.End, facts.Unknown)
	}
	drop(m, "tokenizer.ggml.token_type")
	set(m, "tokenizer.ggml.tokens", tinybert.Tokens()[:101])
	wantRefused(t, file(t, contents(t, m)), "key tokenizer.ggml.bos_token_id is not the index of one of the 101 tokens"+again)
}

func TestKeysThatRepeatWhatIsKnown(t *testing.T) {
	m := small()
	for key, value := range map[string]uint32{"bert.vocab_size": 197, "bert.attention.head_count_kv": 2, "bert.attention.key_length": 16, "bert.attention.value_length": 16} {
		set(m, key, value)
	}
	if _, err := gguf.Preflight(file(t, contents(t, m))); err != nil {
		t.Error(err)
	}
}

// Every tensor is missed, but for the biases and token types that some models do without.
func TestTensorsThatAreMissed(t *testing.T) {
	for _, gone := range small().Tensors {
		t.Run(gone.Name, func(t *testing.T) {
			m := small()
			dropTensor(m, gone.Name)
			path := file(t, contents(t, m))
			bias := strings.HasSuffix(gone.Name, ".bias") && !strings.Contains(gone.Name, "norm")
			if !bias && gone.Name != "token_types.weight" {
				wantRefused(t, path, "tensor "+gone.Name+" is missing"+again)
			} else if _, err := gguf.Preflight(path); err != nil {
				t.Error(err)
			}
		})
	}
}

// A vocabulary for another tokenizer is for the engine to refuse: another one may have it.
func TestOtherTokenizersAndPoolingsAreFacts(t *testing.T) {
	m := small()
	set(m, "tokenizer.ggml.model", "t5")
	set(m, "bert.pooling_type", uint32(3))
	facts, err := gguf.Preflight(file(t, contents(t, m)))
	if err != nil {
		t.Fatal(err)
	}
	if facts.Tokenizer != "t5" || facts.Pooling != gguf.Last || facts.Weights != gguf.Q8_0 {
		t.Errorf("got %q, %v, %v, want t5, last, Q8_0", facts.Tokenizer, facts.Pooling, facts.Weights)
	}
}
