// What github.com/evanphx/json-patch, which the API server uses, makes of JSON patches. For every
// FILE.json named on the command line, a list of {"name", "document", "patch"}, it writes FILE.want.json:
// for each name {"result": ...} or {"error": "..."}.
// Run by make-answers; the tests read the answers and need no Go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	jsonpatch "github.com/evanphx/json-patch"
)

type testCase struct {
	Name     string          `json:"name"`
	Document json.RawMessage `json:"document"`
	Patch    json.RawMessage `json:"patch"`
}

type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func apply(c testCase) (result answer) {
	defer func() {
		if fault := recover(); fault != nil {
			result = answer{Error: fmt.Sprint("panic: ", fault)}
		}
	}()
	patch, err := jsonpatch.DecodePatch(c.Patch)
	if err != nil {
		return answer{Error: err.Error()}
	}
	after, err := patch.Apply(c.Document)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Result: after}
}

func main() {
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		var cases []testCase
		if err := json.Unmarshal(text, &cases); err != nil {
			panic(path + ": " + err.Error())
		}
		answers := map[string]answer{}
		for _, c := range cases {
			answers[c.Name] = apply(c)
		}
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(answers); err != nil {
			panic(err)
		}
		if err := os.WriteFile(strings.TrimSuffix(path, ".json")+".want.json", out.Bytes(), 0o644); err != nil {
			panic(err)
		}
	}
}
