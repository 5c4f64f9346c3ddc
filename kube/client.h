#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "json/value.h"
#include "kube/fault.h"
#include "kube/resource.h"
#include "kube/transport.h"

namespace mindgate::kube {

using json::Json;
using json::Value;

struct ListOptions {
  std::string label_selector{};
  std::string field_selector{};
  // Objects a page. List: 0 is all in one answer; ListAll: of the first page, 0 is
  // PageSize::kFirst.
  int64_t limit = 0;
  std::string continue_token{};  // of the page before
  // Empty: the newest state. Else what `match` says about it; "0" with kNotOlderThan is any state
  // that the server's cache holds, the cheapest.
  std::string resource_version{};
  enum class Match { kUnset, kExact, kNotOlderThan } match = Match::kUnset;
  // Of each object its metadata and nothing else: the server leaves out the rest.
  bool metadata_only = false;
};

// Who reads all pages of a list, in the thread of the call.
struct Listing {
  std::function<void()> started{};  // an attempt begins, and what came before does not count
  std::function<void(const Value& item)> item;  // lives as long as the call
  // An object that is larger than ClientOptions::object_bytes: its metadata, and what to say. Null:
  // such an object ends the list with that fault.
  std::function<void(const Value& metadata_only, const Fault& fault)> left_out{};
};

struct Page {
  std::vector<Json> items;
  std::string resource_version;  // of the list: where a watch goes on
  std::string continue_token;    // empty: this was the last page
};

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager = "mindgate";
};

// What must still be true of the object; empty members are not asked.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

struct DeleteOptions {
  Preconditions preconditions;
  std::optional<int64_t> grace_seconds;
  std::string propagation;  // "Background", "Foreground", "Orphan"; empty: the server's default
  bool dry_run = false;
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark } type;
  const Value& object;  // lives as long as the call that gives the event
};

struct WatchOptions {
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;       // events after this one
  std::chrono::seconds timeout{300};  // the server ends the watch then, in good order
  bool metadata_only = false;         // as in ListOptions
};

struct ClientOptions {
  // How often a call is retried that was answered 429, or 5xx with Retry-After. client-go's is 10
  // (rest/request.go, maxRetries).
  int retries = 10;
  std::chrono::milliseconds timeout{30'000};  // of each try
  // The text of a page. 50 objects of 60 KB, and room; what has more comes in smaller pages.
  size_t page_bytes = 8 * 1024 * 1024;
  // A line of a watch, and a page of a single object: TransportLimits::answer_bytes says why.
  size_t object_bytes = 16 * 1024 * 1024;
  // What `Get` keeps of one object with `fields`. A whole object of etcd has 1.5 MiB.
  size_t kept_bytes = 2 * 1024 * 1024;
};

// Calls an API server, one at a time to a thread; safe from many. Every call ends with kStopped
// soon after `stop` is asked to.
//
// A list, however long, takes the text of one page and what one object decodes to, a watch the same
// for one event: 24 MiB with objects of the size that etcd takes. What `List` and the calls about
// one object return are trees, at 13 bytes and more for each of their text; `Get` with fields
// returns at most ClientOptions::kept_bytes.
//
// A resource, namespace or name that PathOf refuses is kInvalid, and so is an empty name in a call
// about one object. Nothing is sent then.
//
// Retries 429 and Retry-After. Transport failures are not retried: the call may have been applied.
class Client {
 public:
  // `transport` and `sleeper` must outlive it.
  Client(Transport& transport, Sleeper& sleeper, const ClientOptions& options = {});

  // Before the first call: who gets what the server warns of (Warning headers), from any thread
  // that makes calls, each time that it does.
  void OnWarning(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  Answer<Json> Get(const Resource& resource, std::string_view ns, std::string_view name,
                   const std::stop_token& stop = {});
  // Of the object only what `fields` name, as far as it is understood (kube/answers.h), and who
  // it is: its kind and WithIdentity. This is the read for objects that tenants write. kTooLarge
  // when that takes more than ClientOptions::kept_bytes, kGarbage when the answer is another object
  // or a list.
  Answer<json::Document> Get(const Resource& resource, std::string_view ns, std::string_view name,
                             const json::Projection& fields, const std::stop_token& stop = {});
  Answer<Json> GetPath(const std::string& path, const std::stop_token& stop = {});  // "/version"

  // One page as it is asked for. With `fields`, an item holds only what they name.
  Answer<Page> List(const Resource& resource, std::string_view ns, const ListOptions& options = {},
                    const json::Projection* fields = nullptr, const std::stop_token& stop = {});
  // All pages, of a size that follows the objects' (PageSize); starts over, once, when the continue
  // token expires. Returns the resourceVersion of the list.
  Answer<std::string> ListAll(const Resource& resource, std::string_view ns, ListOptions options,
                              const json::Projection* fields, const Listing& listing,
                              const std::stop_token& stop = {});
  // The same as trees, for collections of which there are few.
  Answer<std::vector<Json>> ListObjects(const Resource& resource, std::string_view ns,
                                        const ListOptions& options = {},
                                        const json::Projection* fields = nullptr,
                                        const std::stop_token& stop = {});

  // Gives each event to `consume` until the server or `stop` ends the watch. A 410 within the
  // stream is kExpired; half a line at the end is kUnreachable; a line that is not an event,
  // kGarbage.
  Answer<void> Watch(const Resource& resource, std::string_view ns, const WatchOptions& options,
                     const json::Projection* fields,
                     const std::function<void(const WatchEvent&)>& consume,
                     const std::stop_token& stop);

  Answer<Json> Create(const Resource& resource, std::string_view ns, const Json& object,
                      const WriteOptions& options = {}, const std::stop_token& stop = {});
  Answer<Json> Update(const Resource& resource, std::string_view ns, std::string_view name,
                      const Json& object, const WriteOptions& options = {},
                      std::string_view subresource = {}, const std::stop_token& stop = {});
  // Server-side apply. `force` takes fields over from other managers; without it, a field that
  // another one owns with another value is kConflict.
  Answer<Json> Apply(const Resource& resource, std::string_view ns, std::string_view name,
                     const Json& object, bool force, const WriteOptions& options = {},
                     std::string_view subresource = {}, const std::stop_token& stop = {});
  // RFC 6902. A `test` that fails is kInvalid.
  Answer<Json> Patch(const Resource& resource, std::string_view ns, std::string_view name,
                     const Json& operations, const WriteOptions& options = {},
                     std::string_view subresource = {}, const std::stop_token& stop = {});
  // RFC 7386; for custom resources as well.
  Answer<Json> MergePatch(const Resource& resource, std::string_view ns, std::string_view name,
                          const Json& patch, const WriteOptions& options = {},
                          std::string_view subresource = {}, const std::stop_token& stop = {});
  // Preconditions that do not hold are kConflict.
  Answer<void> Delete(const Resource& resource, std::string_view ns, std::string_view name,
                      const DeleteOptions& options = {}, const std::stop_token& stop = {});
  // policy/v1 Eviction; a budget that does not allow it is kTooManyRequests, not retried here.
  Answer<void> Evict(std::string_view ns, std::string_view pod, const DeleteOptions& options = {},
                     const std::stop_token& stop = {});

 private:
  void Warn(const HttpAnswer& answer) const;
  Answer<HttpAnswer> Call(const HttpCall& call, int retries, const std::stop_token& stop);
  Answer<Json> CallForObject(HttpCall call, const std::stop_token& stop);
  Answer<Json> SendObject(const char* method, std::string path, const char* type, const Json& body,
                          const WriteOptions& options, const std::stop_token& stop);
  // One page, each item given to `consume`.
  struct Listed {
    std::string resource_version;
    std::string continue_token;
    size_t bytes = 0;  // of its text
  };
  Answer<Listed> ListEach(const Resource& resource, std::string_view ns, const ListOptions& options,
                          size_t max_bytes, const json::Projection* fields,
                          const std::function<void(const Value&)>& consume,
                          const std::stop_token& stop);
  // The page of an object that is too large, without it.
  Answer<Listed> PassOver(const Resource& resource, std::string_view ns, ListOptions options,
                          const json::Projection* fields, const Listing& listing, Fault fault,
                          const std::stop_token& stop);
  static std::optional<Fault> HandleEvent(const HttpCall& call, const Value& event,
                                          const std::function<void(const WatchEvent&)>& consume);

  Transport& transport_;
  Sleeper& sleeper_;
  const ClientOptions options_;
  std::function<void(const std::string&)> warn_;
};

}  // namespace mindgate::kube
