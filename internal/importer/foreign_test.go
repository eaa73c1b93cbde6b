package importer

import (
	"strings"
	"testing"
	"time"
)

// Payloads as mem0 and LlamaIndex write them.
func TestQdrantOfOtherWriters(t *testing.T) {
	const points = `{"result":{"points":[
{"id":"1","payload":{"memory":"Ann drinks tea","user_id":"ann"}},
{"id":"2","payload":{"_node_content":"{\"id_\":\"2\",\"metadata\":{\"file_name\":\"tea.md\"},\"text\":\"Ben drinks coffee\",\"relationships\":{}}","_node_type":"TextNode","doc_id":"d","file_name":"tea.md"}}
],"next_page_offset":null}}`
	res, err := Qdrant(strings.NewReader(points), &Options{})
	if err != nil || len(res.Records) != 2 || len(res.Skips) != 0 {
		t.Fatalf("read %+v, %v; want two memories and nothing left out", res, err)
	}
	one, two := res.Records[0], res.Records[1]
	if one.Content != "Ann drinks tea" || string(one.Meta["user_id"]) != `"ann"` {
		t.Errorf("mem0: %q with meta %s", one.Content, one.Meta)
	}
	if two.Content != "Ben drinks coffee" || string(two.Meta["file_name"]) != `"tea.md"` || two.Meta["_node_content"] != nil {
		t.Errorf("LlamaIndex: %q with meta %s", two.Content, two.Meta)
	}
}

// A text that is there twice keeps the date that one of them has.
func TestADateIsKept(t *testing.T) {
	for _, text := range []string{"[2025-02-03] - likes tea\nlikes tea\n", "likes tea\n[2025-02-03] - likes tea\n"} {
		h, err := ChatGPT(strings.NewReader(text), &Options{Now: noon})
		if err != nil || len(h.Records) != 2 || h.Records[0].ID != h.Records[1].ID {
			t.Fatalf("%q: %+v, %v", text, h, err)
		}
		if got := h.Records[1].CreatedAt; got.Format(time.DateOnly) != "2025-02-03" {
			t.Errorf("%q: the last one was made at %v", text, got)
		}
	}
}
