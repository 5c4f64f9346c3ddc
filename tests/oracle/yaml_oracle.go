// What sigs.k8s.io/yaml, which kubectl uses, makes of YAML. For every FILE.json named on the command
// line, a list of cases, it writes FILE.want.json: for each name {"documents": [...]} or {"error": "..."}.
// Run by make-answers; the tests read the answers and need no Go.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// The text of a case is its lines, or its bytes where they are not UTF-8, or a file in the same folder.
type testCase struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
	Bytes []int    `json:"bytes"`
	File  string   `json:"file"`
}

func (c testCase) text(folder string) string {
	if c.File != "" {
		text, err := os.ReadFile(filepath.Join(folder, c.File))
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	var text []byte
	for _, each := range c.Bytes {
		text = append(text, byte(each))
	}
	return string(text) + strings.Join(c.Lines, "\n")
}

type answer struct {
	Documents *[]json.RawMessage `json:"documents,omitempty"`
	Error     string             `json:"error,omitempty"`
}

// Cuts a stream at lines of "---", as kubectl does, since sigs.k8s.io/yaml reads one document.
func split(text string) []string {
	text = strings.TrimPrefix(text, "\ufeff")
	var chunks []string
	var chunk strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if strings.TrimRight(line, " \r\n") == "---" {
			chunks = append(chunks, chunk.String())
			chunk.Reset()
			continue
		}
		chunk.WriteString(line)
	}
	return append(chunks, chunk.String())
}

func hasContent(chunk string) bool {
	for _, line := range strings.Split(chunk, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}

func read(text string) (result answer) {
	defer func() {
		if fault := recover(); fault != nil {
			result = answer{Error: fmt.Sprint("panic: ", fault)}
		}
	}()
	documents := []json.RawMessage{}
	for _, chunk := range split(text) {
		if !hasContent(chunk) {
			continue
		}
		value, err := yaml.YAMLToJSON([]byte(chunk))
		if err != nil {
			return answer{Error: err.Error()}
		}
		documents = append(documents, value)
	}
	return answer{Documents: &documents}
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
			answers[c.Name] = read(c.text(filepath.Dir(path)))
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
