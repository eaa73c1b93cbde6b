package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"emberd/memory"
	"emberd/op"
)

// arrive decodes what encode made, as the mux would hand it on.
func arrive(sh *shape, out *sent) (any, error) {
	r, err := http.NewRequest(sh.spec.Method, "http://emberd"+out.url, bytes.NewReader(out.body))
	if err != nil {
		return nil, err
	}
	r.Header = out.header.Clone()
	if len(out.body) > 0 {
		r.Header.Set("Content-Type", typeJSON)
	}
	var req any
	mux := http.NewServeMux()
	mux.HandleFunc(sh.spec.Method+" "+sh.spec.Path, func(_ http.ResponseWriter, r *http.Request) {
		var body []byte
		if body, err = io.ReadAll(r.Body); err == nil {
			req, err = sh.decode(r, body)
		}
	})
	mux.ServeHTTP(httptest.NewRecorder(), r)
	return req, err
}

// everywhere has each kind of field in each place it may travel in.
type everywhere struct {
	op.Filter
	ID     string                     `json:"-" path:"id"`
	Since  time.Time                  `json:"since,omitzero" query:"since"`
	Big    int64                      `json:"big,omitempty" query:"big"`
	Flag   *bool                      `json:"flag,omitempty" query:"flag"`
	Word   *string                    `json:"word,omitempty" query:"word"`
	Level  *float64                   `json:"level,omitempty" query:"level"`
	Key    string                     `json:"-" header:"Key"`
	Match  string                     `json:"-" header:"If-Match"`
	Body   string                     `json:"body"`
	Items  []op.SaveRequest           `json:"items,omitempty"`
	Raw    map[string]json.RawMessage `json:"raw,omitempty"`
	Silent string                     `json:"-"`
}

func TestRequestsArriveAsTheyWereSent(t *testing.T) {
	sh := shapeOf(&op.Spec{
		Name: "everywhere", Method: http.MethodPost, Path: "/v1/everywhere/{id}",
		Request: reflect.TypeFor[everywhere](), Result: reflect.TypeFor[struct{}](),
	})
	word := rapid.StringMatching(`[!#-~日é][ -!#-~日é]{0,20}[!#-~日é]`)
	finite := rapid.Float64Range(-1e300, 1e300)
	when := rapid.Custom(func(t *rapid.T) time.Time { return time.UnixMilli(rapid.Int64Range(1, 1e14).Draw(t, "ms")).UTC() })
	rapid.Check(t, func(t *rapid.T) {
		sent := &everywhere{
			Filter: op.Filter{
				Tags:     rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "tags"),
				Project:  rapid.String().Draw(t, "project"),
				Stages:   []memory.Stage{memory.Active, memory.Archived},
				MinScore: finite.Draw(t, "score"),
			},
			ID: word.Draw(t, "id"), Since: when.Draw(t, "since"), Big: rapid.Int64().Draw(t, "big"),
			Flag: new(rapid.Bool().Draw(t, "flag")), Word: new(rapid.String().Draw(t, "word")), Level: new(finite.Draw(t, "level")),
			Key: word.Draw(t, "key"), Match: rapid.StringMatching(`[a-z0-9]{1,8}`).Draw(t, "rev"),
			Body: rapid.String().Draw(t, "body"),
			Items: []op.SaveRequest{{
				Content: rapid.String().Draw(t, "content"), CreatedAt: when.Draw(t, "made"),
				Confidence: new(finite.Draw(t, "confidence")), UseCount: rapid.Int64().Draw(t, "uses"),
			}},
			Raw: map[string]json.RawMessage{"k" + rapid.String().Draw(t, "k"): json.RawMessage(`{"a":[1,null,"x"]}`)},
		}
		if len(sent.Tags) == 0 {
			sent.Tags = nil
		}
		out, err := sh.encode(sent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := arrive(sh, out)
		if err != nil {
			t.Fatalf("%s: %v", out.url, err)
		}
		if !reflect.DeepEqual(got, sent) {
			t.Fatalf("arrived as\n%+v, want\n%+v", got, sent)
		}
	})
}

func TestTheZeroRequestOfEachOperationTravels(t *testing.T) {
	for _, s := range op.Table() {
		sh, req := shapeOf(s), s.NewRequest()
		for _, name := range []string{"ID", "Name"} { // what a path needs
			if part := reflect.ValueOf(req).Elem().FieldByName(name); len(sh.at(inPath)) > 0 && part.IsValid() {
				part.SetString("0199")
			}
		}
		out, err := sh.encode(req)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		// What must be there is null when it is nil, and refused as such.
		if got, err := arrive(sh, out); err != nil && !strings.Contains(err.Error(), "is null; give ") || err == nil && !reflect.DeepEqual(got, req) {
			t.Errorf("%s: arrived as %+v, %v", s.Name, got, err)
		}
	}
}

// FuzzDecode: whatever arrives is refused in one sentence, or means the same
// after it has travelled once more.
func FuzzDecode(f *testing.F) {
	table := op.Table()
	f.Fuzz(func(t *testing.T, n uint8, query, match string, body []byte) {
		sh := shapeOf(table[int(n)%len(table)])
		r := &http.Request{
			Method: sh.spec.Method,
			URL:    &url.URL{Path: sh.spec.Path, RawQuery: query},
			Header: http.Header{"Content-Type": {typeJSON}},
		}
		r.SetPathValue("id", "0199")
		if match != "" {
			r.Header.Set("If-Match", match)
		}
		req, err := sh.decode(r, body)
		if err != nil {
			checkRefusal(t, err)
			return
		}
		out, err := sh.encode(req)
		if err != nil {
			checkRefusal(t, err) // such as a header that is not a parameter of this request
			return
		}
		again, err := arrive(sh, out)
		if err != nil {
			t.Fatalf("%s took %q %q and then not its own %q %q: %v", sh.spec.Name, query, body, out.url, out.body, err)
		}
		last, err := sh.encode(again)
		if err != nil || last.url != out.url || !bytes.Equal(last.body, out.body) {
			t.Fatalf("%s changed %q %q to %q %q (%v)", sh.spec.Name, out.url, out.body, last.url, last.body, err)
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[*memory.Error](err)
	if !ok || e.Code != memory.Invalid && e.Code != memory.TooLarge {
		t.Fatalf("refused with %#v", err)
	}
	if e.Message == "" || len(e.Message) > 500 || strings.ContainsAny(e.Message, "\n\r") || !utf8.ValidString(e.Message) {
		t.Fatalf("not a sentence: %q", e.Message)
	}
}
