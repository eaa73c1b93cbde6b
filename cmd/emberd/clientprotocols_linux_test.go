package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
)

// jsonObject is a JSON object.
type jsonObject = map[string]any

// The protocols of model APIs.
var (
	messagesProtocol  = modelProtocol{messagesResults, answerMessages}   // of Anthropic
	responsesProtocol = modelProtocol{responsesResults, answerResponses} // of OpenAI
	chatProtocol      = modelProtocol{chatResults, answerChat}           // of OpenAI, and of many others
	geminiProtocol    = modelProtocol{geminiResults, answerGemini}       // of Google
)

func messagesResults(request []byte) (out []string) {
	var req struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(request, &req) // the request was JSON before
	for _, m := range req.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &blocks) // a string has no result
		for _, b := range blocks {
			if b.Type == "tool_result" {
				out = append(out, resultText(b.Content))
			}
		}
	}
	return out
}

func answerMessages(w io.Writer, n int, call *toolUse) {
	block, stop := jsonObject{"type": "text", "text": ""}, "end_turn"
	delta := jsonObject{"type": "text_delta", "text": "done"}
	if call != nil {
		stop = "tool_use"
		block = jsonObject{"type": stop, "id": fmt.Sprintf("toolu_%d", n), "name": call.server + call.name,
			"input": jsonObject{}}
		delta = jsonObject{"type": "input_json_delta", "partial_json": call.input}
	}
	usage := jsonObject{"input_tokens": 1, "output_tokens": 1}
	for _, e := range []jsonObject{
		{"type": "message_start", "message": jsonObject{"id": "msg_1", "type": "message", "role": "assistant",
			"model": "mock", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": jsonObject{"stop_reason": stop, "stop_sequence": nil}, "usage": usage},
		{"type": "message_stop"},
	} {
		writeEvent(w, e["type"].(string), jsonOf(e))
	}
}

func responsesResults(request []byte) (out []string) {
	var req struct {
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	_ = json.Unmarshal(request, &req) // the request was JSON before
	for _, item := range req.Input {
		if item.Type == "function_call_output" {
			out = append(out, resultText(item.Output))
		}
	}
	return out
}

func answerResponses(w io.Writer, n int, call *toolUse) {
	item := jsonObject{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{jsonObject{"type": "output_text", "text": "done", "annotations": []any{}}}}
	if call != nil {
		item = jsonObject{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n),
			"namespace": call.server, "name": call.name, "arguments": call.input, "status": "completed"}
	}
	response := jsonObject{"id": "resp_1", "object": "response", "created_at": 1, "model": "mock",
		"status": "in_progress", "output": []any{}}
	done := maps.Clone(response)
	maps.Copy(done, jsonObject{"status": "completed", "output": []any{item},
		"usage": jsonObject{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}})
	for _, e := range []jsonObject{
		{"type": "response.created", "response": response},
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": done},
	} {
		writeEvent(w, e["type"].(string), jsonOf(e))
	}
}

func chatResults(request []byte) (out []string) {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(request, &req) // the request was JSON before
	for _, m := range req.Messages {
		if m.Role == "tool" {
			out = append(out, resultText(m.Content))
		}
	}
	return out
}

func answerChat(w io.Writer, n int, call *toolUse) {
	delta, stop := jsonObject{"role": "assistant", "content": "done"}, "stop"
	if call != nil {
		stop = "tool_calls"
		function := jsonObject{"name": call.server + call.name, "arguments": call.input}
		delta = jsonObject{"role": "assistant", "tool_calls": []any{jsonObject{
			"index": 0, "id": fmt.Sprintf("call_%d", n), "type": "function", "function": function}}}
	}
	for _, choice := range []jsonObject{
		{"index": 0, "delta": delta, "finish_reason": nil},
		{"index": 0, "delta": jsonObject{}, "finish_reason": stop},
	} {
		writeEvent(w, "", jsonOf(jsonObject{"id": "chat_1", "object": "chat.completion.chunk", "created": 1,
			"model": "mock", "choices": []any{choice}}))
	}
	writeEvent(w, "", "[DONE]")
}

func geminiResults(request []byte) (out []string) {
	var req struct {
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
	}
	_ = json.Unmarshal(request, &req) // the request was JSON before
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				out = append(out, geminiText(p.FunctionResponse.Response))
			}
		}
	}
	return out
}

// geminiText returns the text of a response that has nothing but an output or an error, and any
// other response as its JSON.
func geminiText(response json.RawMessage) string {
	var members map[string]string
	if json.Unmarshal(response, &members) == nil && len(members) == 1 {
		return members["output"] + members["error"]
	}
	return string(response)
}

func answerGemini(w io.Writer, _ int, call *toolUse) {
	part := jsonObject{"text": "done"}
	if call != nil {
		part = jsonObject{"functionCall": jsonObject{
			"name": call.server + call.name, "args": json.RawMessage(call.input)}}
	}
	writeEvent(w, "", jsonOf(jsonObject{
		"candidates": []any{jsonObject{"index": 0, "finishReason": "STOP",
			"content": jsonObject{"role": "model", "parts": []any{part}}}},
		"usageMetadata": jsonObject{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}))
}
