"""A Kubernetes API server over HTTP in front of a `Store`, and what a network and a busy server do to its clients.

Each client has a `Door` of its own: a port, on which requests can be delayed, refused or lost for this client alone. All
requests that change something, and all reads of single objects, are kept in one log.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

import store as kinds
from store import CLUSTER_WIDE, KINDS, Object, Query, Refused, Store, api_version, json_patch, merge_patch, selects, text_of

PATH = re.compile(r"/(api/v1|apis/[^/]+/[^/]+)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?(?:/([a-z]+))?$")
BOOKMARK_EVERY = 0.5  # seconds


@dataclasses.dataclass
class Request:
    """One request. Times are seconds on the steady clock of this process."""

    caller: str
    verb: str  # GET, POST, PUT, PATCH, DELETE, LIST, WATCH
    kind: str
    ns: str
    name: str
    subresource: str
    query: Query
    body: Any
    arrived: float
    answered: float = 0
    code: int = 0
    answer: Object | None = None  # of reads, and the object before a deletion

    def is_dry(self) -> bool:
        return "dryRun" in self.query

    def options(self) -> Object:
        """What a deletion or an eviction asks for."""
        body = self.body or {}
        return body.get("deleteOptions") or {} if self.subresource == "eviction" else body


@dataclasses.dataclass
class Answer:
    """What a history answers in place of the server."""

    code: int
    body: Object
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


Interference = Callable[[Request], Answer | None]


class ApiServer:
    """The objects, the log of requests, and the doors of its clients."""

    def __init__(self) -> None:
        self.store = Store()
        self.requests: list[Request] = []
        self.pages: list[tuple[str, list[Object]]] = []  # what is left of lists; a token is an index
        self.paths: list[str] = []  # of all requests, with their queries, as they came
        self.doors: dict[str, Door] = {}
        self.deleted: list[Request] = []  # deletions of pods that were carried out
        self.on_deleted: list[Callable[[Object, bool], None]] = []  # the pod before, and whether it was forced

    def door(self, caller: str) -> Door:
        if caller not in self.doors:
            self.doors[caller] = Door(self, caller)
        return self.doors[caller]

    def close(self) -> None:
        for door in self.doors.values():
            door.close()

    # --- writes, with the lock of the store held

    def write(self, request: Request, content_type: str) -> tuple[int, Object]:
        if request.subresource == "eviction" or request.verb == "DELETE":
            return 200, self._delete(request)
        if request.verb == "POST":
            return 201, self._create(request)
        there = self.store.get(request.kind, request.ns, request.name)
        if request.verb == "PATCH" and "apply-patch" in content_type:
            return self._apply(request, there)
        if there is None:
            raise Refused(404, "NotFound", f'{request.kind.split("/")[-1]} "{request.name}" not found')
        if request.verb == "GET":
            request.answer = there
            return 200, there
        if request.verb == "PUT":
            after = request.body
        else:
            after = copy.deepcopy(there)
            (json_patch if "json-patch" in content_type else merge_patch)(after, request.body)
        for member in ("resourceVersion", "uid"):
            asked = after["metadata"].get(member)
            if asked and asked != there["metadata"][member]:
                raise Refused(409, "Conflict", f"the object has another {member}")
        if not after.get("spec", {}).get("schedulingGates", True):
            del after["spec"]["schedulingGates"]
        return 200, after if request.is_dry() else self.store.put(request.kind, after)

    def _create(self, request: Request) -> Object:
        made = request.body
        if request.kind not in CLUSTER_WIDE:
            made.setdefault("metadata", {}).setdefault("namespace", request.ns)
        if self.store.get(request.kind, request.ns, made["metadata"]["name"]):
            raise Refused(409, "AlreadyExists", f"{made['metadata']['name']} already exists")
        return made if request.is_dry() else self.store.put(request.kind, made)

    def _apply(self, request: Request, there: Object | None) -> tuple[int, Object]:
        named = {"metadata": {"name": request.name}}
        if request.kind not in CLUSTER_WIDE:
            named["metadata"]["namespace"] = request.ns
        after = copy.deepcopy(there) if there else named
        for member, value in request.body.items():
            if member == "webhooks":  # a list by name
                for webhook in value:
                    for old in after.get("webhooks", []):
                        if old["name"] == webhook["name"]:
                            merge_patch(old, webhook)
            elif member != "metadata":
                merge_patch(after, {member: value})
        wanted = request.body.get("metadata", {})
        merge_patch(after["metadata"], {key: wanted[key] for key in ("labels", "annotations") if key in wanted})
        return (200 if there else 201), after if request.is_dry() else self.store.put(request.kind, after)

    def _delete(self, request: Request) -> Object:
        there = self.store.get(request.kind, request.ns, request.name)
        if there is None:
            raise Refused(404, "NotFound", f"{request.name} not found")
        options = request.options()
        for member, value in (options.get("preconditions") or {}).items():
            if there["metadata"].get(member) != value:
                raise Refused(409, "Conflict", f"the precondition names another {member}")
        request.answer = there
        if request.is_dry():
            return there
        if request.kind != kinds.PODS:
            self.store.remove(request.kind, request.ns, request.name)
            return there
        grace = options.get("gracePeriodSeconds", there["spec"].get("terminationGracePeriodSeconds", 30))
        self.deleted.append(request)
        self.terminate(there, grace)
        for then in self.on_deleted:
            then(there, grace == 0)
        return there

    def terminate(self, pod: Object, grace: int) -> None:
        """As kube-apiserver does: a pod without a node, or without grace, is gone at once; a shorter grace wins."""
        metadata = pod["metadata"]
        if grace == 0 or not pod["spec"].get("nodeName"):
            self.store.remove(kinds.PODS, metadata["namespace"], metadata["name"])
        elif metadata.get("deletionGracePeriodSeconds", grace + 1) > grace:
            going = copy.deepcopy(pod)
            going["metadata"].update(deletionTimestamp=kinds.stamp(-grace), deletionGracePeriodSeconds=grace)
            self.store.put(kinds.PODS, going)


class Door(ThreadingHTTPServer):
    """The server as one client reaches it. What a history does to it holds from the next request or event on."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, server: ApiServer, caller: str):
        super().__init__(("127.0.0.1", 0), Handler)
        self.api, self.caller = server, caller
        self.interferences: list[Interference] = []
        self.is_cut = False  # nothing gets through in either direction, and no connection breaks
        self.silent: set[str] = set()  # kinds whose watches stay open and send nothing
        self.broken: set[str] = set()  # kinds whose watches end, and are refused
        self.after_list: dict[str, Callable[[], Any]] = {}  # what happens once a list of a kind is complete, before it is sent
        self.watching: dict[str, int] = {}  # open watches
        self.sent: dict[str, list[tuple[float, int]]] = {}  # by kind: when a watch had sent all up to a version
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def cut(self) -> None:
        self.is_cut = True

    def heal(self) -> None:
        self.is_cut = False
        self.silent.clear()
        self.broken.clear()

    def knew(self, kind: str, version: int) -> float | None:
        """When this client was sent that version of a kind; nothing: it was not."""
        return next((at for at, sent in self.sent.get(kind, []) if sent >= version), None)

    def close(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: Any) -> None:
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(*_)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Door

    def log_message(self, *_: Any) -> None:
        pass

    def handle_request(self) -> None:
        door = self.server
        door.api.paths.append(self.path)
        url = urlparse(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length) if length else b""
        body = kinds.json.loads(text) if text else None
        path = PATH.match(url.path)
        kind = f"{path[1]}/{path[3]}" if path else ""
        # "namespaces" itself is not a namespace's part.
        if re.match(r"/api/v1/namespaces(/[^/]+)?$", url.path):
            kind, name = kinds.NAMESPACES, url.path.removeprefix("/api/v1/namespaces").strip("/")
            ns = subresource = ""
        elif path and kind in KINDS:
            ns, name, subresource = path[2] or "", path[4] or "", path[5] or ""
        else:
            self.other(url.path, body)
            return
        verb = self.command
        query = parse_qs(url.query)
        if verb == "GET" and not name:
            verb = "WATCH" if "watch" in query else "LIST"
        request = Request(door.caller, verb, kind, ns, name, subresource, query, body, time.monotonic())
        door.api.requests.append(request)
        for interfere in list(door.interferences):
            instead = interfere(request)
            if instead:
                self.respond(request, instead.code, instead.body, instead.headers)
                return
        if not self.passes():
            return
        try:
            if verb == "WATCH":
                self.watch(request)
                return
            if verb == "LIST":
                code, answer = 200, self.list(request)
            else:
                with door.api.store.changed:
                    code, answer = door.api.write(request, self.headers.get("Content-Type", ""))
        except Refused as refused:
            code, answer = refused.code, refused.status()
        self.respond(request, code, answer, {})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request

    def passes(self) -> bool:
        """Waits while the client is cut off. False when it gave up meanwhile."""
        while self.server.is_cut:
            if select.select([self.connection], [], [], 0.05)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                self.close_connection = True
                return False
        return True

    def respond(self, request: Request | None, code: int, body: Object, headers: dict[str, str]) -> None:
        if request is not None:
            request.code = code
        if not self.passes():
            return
        text = text_of(body)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self._headers_buffer.append(b"\r\n" + text)  # one segment
        self.flush_headers()
        if request is not None:
            request.answered = time.monotonic()

    def other(self, path: str, body: Any) -> None:
        if not self.passes():
            return
        if path == "/version":
            self.respond(None, 200, {"major": "1", "minor": "34", "gitVersion": "v1.34.0"}, {})
        elif path.endswith("/selfsubjectaccessreviews"):
            self.respond(None, 201, dict(body, status={"allowed": True}), {})
        elif served := [kind for kind in KINDS if "/" + kind.rsplit("/", 1)[0] == path]:
            resources = [
                {"name": kind.split("/")[-1], "kind": KINDS[kind], "namespaced": kind not in CLUSTER_WIDE, "verbs": ["get", "list", "watch"]}
                for kind in served
            ]
            self.respond(None, 200, {"kind": "APIResourceList", "groupVersion": api_version(served[0]), "resources": resources}, {})
        else:
            self.respond(None, 404, Refused(404, "NotFound", "the server could not find the requested resource").status(), {})

    def is_of_metadata(self) -> bool:
        return "PartialObjectMetadata" in self.headers.get("Accept", "")

    def shown(self, one: Object) -> Object:
        if not self.is_of_metadata():
            return one
        return {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": one["metadata"]}

    def list(self, request: Request) -> Object:
        """In pages, as they were when the first one was asked for."""
        api = self.server.api
        store = api.store
        limit = int(request.query.get("limit", ["0"])[0])
        token = request.query.get("continue", [""])[0]
        with store.changed:
            if token:
                version, items = api.pages[int(token)]
            else:
                items = [each for each in store.objects(request.kind) if selects(request.query, request.ns, each)]
                version = str(store.version)
            rest = items[limit:] if limit else []
            metadata = {"resourceVersion": version}
            if rest:
                metadata["continue"] = str(len(api.pages))
                api.pages.append((version, rest))
                items = items[:limit]
        collection = {"apiVersion": api_version(request.kind), "kind": KINDS[request.kind] + "List"}
        if self.is_of_metadata():
            collection = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList"}
        answer = dict(collection, metadata=metadata, items=[self.shown(each) for each in items])
        if not rest:
            self.note_sent(request.kind, int(version))
            self.server.after_list.pop(request.kind, lambda: None)()
        return answer

    def note_sent(self, kind: str, version: int) -> None:
        self.server.sent.setdefault(kind, []).append((time.monotonic(), version))

    # --- watches

    def watch(self, request: Request) -> None:
        door = self.server
        if request.kind in door.broken:
            raise Refused(500, "InternalError", "the watch cache is not there")
        if "sendInitialEvents" in request.query:
            raise Refused(422, "Invalid", "sendInitialEvents is forbidden for watch: WatchList is off")
        since = int(request.query.get("resourceVersion", ["0"])[0] or "0")
        if since < door.api.store.oldest:
            raise Refused(410, "Expired", "the resource version is too old")
        request.code = 200
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        door.watching[request.kind] = door.watching.get(request.kind, 0) + 1
        try:
            self.send_changes(request, since)
        except (OSError, ValueError):
            pass
        finally:
            door.watching[request.kind] -= 1

    def send_changes(self, request: Request, since: int) -> None:
        door, kind = self.server, request.kind
        store = door.api.store
        read, sent = 0, since
        bookmark = time.monotonic() + 0.02
        while kind not in door.broken:
            lines: list[Object] = []
            with store.changed:
                late = door.is_cut or kind in door.silent
                if sent < store.oldest and not door.is_cut:
                    lines.append({"type": "ERROR", "object": Refused(410, "Expired", "too old resource version").status()})
                elif late or (read >= len(store.changes) and time.monotonic() < bookmark):
                    store.changed.wait(0.05)
                else:
                    for change in store.changes[read:]:
                        if change.kind == kind and change.version > since:
                            lines += self.event(request, change)
                    read, sent = len(store.changes), store.version
                    if not lines and time.monotonic() >= bookmark:
                        lines.append(self.bookmark(kind, sent))
            for line in lines:
                text = text_of(line) + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            if lines:
                bookmark = time.monotonic() + BOOKMARK_EVERY
                self.note_sent(kind, sent)
                if lines[-1]["type"] == "ERROR":
                    break
            elif select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                return  # the client has gone
        self.connection.shutdown(socket.SHUT_RDWR)

    def event(self, request: Request, change: kinds.Change) -> list[Object]:
        had, has = (selects(request.query, request.ns, each) for each in (change.before, change.after))
        if has:
            return [{"type": "MODIFIED" if had else "ADDED", "object": self.shown(change.after or {})}]
        if not had:
            return []
        gone = copy.deepcopy(change.after or change.before or {})
        gone["metadata"]["resourceVersion"] = str(change.version)
        return [{"type": "DELETED", "object": self.shown(gone)}]

    def bookmark(self, kind: str, version: int) -> Object:
        metadata = {"resourceVersion": str(version)}
        return {"type": "BOOKMARK", "object": {"kind": KINDS[kind], "apiVersion": api_version(kind), "metadata": metadata}}
