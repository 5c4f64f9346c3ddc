"""
A mutating webhook of somebody else: adds a container that asks for an NPU to every Deployment's template.

    sidecar_injector.py CERTIFICATE KEY        prints its port on 127.0.0.1
"""

from __future__ import annotations

import base64
import http.server
import json
import ssl
import sys

SIDECAR = {
    "name": "sidecar",
    "image": "example/sidecar",
    "resources": {"limits": {"huawei.com/Ascend910": "1"}, "requests": {"huawei.com/Ascend910": "1"}},
}


class Injector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        containers = request["object"]["spec"]["template"]["spec"]["containers"]
        response: dict[str, object] = {"uid": request["uid"], "allowed": True}
        if all(container["name"] != SIDECAR["name"] for container in containers):
            patch = [{"op": "add", "path": "/spec/template/spec/containers/-", "value": SIDECAR}]
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        answer = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Injector)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
