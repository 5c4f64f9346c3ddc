// Compares what Git has with what a cluster has, as Argo CD does: its own differ, one pair of objects a line.
//
//	{"config": OBJECT, "live": OBJECT, "jq": [EXPRESSION...], "serverSide": bool} -> {"modified": bool}
//
// With serverSide the API server of $KUBECONFIG is asked, by $KUBECTL, as for ServerSideDiff=true.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	openapi "github.com/google/gnostic-models/openapiv2"
	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"
)

// Whose fields Argo CD applies.
const manager = "argocd-controller"

type pair struct {
	Config     map[string]any `json:"config"`
	Live       map[string]any `json:"live"`
	JQ         []string       `json:"jq"`
	ServerSide bool           `json:"serverSide"`
}

// ignored removes what jqPathExpressions of ignoreDifferences select, from both sides.
type ignored []string

func (paths ignored) Normalize(object *unstructured.Unstructured) error {
	for _, path := range paths {
		query, err := gojq.Parse("delpaths([path(" + path + ")])")
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		// Its numbers are those of encoding/json.
		text, err := json.Marshal(object.Object)
		if err != nil {
			return err
		}
		var plain map[string]any
		if err := json.Unmarshal(text, &plain); err != nil {
			return err
		}
		rest, _ := query.Run(plain).Next()
		if err, failed := rest.(error); failed {
			return fmt.Errorf("%s: %w", path, err)
		}
		if text, err = json.Marshal(rest); err != nil {
			return err
		}
		object.Object = nil
		if err := json.Unmarshal(text, &object.Object); err != nil {
			return err
		}
	}
	return nil
}

func kubectl(input []byte, arguments ...string) ([]byte, error) {
	command := exec.Command(os.Getenv("KUBECTL"), arguments...)
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	return command.Output()
}

// dryRunner applies an object without storing it.
type dryRunner struct{}

func (dryRunner) Run(_ context.Context, object *unstructured.Unstructured, manager string) (string, error) {
	input, err := object.MarshalJSON()
	if err != nil {
		return "", err
	}
	out, err := kubectl(input, "apply", "--server-side", "--dry-run=server", "--force-conflicts", "--validate=false",
		"--field-manager="+manager, "--show-managed-fields", "-o", "json", "-f", "-")
	return string(out), err
}

// parser knows the types of the API server.
func parser() (*managedfields.GvkParser, error) {
	text, err := kubectl(nil, "get", "--raw", "/openapi/v2")
	if err != nil {
		return nil, err
	}
	document, err := openapi.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		return nil, err
	}
	return managedfields.NewGVKParser(models, false)
}

func run() error {
	var types *managedfields.GvkParser
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var each pair
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			return err
		}
		options := []diff.Option{diff.WithNormalizer(ignored(each.JQ)), diff.WithManager(manager)}
		if each.ServerSide {
			if types == nil {
				var err error
				if types, err = parser(); err != nil {
					return err
				}
			}
			options = append(options, diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(dryRunner{}),
				diff.WithGVKParser(types), diff.WithIgnoreMutationWebhook(true))
		}
		result, err := diff.Diff(&unstructured.Unstructured{Object: each.Config}, &unstructured.Unstructured{Object: each.Live}, options...)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(map[string]any{
			"modified": result.Modified, "live": json.RawMessage(result.NormalizedLive), "predicted": json.RawMessage(result.PredictedLive),
		}); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
