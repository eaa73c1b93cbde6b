package tinybert

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteFolder writes a model into a folder as Hugging Face lays it out, with weights as F32, under
// the name A tiny one and the licence apache-2.0. It has the vocabulary of Tiny and pools by mean.
func WriteFolder(dir string, s Spec) error {
	var vocabulary []string
	for _, token := range Tokens() {
		word, begins := strings.CutPrefix(token, boundary)
		if !begins && !strings.HasPrefix(token, "[") {
			word = "##" + token
		}
		vocabulary = append(vocabulary, word)
	}
	config, err := json.Marshal(map[string]any{"model_type": "bert", "hidden_act": "gelu", "hidden_size": s.Dim,
		"intermediate_size": s.FeedForward, "layer_norm_eps": 1e-12, "max_position_embeddings": s.Context,
		"num_attention_heads": s.Heads, "num_hidden_layers": s.Layers, "type_vocab_size": 2,
		"vocab_size": len(vocabulary)})
	if err != nil {
		return err
	}
	weights, err := safetensors(New(s).Tensors)
	if err != nil {
		return err
	}
	return writeFiles(dir, map[string]string{
		"config.json": string(config), "vocab.txt": strings.Join(vocabulary, "\n") + "\n",
		"modules.json": `[{"path":"","type":"sentence_transformers.models.Transformer"},
			{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},
			{"path":"2_Normalize","type":"sentence_transformers.models.Normalize"}]`,
		"1_Pooling/config.json": `{"word_embedding_dimension":32,"pooling_mode_cls_token":false,` +
			`"pooling_mode_mean_tokens":true}`,
		"tokenizer_config.json": `{"do_lower_case":true,"strip_accents":null,"tokenize_chinese_chars":true}`,
		"README.md":             "---\nlanguage: en\nlicense: apache-2.0\n---\n\n# A tiny one\n\ntext\n",
		"model.safetensors":     string(weights),
	})
}

func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// folderName is what Hugging Face calls a tensor of llama.cpp.
func folderName(name string) string {
	for to, from := range map[string]string{
		"token_embd_norm.": "embeddings.LayerNorm.", "token_embd.": "embeddings.word_embeddings.",
		"position_embd.": "embeddings.position_embeddings.", "token_types.": "embeddings.token_type_embeddings.",
		"blk.": "encoder.layer.", "attn_q.": "attention.self.query.", "attn_k.": "attention.self.key.",
		"attn_v.": "attention.self.value.", "attn_output.": "attention.output.dense.",
		"attn_output_norm.": "attention.output.LayerNorm.", "ffn_up.": "intermediate.dense.",
		"ffn_down.": "output.dense.", "layer_output_norm.": "output.LayerNorm.",
	} {
		if name == to+"weight" || name == to+"bias" || to == "blk." {
			name = strings.Replace(name, to, from, 1)
			continue
		}
		if i := strings.LastIndex(name, "."+to); i >= 0 {
			name = name[:i+1] + from + name[i+1+len(to):]
		}
	}
	return name
}

// safetensors is the file of the tensors, as F32.
func safetensors(tensors []Tensor) ([]byte, error) {
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte(nil)
	for _, tensor := range tensors {
		begin, n := len(data), 1
		for _, d := range tensor.Dims {
			n *= d
		}
		for i := range n {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(tensor.Value(i)))
		}
		shape := slices.Clone(tensor.Dims)
		slices.Reverse(shape)
		header[folderName(tensor.Name)] = map[string]any{"dtype": "F32", "shape": shape,
			"data_offsets": []int{begin, len(data)}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head, data), nil
}
