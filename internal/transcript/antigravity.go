package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
)

// antigravity reads what Antigravity writes. The id of the session is in the path of the file.
type antigravity struct{ *recorder }

type antigravityLine struct {
	StepIndex *int64 `json:"step_index"`
	Source    string
	Type      string
	CreatedAt moment `json:"created_at"`
	Content   string
	ToolCalls []struct {
		Name string
		Args json.RawMessage
	} `json:"tool_calls"`
}

func newAntigravity() parser { return antigravity{newRecorder(Antigravity)} }

func (a antigravity) line(at int64, data []byte) error {
	var l antigravityLine
	if err := json.Unmarshal(data, &l); err != nil {
		return err
	}
	a.begin("", "", l.CreatedAt.Time)
	id := orPlace("", at)
	if l.StepIndex != nil {
		id = orPlace("", *l.StepIndex)
	}
	switch {
	case l.Source == "USER_EXPLICIT":
		a.person(id, request(l.Content), l.CreatedAt.Time)
	case l.Source == "MODEL" && (l.Type == "" || l.Type == "PLANNER_RESPONSE"): // others are results of tools
		a.answer(id, l.Content, l.CreatedAt.Time, len(l.ToolCalls) == 0)
		for i, call := range l.ToolCalls {
			a.call(id+"."+strconv.Itoa(i), strings.TrimPrefix(call.Name, "default_api:"), call.Args, l.CreatedAt.Time)
		}
	}
	return nil
}

// request returns what the person typed, which stands in an element of the prompt.
func request(content string) string {
	_, typed, found := strings.Cut(content, "<USER_REQUEST>")
	if !found {
		return content
	}
	if end := strings.LastIndex(typed, "</USER_REQUEST>"); end >= 0 {
		typed = typed[:end]
	}
	return typed
}
