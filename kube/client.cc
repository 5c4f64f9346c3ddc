#include "kube/client.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "json/decode.h"
#include "json/value.h"
#include "kube/answers.h"

namespace mindgate::kube {
namespace {

constexpr const char* kJsonType = "application/json";
constexpr const char* kApplyType = "application/apply-patch+yaml";  // JSON is YAML
constexpr const char* kPatchType = "application/json-patch+json";
constexpr const char* kMergeType = "application/merge-patch+json";
constexpr const char* kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

// What the server itself wrote may hold more values than a document of a user.
json::Limits LimitsOf(std::string_view text) {
  return {.bytes = text.size(), .depth = 128, .elements = text.size(), .bytes_a_value = 0};
}

// Of one object among others.
json::Limits ObjectLimits(size_t bytes) {
  return {.bytes = bytes, .depth = 128, .elements = 2'000'000, .bytes_a_value = 0};
}

void AddQuery(std::string& path, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  path += path.find('?') == std::string::npos ? '?' : '&';
  path += std::string(key) + "=" + PercentEncoded(value);
}

void AddWrite(std::string& path, const WriteOptions& options) {
  AddQuery(path, "fieldManager", options.field_manager);
  if (options.dry_run) AddQuery(path, "dryRun", "All");
}

std::string Describe(const HttpCall& call) {
  return call.method + " " + call.path.substr(0, call.path.find('?'));
}

Fault NotJson(const HttpCall& call, std::string_view text, const json::Issue& issue) {
  return {.reason = Reason::kGarbage,
          .message = Describe(call) + ": the answer is not JSON (" + issue.message +
                     "): " + Quote(text.substr(0, 200))};
}

json::Projection WithKindAndIdentity(const json::Projection& fields) {
  std::vector<json::Projection::Path> who = {{"kind"}};
  for (const char* name : {"namespace", "name", "uid", "resourceVersion"}) {
    who.push_back({"metadata", name});
  }
  return fields.Below({}, who);
}

Answer<Json> Decoded(const HttpCall& call, const HttpAnswer& answer) {
  auto object = json::Decode(answer.body, LimitsOf(answer.body));
  if (object) return *std::move(object);
  return tl::unexpected(NotJson(call, answer.body, object.error()));
}

HttpCall Write(std::string method, std::string path, const char* type, const Json& body) {
  return {.method = std::move(method),
          .path = std::move(path),
          .body = body.dump(-1, ' ', false, Json::error_handler_t::replace),
          .content_type = type};
}

Json DeleteBody(const DeleteOptions& options) {
  Json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (options.dry_run) body["dryRun"] = {"All"};
  if (!options.preconditions.uid.empty()) {
    body["preconditions"]["uid"] = options.preconditions.uid;
  }
  if (!options.preconditions.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.preconditions.resource_version;
  }
  return body;
}

// Of one object. Empty without a name: a DELETE of a collection deletes all that is in it.
std::string ObjectPath(const Resource& resource, std::string_view ns, std::string_view name,
                       std::string_view subresource = {}) {
  return name.empty() ? std::string() : PathOf(resource, ns, name, subresource);
}

std::optional<Fault> UnlessPath(const HttpCall& call) {
  if (call.path.starts_with('/')) return std::nullopt;
  return Fault{.reason = Reason::kInvalid,
               .message = call.method +
                          " was not sent: its version does not have the form v1, v1beta1 or "
                          "v1alpha1, or its group, resource, namespace or name is empty, \".\" or "
                          "\"..\""};
}

std::string ListPath(const Resource& resource, std::string_view ns, const ListOptions& options) {
  std::string path = PathOf(resource, ns);
  AddQuery(path, "labelSelector", options.label_selector);
  AddQuery(path, "fieldSelector", options.field_selector);
  if (options.limit > 0) AddQuery(path, "limit", std::to_string(options.limit));
  AddQuery(path, "continue", options.continue_token);
  AddQuery(path, "resourceVersion", options.resource_version);
  if (options.match == ListOptions::Match::kExact) AddQuery(path, "resourceVersionMatch", "Exact");
  if (options.match == ListOptions::Match::kNotOlderThan) {
    AddQuery(path, "resourceVersionMatch", "NotOlderThan");
  }
  return path;
}

}  // namespace

Client::Client(Transport& transport, Sleeper& sleeper, const ClientOptions& options)
    : transport_(transport), sleeper_(sleeper), options_(options) {}

void Client::Warn(const HttpAnswer& answer) const {
  if (!warn_) return;
  for (const std::string& warning : answer.warnings) warn_(warning);
}

Answer<HttpAnswer> Client::Call(const HttpCall& call, int retries, const std::stop_token& stop) {
  if (auto fault = UnlessPath(call)) return tl::unexpected(*std::move(fault));
  for (;; --retries) {
    auto answer = transport_.Send(call, stop);
    if (!answer) return answer;
    Warn(*answer);
    if (answer->status < 400) {
      if (answer->status >= 200 && answer->status < 300) return answer;
      return Failed(Reason::kGarbage,
                    Describe(call) + ": status " + std::to_string(answer->status) +
                        ", which an API server never sends; check `server` in the kubeconfig");
    }
    const bool asked_to_wait =
        answer->retry_after && (answer->status == 429 || answer->status >= 500);
    if (asked_to_wait && retries > 0) {
      if (!sleeper_.Sleep(*answer->retry_after, stop)) {
        return Failed(Reason::kStopped, Describe(call) + ": stopped");
      }
      continue;
    }
    return tl::unexpected(
        FaultOf(Describe(call), answer->status, answer->body, answer->retry_after));
  }
}

Answer<Json> Client::CallForObject(HttpCall call, const std::stop_token& stop) {
  call.timeout = options_.timeout;
  const auto answer = Call(call, options_.retries, stop);
  if (!answer) return tl::unexpected(answer.error());
  return Decoded(call, *answer);
}

Answer<Json> Client::Get(const Resource& resource, std::string_view ns, std::string_view name,
                         const std::stop_token& stop) {
  return GetPath(ObjectPath(resource, ns, name), stop);
}

Answer<json::Document> Client::Get(const Resource& resource, std::string_view ns,
                                   std::string_view name, const json::Projection& fields,
                                   const std::stop_token& stop) {
  HttpCall call{.path = ObjectPath(resource, ns, name), .timeout = options_.timeout};
  call.answer_bytes = options_.object_bytes;
  const auto answer = Call(call, options_.retries, stop);
  if (!answer) return tl::unexpected(answer.error());
  json::Decoder decoder(ObjectLimits(answer->body.size()));
  const auto object = decoder.Decode(answer->body, WithKindAndIdentity(fields));
  if (!object) return tl::unexpected(NotJson(call, answer->body, object.error()));
  const auto kind = json::FindString(**object, "kind").value_or("");
  const auto found = json::TextAt(**object, {"metadata", "name"});
  if (kind != resource.kind || found != name) {
    return Failed(Reason::kGarbage, Describe(call) + ": the answer is " +
                                        (kind.empty() ? "an object without a kind" : Quote(kind)) +
                                        " " + Quote(found) + ", not the " + resource.kind);
  }
  json::Arena rows(4 * 1024);
  const Understood understood = Understand(**object, rows);
  if (!understood.object) {
    return Failed(Reason::kGarbage, Describe(call) + ": " + understood.problem);
  }
  auto kept = json::Document::CopyOf(*understood.object);
  if (const size_t bytes = kept.arena().used(); bytes > options_.kept_bytes) {
    return Failed(Reason::kTooLarge, Describe(call) + ": what is read of it takes " +
                                         std::to_string(bytes) + " bytes, more than " +
                                         std::to_string(options_.kept_bytes));
  }
  return kept;
}

Answer<Json> Client::GetPath(const std::string& path, const std::stop_token& stop) {
  return CallForObject({.path = path}, stop);
}

Answer<Page> Client::List(const Resource& resource, std::string_view ns, const ListOptions& options,
                          const json::Projection* fields, const std::stop_token& stop) {
  Page page;
  const auto listed = ListEach(
      resource, ns, options, options_.object_bytes, fields,
      [&](const Value& item) { page.items.push_back(TreeOf(item)); }, stop);
  if (!listed) return tl::unexpected(listed.error());
  page.resource_version = listed->resource_version;
  page.continue_token = listed->continue_token;
  return page;
}

Answer<Client::Listed> Client::ListEach(const Resource& resource, std::string_view ns,
                                        const ListOptions& options, size_t max_bytes,
                                        const json::Projection* fields,
                                        const std::function<void(const Value&)>& consume,
                                        const std::stop_token& stop) {
  HttpCall call{.path = ListPath(resource, ns, options), .timeout = options_.timeout};
  if (options.metadata_only) call.accept = kMetadataList;
  call.answer_bytes = max_bytes;
  const auto answer = Call(call, options_.retries, stop);
  if (!answer) return tl::unexpected(answer.error());
  auto text = ListText::Of(answer->body);
  if (!text) {
    return Failed(Reason::kGarbage, Describe(call) + ": the answer is not a list (" + text.error() +
                                        "): " + Quote(answer->body.substr(0, 200)));
  }
  Listed listed{.resource_version = {}, .continue_token = {}, .bytes = answer->body.size()};
  if (!text->metadata().empty()) {
    json::Decoder decoder(LimitsOf(text->metadata()));
    const auto metadata = decoder.Decode(text->metadata());
    if (!metadata) return tl::unexpected(NotJson(call, text->metadata(), metadata.error()));
    listed.resource_version = json::TextAt(**metadata, {"resourceVersion"});
    listed.continue_token = json::TextAt(**metadata, {"continue"});
  }
  json::Decoder decoder(ObjectLimits(answer->body.size()));
  while (const auto part = text->Next()) {
    const auto item = fields == nullptr ? decoder.Decode(*part) : decoder.Decode(*part, *fields);
    if (!item) return tl::unexpected(NotJson(call, *part, item.error()));
    consume(**item);
  }
  return listed;
}

Answer<std::string> Client::ListAll(const Resource& resource, std::string_view ns,
                                    ListOptions options, const json::Projection* fields,
                                    const Listing& listing, const std::stop_token& stop) {
  const ListOptions first = options;
  PageSize size(options.limit > 0 ? options.limit : PageSize::kFirst);
  bool started_over = false;
  if (listing.started) listing.started();
  for (;;) {
    options.limit = size.objects();
    const size_t max_bytes = size.objects() == 1 ? options_.object_bytes : options_.page_bytes;
    auto page = ListEach(resource, ns, options, max_bytes, fields, listing.item, stop);
    if (!page && page.error().reason == Reason::kTooLarge) {
      if (size.Halve()) continue;
      page = PassOver(resource, ns, options, fields, listing, std::move(page.error()), stop);
    }
    if (!page) {
      const bool expired = page.error().reason == Reason::kExpired;
      if (!expired || options.continue_token.empty() || started_over) {
        return tl::unexpected(page.error());
      }
      started_over = true;
      options = first;
      if (listing.started) listing.started();
      continue;
    }
    if (page->continue_token.empty()) return page->resource_version;
    size.Came(page->bytes, options_.page_bytes);
    options.continue_token = page->continue_token;
    // The token names the state; the server refuses both together.
    options.resource_version.clear();
    options.match = ListOptions::Match::kUnset;
  }
}

Answer<Client::Listed> Client::PassOver(const Resource& resource, std::string_view ns,
                                        ListOptions options, const json::Projection* fields,
                                        const Listing& listing, Fault fault,
                                        const std::stop_token& stop) {
  options.metadata_only = true;
  std::optional<json::Document> object;
  size_t objects = 0;
  auto page = ListEach(
      resource, ns, options, options_.object_bytes, fields,
      [&](const Value& item) {
        if (++objects == 1) object = json::Document::CopyOf(item);
      },
      stop);
  const bool refused = !page && (page.error().reason == Reason::kTooLarge ||
                                 page.error().reason == Reason::kInvalid);
  if (!page && !refused) return page;
  // A server that keeps to no limit sends all at once, whatever is asked.
  if (refused || objects > 1) return tl::unexpected(std::move(fault));
  if (!object) return page;  // deleted in the meantime
  const auto text = [&](std::string_view key) {
    return json::TextAt(object->root(), {"metadata", key});
  };
  const std::string owner = text("namespace");
  fault.message = "GET " + PathOf(resource, ns) + ": " + resource.kind + " " + owner +
                  (owner.empty() ? "" : "/") + text("name") + " is larger than " +
                  std::to_string(options_.object_bytes) + " bytes";
  if (!listing.left_out) return tl::unexpected(std::move(fault));
  listing.left_out(object->root(), fault);
  return page;
}

Answer<std::vector<Json>> Client::ListObjects(const Resource& resource, std::string_view ns,
                                              const ListOptions& options,
                                              const json::Projection* fields,
                                              const std::stop_token& stop) {
  std::vector<Json> objects;
  const Listing listing{.started = [&] { objects.clear(); },
                        .item = [&](const Value& item) { objects.push_back(TreeOf(item)); }};
  const auto listed = ListAll(resource, ns, options, fields, listing, stop);
  if (!listed) return tl::unexpected(listed.error());
  return objects;
}

Answer<void> Client::Watch(const Resource& resource, std::string_view ns,
                           const WatchOptions& options, const json::Projection* fields,
                           const std::function<void(const WatchEvent&)>& consume,
                           const std::stop_token& stop) {
  HttpCall call{.path = PathOf(resource, ns), .timeout = options_.timeout};
  if (auto fault = UnlessPath(call)) return tl::unexpected(*std::move(fault));
  if (options.metadata_only) call.accept = kMetadata;
  AddQuery(call.path, "watch", "true");
  AddQuery(call.path, "allowWatchBookmarks", "true");
  AddQuery(call.path, "labelSelector", options.label_selector);
  AddQuery(call.path, "fieldSelector", options.field_selector);
  AddQuery(call.path, "resourceVersion", options.resource_version);
  AddQuery(call.path, "timeoutSeconds", std::to_string(options.timeout.count()));

  std::optional<json::Projection> kept;
  if (fields != nullptr) {
    kept = fields->Below({"object"}, {{"type"},
                                      {"object", "kind"},
                                      {"object", "message"},
                                      {"object", "reason"},
                                      {"object", "code"},
                                      {"object", "metadata", "resourceVersion"}});
  }
  json::Decoder decoder(ObjectLimits(options_.object_bytes));
  LineSplitter lines(options_.object_bytes);
  std::optional<Fault> fault;
  const auto line = [&](std::string_view text) {
    const auto event = kept ? decoder.Decode(text, *kept) : decoder.Decode(text);
    fault = event ? HandleEvent(call, **event, consume)
                  : Fault{.reason = Reason::kGarbage,
                          .message = Describe(call) + ": a line of the watch is not JSON (" +
                                     event.error().message + "): " + Quote(text.substr(0, 200))};
    decoder.Release();  // the next event may come in an hour
    return !fault;
  };
  const auto answer = transport_.Stream(
      call, [&](std::string_view piece) { return lines.Feed(piece, line); }, stop);
  if (fault) return tl::unexpected(*fault);
  if (lines.too_long()) {
    return Failed(Reason::kTooLarge, Describe(call) + ": an event of the watch is larger than " +
                                         std::to_string(options_.object_bytes) + " bytes");
  }
  if (!answer) return tl::unexpected(answer.error());
  Warn(*answer);
  if (answer->status != 200) {
    return tl::unexpected(
        FaultOf(Describe(call), answer->status, answer->body, answer->retry_after));
  }
  if (lines.in_a_line()) {
    return Failed(Reason::kUnreachable,
                  Describe(call) + ": the watch ended in the middle of a line");
  }
  return {};
}

std::optional<Fault> Client::HandleEvent(const HttpCall& call, const Value& event,
                                         const std::function<void(const WatchEvent&)>& consume) {
  const auto type = json::FindString(event, "type");
  const Value* object = json::Find(event, "object");
  if (!type || !json::IsObject(object)) {
    return Fault{.reason = Reason::kGarbage,
                 .message = Describe(call) + ": a line of the watch is not an event"};
  }
  if (*type == "ERROR") {
    const auto code = json::AsInt(json::Find(object, "code")).value_or(500);
    return FaultOf(Describe(call) + " (in the watch)", static_cast<int>(code), json::Dump(*object),
                   {});
  }
  const auto known = *type == "ADDED"      ? std::optional(WatchEvent::Type::kAdded)
                     : *type == "MODIFIED" ? std::optional(WatchEvent::Type::kModified)
                     : *type == "DELETED"  ? std::optional(WatchEvent::Type::kDeleted)
                     : *type == "BOOKMARK" ? std::optional(WatchEvent::Type::kBookmark)
                                           : std::nullopt;
  if (!known) {
    return Fault{.reason = Reason::kGarbage,
                 .message = Describe(call) + ": unknown event type " + Quote(*type)};
  }
  consume({*known, *object});
  return std::nullopt;
}

Answer<Json> Client::SendObject(const char* method, std::string path, const char* type,
                                const Json& body, const WriteOptions& options,
                                const std::stop_token& stop) {
  AddWrite(path, options);
  return CallForObject(Write(method, std::move(path), type, body), stop);
}

Answer<Json> Client::Create(const Resource& resource, std::string_view ns, const Json& object,
                            const WriteOptions& options, const std::stop_token& stop) {
  return SendObject("POST", PathOf(resource, ns), kJsonType, object, options, stop);
}

Answer<Json> Client::Update(const Resource& resource, std::string_view ns, std::string_view name,
                            const Json& object, const WriteOptions& options,
                            std::string_view subresource, const std::stop_token& stop) {
  return SendObject("PUT", ObjectPath(resource, ns, name, subresource), kJsonType, object, options,
                    stop);
}

Answer<Json> Client::Apply(const Resource& resource, std::string_view ns, std::string_view name,
                           const Json& object, bool force, const WriteOptions& options,
                           std::string_view subresource, const std::stop_token& stop) {
  std::string path = ObjectPath(resource, ns, name, subresource);
  AddQuery(path, "force", force ? "true" : "false");
  return SendObject("PATCH", std::move(path), kApplyType, object, options, stop);
}

Answer<Json> Client::Patch(const Resource& resource, std::string_view ns, std::string_view name,
                           const Json& operations, const WriteOptions& options,
                           std::string_view subresource, const std::stop_token& stop) {
  return SendObject("PATCH", ObjectPath(resource, ns, name, subresource), kPatchType, operations,
                    options, stop);
}

Answer<Json> Client::MergePatch(const Resource& resource, std::string_view ns,
                                std::string_view name, const Json& patch,
                                const WriteOptions& options, std::string_view subresource,
                                const std::stop_token& stop) {
  return SendObject("PATCH", ObjectPath(resource, ns, name, subresource), kMergeType, patch,
                    options, stop);
}

Answer<void> Client::Delete(const Resource& resource, std::string_view ns, std::string_view name,
                            const DeleteOptions& options, const std::stop_token& stop) {
  HttpCall call = Write("DELETE", ObjectPath(resource, ns, name), kJsonType, DeleteBody(options));
  call.timeout = options_.timeout;
  const auto answer = Call(call, options_.retries, stop);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Answer<void> Client::Evict(std::string_view ns, std::string_view pod, const DeleteOptions& options,
                           const std::stop_token& stop) {
  const Json body = {{"apiVersion", "policy/v1"},
                     {"kind", "Eviction"},
                     {"metadata", {{"name", pod}, {"namespace", ns}}},
                     {"deleteOptions", DeleteBody(options)}};
  HttpCall call = Write("POST", ObjectPath(resources::kPods, ns, pod, "eviction"), kJsonType, body);
  // Also in the query, where admission looks for it.
  if (options.dry_run) AddQuery(call.path, "dryRun", "All");
  call.timeout = options_.timeout;
  const auto answer = Call(call, 0, stop);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

}  // namespace mindgate::kube
