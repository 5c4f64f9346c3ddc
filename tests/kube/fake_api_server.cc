#include "kube/fake_api_server.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "base/time.h"
#include "json/decode.h"

namespace mindgate::kube::testing {
namespace {

// What must come about in a test comes within milliseconds; a machine may be slow.
constexpr std::chrono::seconds kPatience(60);

// The largest request body (k8s.io/apiserver: MaxRequestBodyBytes).
constexpr size_t kMaxBody = 3 * 1024 * 1024;

HttpResponse Answered(int status, const Json& body) {
  HttpResponse response;
  response.status = status;
  response.body = body.dump() + "\n";
  return response;
}

HttpResponse Answered(const Refusal& refusal) {
  HttpResponse response = Answered(refusal.at("code").get<int>(), refusal);
  const Json details = refusal.value("details", Json::object());
  if (const int seconds = details.value("retryAfterSeconds", 0); seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(seconds));
  }
  return response;
}

HttpResponse Answered(const Outcome<Reply>& outcome) {
  return outcome ? Answered(outcome->status, outcome->body) : Answered(outcome.error());
}

bool Means(const When& when, const HttpRequest& request) {
  return (when.method.empty() || when.method == request.method) &&
         request.target.find(when.target_part) != std::string::npos;
}

std::string Header(const HttpRequest& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

bool WantsMetadata(const HttpRequest& request) {
  return Header(request, "accept").find("as=PartialObjectMetadata") != std::string::npos;
}

Json VersionInfo() {
  return {{"major", "1"}, {"minor", "34"}, {"gitVersion", "v1.34.4"}, {"platform", "linux/amd64"}};
}

}  // namespace

// --- gates ---------------------------------------------------------------------------------------

void Gate::Hold() {
  std::unique_lock lock(mutex_);
  held_ = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return released_; });
}

bool Gate::WaitUntilHeld() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [this] { return held_; });
}

void Gate::Release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  changed_.notify_all();
}

// --- life ----------------------------------------------------------------------------------------

FakeApiServer::FakeApiServer(Options options)
    : options_(std::move(options)), writes_(resources_, store_, [this](int64_t ahead) {
        return FormatTime((options_.clock != nullptr ? *options_.clock : system_clock_).WallNow() +
                          std::chrono::seconds(ahead));
      }) {
  for (const char* name : {"default", "kube-system"}) {
    store_.Put(resources::kNamespaces, "", name,
               {{"kind", "Namespace"},
                {"apiVersion", "v1"},
                {"metadata", {{"name", name}, {"uid", std::string("ns-") + name}}},
                {"status", {{"phase", "Active"}}}});
  }
  http_ = std::make_unique<HttpServer>(
      options_.http, [this](const HttpRequest& request) { return Serve(request); });
}

FakeApiServer::~FakeApiServer() { Stop(); }

void FakeApiServer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& [_, gate] : gates_) gate->Release();
  }
  http_->Stop();
}

std::string FakeApiServer::url() const {
  return (options_.http.certificate.empty() ? "http" : "https") + std::string("://127.0.0.1:") +
         std::to_string(port());
}

bool FakeApiServer::WaitFor(const std::function<bool()>& condition) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, condition);
}

// --- objects -------------------------------------------------------------------------------------

void FakeApiServer::Register(FakeResource resource) {
  const std::lock_guard lock(mutex_);
  resources_.Add(std::move(resource));
}

Json FakeApiServer::Put(const Resource& resource, Json object) {
  const std::lock_guard lock(mutex_);
  Json& metadata = object["metadata"];
  const std::string name = metadata.at("name");
  if (resource.namespaced && !metadata.contains("namespace")) metadata["namespace"] = "default";
  const std::string ns = resource.namespaced ? metadata["namespace"].get<std::string>() : "";
  object["kind"] = resource.kind;
  object["apiVersion"] = resource.api_version();
  const Resource& namespaces = resources::kNamespaces;
  if (resource.namespaced && store_.Get(namespaces, "", ns) == nullptr) {
    store_.Put(namespaces, "", ns,
               {{"kind", "Namespace"},
                {"apiVersion", "v1"},
                {"metadata", {{"name", ns}, {"uid", "ns-" + ns}}}});
  }
  if (!metadata.contains("uid")) {
    const auto live = store_.Get(resource, ns, name);
    metadata["uid"] = live != nullptr ? live->at("metadata").at("uid")
                                      : Json("uid-" + std::to_string(store_.version()));
  }
  return *store_.Put(resource, ns, name, std::move(object));
}

void FakeApiServer::Remove(const Resource& resource, const std::string& ns,
                           const std::string& name) {
  const std::lock_guard lock(mutex_);
  store_.Remove(resource, ns, name);
}

Json FakeApiServer::Find(const Resource& resource, const std::string& ns,
                         const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = store_.Get(resource, ns, name);
  return found == nullptr ? Json() : *found;
}

size_t FakeApiServer::size(const Resource& resource) const {
  const std::lock_guard lock(mutex_);
  return store_.size(resource);
}

std::string FakeApiServer::version() const {
  const std::lock_guard lock(mutex_);
  return std::to_string(store_.version());
}

// --- watches -------------------------------------------------------------------------------------

void FakeApiServer::Compact() {
  const std::lock_guard lock(mutex_);
  store_.Compact();
}

void FakeApiServer::SendBookmarks() {
  const std::lock_guard lock(mutex_);
  store_.SendBookmarks();
}

void FakeApiServer::CutWatches(Cut how) {
  const std::lock_guard lock(mutex_);
  for (const auto& watch : store_.subscriptions()) {
    if (how == Cut::kMidLine) watch->lines.push_back(R"({"type":"MODIFIED","object":{"kind":")");
    watch->end = how == Cut::kOrderly ? Subscription::End::kOrderly : Subscription::End::kAbrupt;
    FakeStore::Wake(*watch);
  }
}

void FakeApiServer::WriteToWatches(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  for (const auto& watch : store_.subscriptions()) {
    watch->lines.push_back(bytes);
    FakeStore::Wake(*watch);
  }
}

size_t FakeApiServer::watches() const {
  const std::lock_guard lock(mutex_);
  return store_.subscriptions().size();
}

bool FakeApiServer::WaitForWatches(size_t count) const {
  return WaitFor([&] { return store_.subscriptions().size() == count; });
}

HttpResponse FakeApiServer::Watch(const HttpRequest& request, const Scope& scope) {
  const auto parameter = [&request](const std::string& name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? "" : found->second;
  };
  auto watch = std::make_shared<Subscription>();
  watch->scope = scope;
  watch->bookmarks = parameter("allowWatchBookmarks") == "true";
  watch->metadata_only = WantsMetadata(request);
  // Shared with the writer below, which ends before the watch does.
  const auto event = std::make_shared<FileDescriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch->event_fd = event->get();
  if (const auto begun = store_.Subscribe(watch, parameter("resourceVersion")); !begun) {
    return Answered(begun.error());
  }
  FakeStore::Wake(*watch);
  changed_.notify_all();
  const auto seconds = ParseGoInt(parameter("timeoutSeconds")).value_or(3600);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  HttpResponse response;
  response.stream = [this, watch, event, deadline](HttpStream& stream) {
    const bool orderly = Stream(stream, watch, deadline);
    const std::lock_guard lock(mutex_);
    store_.Unsubscribe(watch);
    changed_.notify_all();
    return orderly;
  };
  return response;
}

bool FakeApiServer::Stream(HttpStream& stream, const std::shared_ptr<Subscription>& watch,
                           std::chrono::steady_clock::time_point deadline) {
  while (true) {
    std::string lines;
    Subscription::End end;
    {
      const std::lock_guard lock(mutex_);
      for (const std::string& line : watch->lines) lines += line;
      watch->lines.clear();
      end = watch->end;
      if (stopping_) return false;
    }
    if (!stream.Write(lines)) return false;
    if (end != Subscription::End::kNo) return end == Subscription::End::kOrderly;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return true;
    pollfd waiting[] = {{stream.socket(), POLLIN | POLLRDHUP, 0}, {watch->event_fd, POLLIN, 0}};
    ::poll(waiting, 2, static_cast<int>(left.count()));
    if (waiting[0].revents != 0) return false;  // the client has gone, or this server stops
    eventfd_t ignored = 0;
    ::eventfd_read(watch->event_fd, &ignored);
  }
}

// --- who may what --------------------------------------------------------------------------------

void FakeApiServer::Accept(std::set<std::string> tokens, std::set<std::string> powerless) {
  const std::lock_guard lock(mutex_);
  users_.Accept(std::move(tokens), std::move(powerless));
}

void FakeApiServer::Forbid(const std::string& verb, const std::string& resource) {
  const std::lock_guard lock(mutex_);
  users_.Forbid(verb, resource);
}

void FakeApiServer::AllowAll() {
  const std::lock_guard lock(mutex_);
  users_.AllowAll();
}

// --- faults --------------------------------------------------------------------------------------

void FakeApiServer::AnswerNext(int times, When when, HttpResponse answer) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({times, std::move(when), std::move(answer)});
}

void FakeApiServer::LoseAnswers(int times, When when) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({times, std::move(when), std::nullopt, true});
}

void FakeApiServer::AnswerLate(int times, When when, HttpResponse answer) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({times, std::move(when), std::move(answer), true});
}

std::shared_ptr<Gate> FakeApiServer::Hold(When when) {
  const std::lock_guard lock(mutex_);
  gates_.emplace_back(std::move(when), std::make_shared<Gate>());
  return gates_.back().second;
}

HttpResponse StatusAnswer(int code, const std::string& reason, const std::string& message,
                          std::optional<int> retry_after) {
  HttpResponse response = Answered(code, StatusOf(code, reason, message));
  if (retry_after) response.headers.emplace_back("Retry-After", std::to_string(*retry_after));
  return response;
}

HttpResponse HtmlAnswer(int code) {
  return {.status = code,
          .body = "<html><head><title>Bad Gateway</title></head><body>nginx</body></html>",
          .content_type = "text/html"};
}

HttpResponse NoAnswer() {
  HttpResponse response;
  response.raw = [](HttpStream&) {};
  return response;
}

// --- what was asked ------------------------------------------------------------------------------

std::vector<HttpRequest> FakeApiServer::Requests(const When& when) const {
  const std::lock_guard lock(mutex_);
  std::vector<HttpRequest> meant;
  std::copy_if(requests_.begin(), requests_.end(), std::back_inserter(meant),
               [&when](const HttpRequest& request) { return Means(when, request); });
  return meant;
}

size_t FakeApiServer::Count(const When& when) const { return Requests(when).size(); }

bool FakeApiServer::WaitForRequests(const When& when, size_t count) const {
  return WaitFor([&] {
    return static_cast<size_t>(std::count_if(
               requests_.begin(), requests_.end(),
               [&](const HttpRequest& request) { return Means(when, request); })) >= count;
  });
}

void FakeApiServer::ForgetRequests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

// --- requests ------------------------------------------------------------------------------------

HttpResponse FakeApiServer::Serve(const HttpRequest& request) {
  std::vector<std::shared_ptr<Gate>> gates;
  std::optional<Fault> fault;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
    for (const auto& [when, gate] : gates_) {
      if (Means(when, request)) gates.push_back(gate);
    }
    const auto found = std::find_if(faults_.begin(), faults_.end(),
                                    [&](const Fault& each) { return Means(each.when, request); });
    if (found != faults_.end()) {
      fault = *found;
      if (--found->times == 0) faults_.erase(found);
    }
  }
  for (const auto& gate : gates) gate->Hold();
  if (fault && !fault->carried_out) return *fault->answer;
  HttpResponse answer;
  try {
    answer = Carry(request);
  } catch (const std::exception& error) {  // nlohmann's, over what it did not expect
    answer = Answered(StatusOf(500, "InternalError", error.what()));
  }
  if (!fault) return answer;
  return fault->answer ? *fault->answer : NoAnswer();
}

HttpResponse FakeApiServer::Carry(const HttpRequest& request) {
  const std::lock_guard lock(mutex_);
  const std::optional<Route> route = RouteOf(request);
  const auto refused = route ? users_.Refused(request, &route->target, route->verb)
                             : users_.Refused(request, nullptr, "get");
  if (refused) return Answered(*refused);
  if (request.body.size() > kMaxBody) {
    return Answered(StatusOf(413, "RequestEntityTooLarge",
                             "Request entity too large: limit is 3145728", Json::object()));
  }
  if (route) return AnswerRoute(request, *route);
  return AnswerElse(request.path);
}

// What is about no resource.
HttpResponse FakeApiServer::AnswerElse(const std::string& path) const {
  if (path == "/version") return Answered(200, VersionInfo());
  for (const char* probe : {"/healthz", "/livez", "/readyz"}) {
    if (path == probe) return {.body = "ok", .content_type = "text/plain"};
  }
  const Json found = resources_.Discovery(path);
  if (!found.is_null()) return Answered(200, found);
  const std::vector<std::string_view> parts = Split(path, '/');
  const size_t depth = path.starts_with("/api/") ? 3 : 4;
  if (parts.size() > depth) {
    const std::string above = path.substr(0, parts[depth].data() - path.data() - 1);
    if (!resources_.Discovery(above).is_null()) return Answered(UnknownResource());
  }
  return {
      .status = 404, .body = "404 page not found\n", .content_type = "text/plain; charset=utf-8"};
}

// "/api/v1/pods", "/apis/G/V/namespaces/NS/PLURAL/NAME/SUBRESOURCE".
std::optional<FakeApiServer::Route> FakeApiServer::RouteOf(const HttpRequest& request) const {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(std::string_view(request.path).substr(1), '/')) {
    parts.emplace_back(part);
  }
  const bool core = parts[0] == "api";
  const size_t prefix = core ? 2 : 3;
  if ((!core && parts[0] != "apis") || parts.size() <= prefix) return std::nullopt;
  Target target;
  target.query = request.query;
  target.user_agent = Header(request, "user-agent");
  size_t at = prefix;
  // "namespaces/NS/..." holds the resources of a namespace; "namespaces/NS" and its subresources
  // are the namespace itself.
  const bool inside = parts[at] == "namespaces" && parts.size() > at + 2 &&
                      !(core && parts.size() == at + 3 && parts[at + 2] == "status");
  if (inside) {
    target.ns = parts[at + 1];
    at += 2;
  }
  target.how = resources_.Find(core ? "" : parts[1], parts[prefix - 1], parts[at]);
  if (target.how == nullptr || parts.size() > at + 3) return std::nullopt;
  if (inside && !target.resource().namespaced) return std::nullopt;
  if (parts.size() > at + 1) target.name = parts[at + 1];
  if (parts.size() > at + 2) target.subresource = parts[at + 2];
  if (!target.name.empty() && target.resource().namespaced && !inside) return std::nullopt;
  const FakeResource& how = *target.how;
  const std::string& sub = target.subresource;
  if (!sub.empty() && !(sub == "status" && how.status) && !(sub == "eviction" && how.graceful)) {
    return std::nullopt;
  }
  const auto watch = request.query.find("watch");
  const bool watching =
      watch != request.query.end() && (watch->second == "true" || watch->second == "1");
  std::string verb = request.method == "POST"     ? "create"
                     : request.method == "PUT"    ? "update"
                     : request.method == "PATCH"  ? "patch"
                     : request.method == "DELETE" ? "delete"
                     : watching                   ? "watch"
                     : target.name.empty()        ? "list"
                                                  : "get";
  return Route{std::move(target), std::move(verb)};
}

HttpResponse FakeApiServer::AnswerRoute(const HttpRequest& request, const Route& route) {
  const Target& target = route.target;
  if (route.verb == "list" || route.verb == "watch") return List(request, target);
  if (route.verb == "get") return Answered(writes_.Get(target));
  const bool eviction = target.subresource == "eviction";
  const bool create = route.verb == "create";
  if (create != (target.name.empty() || eviction)) return Answered(MethodNotAllowed());
  if (create && target.resource().namespaced && target.ns.empty()) {
    return Answered(MethodNotAllowed());
  }
  if (route.verb == "patch") {
    return Answered(writes_.Patch(target, Header(request, "content-type"), request.body));
  }
  Json body = Json::object();
  if (!request.body.empty()) {
    if (!Header(request, "content-type").starts_with("application/json")) {
      return Answered(UnsupportedMediaType());
    }
    auto decoded = json::Decode(request.body);
    if (!decoded) {
      return Answered(
          BadRequest("couldn't get version/kind; json parse error: " + decoded.error().message));
    }
    body = *std::move(decoded);
  }
  if (eviction) return Answered(writes_.Evict(target, body));
  if (create) return Answered(writes_.Create(target, std::move(body)));
  if (route.verb == "update") return Answered(writes_.Update(target, body));
  return Answered(writes_.Delete(target, body));
}

HttpResponse FakeApiServer::List(const HttpRequest& request, const Target& target) {
  std::vector<std::string> fields = target.how->fields;
  fields.emplace_back("metadata.name");
  if (target.resource().namespaced) fields.emplace_back("metadata.namespace");
  const auto selectors = Selectors::Parse(target.Parameter("labelSelector"),
                                          target.Parameter("fieldSelector"), fields);
  if (!selectors) return Answered(selectors.error());
  const Scope scope{target.resource(), target.ns, *selectors};
  const std::string watch = target.Parameter("watch");
  if (watch == "true" || watch == "1") return Watch(request, scope);
  auto list = store_.List(scope, *target.how, request.query);
  if (!list) return Answered(list.error());
  return Answered(200,
                  WantsMetadata(request) ? FakeStore::MetadataOfList(*std::move(list)) : *list);
}

}  // namespace mindgate::kube::testing
