// A mutating webhook as operators write it, on controller-runtime: for StormServices and LeaderWorkerSets
// it makes the changes that mindgate makes, and nothing else. `make bench` measures mindgate against it and compares what both make of the same object.
//
//	go_webhook -cert-dir FOLDER -port PORT
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// handler reads objects without their Go types: the CRDs belong to other operators.
type handler struct {
	decoder admission.Decoder
}

func (h *handler) Handle(_ context.Context, request admission.Request) admission.Response {
	object := &unstructured.Unstructured{}
	if err := h.decoder.Decode(request, object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if err := inject(object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	mutated, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, mutated)
}

func inject(object *unstructured.Unstructured) error {
	switch object.GetKind() {
	case "StormService":
		return injectStormService(object)
	case "LeaderWorkerSet":
		return injectLeaderWorkerSet(object)
	default:
		return nil
	}
}

func main() {
	certDir := flag.String("cert-dir", "", "folder with tls.crt and tls.key")
	port := flag.Int("port", 0, "port of 127.0.0.1 to serve on")
	flag.Parse()

	ctrllog.SetLogger(logr.Discard())
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: *port, CertDir: *certDir})
	server.Register("/mutate", &webhook.Admission{Handler: &handler{decoder: admission.NewDecoder(runtime.NewScheme())}})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
}
