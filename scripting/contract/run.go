package contract

import (
	"bytes"
	"context"
	"encoding/json"

	"snens/scripting/engine"
)

// Result is the answer of a script tool.
type Result struct {
	Content string          `json:"content"`          // what a model reads
	Success bool            `json:"success"`          //
	Error   string          `json:"error,omitempty"`  // short reason
	Visual  json.RawMessage `json:"visual,omitempty"` // one block or a list, for people; not checked here
	Data    json.RawMessage `json:"data,omitempty"`   // any JSON, for programs
}

// Run calls run(args, config) of the instance. A script that declares run(args)
// alone does not get config. cause is nil, or why the script had no answer.
func Run(ctx context.Context, in engine.Instance, args, config json.RawMessage) (r Result, cause error) {
	value, err := in.Call(ctx, "run", args, config)
	if err != nil {
		return Failed(err), err
	}
	return Read(value), nil
}

// Failed is the result for a script without an answer: the text of the error
// is what a model reads too.
func Failed(err error) Result {
	return Result{Content: err.Error(), Error: err.Error()}
}

// Read reads what run returned. What the document does not name is made text:
// null is "", a number or an array is its JSON. success is true unless it is
// false, or error is set and success is not. An error without content is the
// content too.
func Read(value json.RawMessage) Result {
	value = bytes.TrimSpace(value)
	var text string
	if json.Unmarshal(value, &text) == nil && !isNull(value) {
		return Result{Content: text, Success: true}
	}
	var fields struct {
		Content, Success, Error, Visual, Data json.RawMessage
	}
	if len(value) == 0 || value[0] != '{' || json.Unmarshal(value, &fields) != nil {
		return Result{Content: asText(value), Success: true}
	}
	r := Result{Content: asText(fields.Content), Error: asText(fields.Error), Visual: present(fields.Visual), Data: present(fields.Data)}
	var told *bool
	if json.Unmarshal(fields.Success, &told) == nil && told != nil {
		r.Success = *told
	} else {
		r.Success = r.Error == ""
	}
	if r.Content == "" && !r.Success {
		r.Content = r.Error
	}
	return r
}

// asText is a string's text, "" for what is missing, else JSON.
func asText(value json.RawMessage) string {
	var text string
	if len(value) == 0 || isNull(value) {
		return ""
	}
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func isNull(value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" }

func present(value json.RawMessage) json.RawMessage {
	if len(value) == 0 || isNull(value) {
		return nil
	}
	return value
}
