#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "json/decode.h"
#include "kube/client.h"
#include "watcher/frame/leadership.h"

namespace mindgate::watcher {

// The client that changes the cluster, as controllers hold it: they hand it on to a LeaderClient,
// which sends nothing destructive, or to the DisruptionGate, and can send nothing themselves. The
// client must have LeaderClient::kOptions and outlive all copies.
class Writer {
 public:
  Writer(kube::Client& client) : client_(&client) {}  // NOLINT(google-explicit-constructor)

 private:
  friend class LeaderClient;
  friend class DestructiveClient;

  kube::Client* client_;
};

// Calls that change the cluster, made under a term: none is sent once the term is over, and one
// that is under way ends with it. Both are kube::Reason::kStopped. What cannot be undone, or takes
// something away from somebody, is not here: the DisruptionGate sends it (DestructiveClient). A
// patch of a Node is refused with kForbidden.
//
// `client` must not retry: what it repeats nobody has decided. Its timeout must be below what
// another replica waits after this one stopped leading (kube::Elector), so that nothing is written
// after another one leads.
class LeaderClient {
 public:
  static constexpr kube::ClientOptions kOptions{.retries = 0, .timeout = std::chrono::seconds(10)};

  LeaderClient(Writer writer, Term term) : client_(*writer.client_), term_(std::move(term)) {}

  const Term& term() const { return term_; }

  kube::Answer<kube::Json> Create(const kube::Resource& resource, std::string_view ns,
                                  const kube::Json& object, const kube::WriteOptions& options);
  kube::Answer<kube::Json> Update(const kube::Resource& resource, std::string_view ns,
                                  std::string_view name, const kube::Json& object,
                                  const kube::WriteOptions& options);
  kube::Answer<kube::Json> Apply(const kube::Resource& resource, std::string_view ns,
                                 std::string_view name, const kube::Json& object, bool force,
                                 const kube::WriteOptions& options);
  kube::Answer<kube::Json> Patch(const kube::Resource& resource, std::string_view ns,
                                 std::string_view name, const kube::Json& operations);
  kube::Answer<kube::Json> MergePatch(const kube::Resource& resource, std::string_view ns,
                                      std::string_view name, const kube::Json& patch);
  // Deletes a report of ours (PolicyReports and OpenReports): nothing runs by it. Objects of other
  // groups are refused with kForbidden.
  kube::Answer<void> DeleteReport(const kube::Resource& resource, std::string_view ns,
                                  std::string_view name, const std::string& uid);
  // Whether PodDisruptionBudgets let the pod go; kTooManyRequests when they do not. Changes
  // nothing.
  kube::Answer<void> MayEvict(std::string_view ns, std::string_view pod,
                              kube::DeleteOptions options);
  // Of an object that tenants write only what `fields` name, as it is now (kube::Client::Get).
  kube::Answer<json::Document> Read(const kube::Resource& resource, std::string_view ns,
                                    std::string_view name, const json::Projection& fields);
  // All of an object of our own.
  kube::Answer<kube::Json> Get(const kube::Resource& resource, std::string_view ns,
                               std::string_view name);
  // The metadata of all objects of a namespace, one by one, as they are now.
  kube::Answer<void> ListMetadata(const kube::Resource& resource, std::string_view ns,
                                  const kube::Listing& listing);
  // The resourceVersion of the object now; empty: there is none. The server sends nothing else of
  // it, and asks for the permission to list, which who follows the objects has.
  kube::Answer<std::string> VersionNow(const kube::Resource& resource, std::string_view ns,
                                       std::string_view name);

 private:
  kube::Client& client_;
  const Term term_;
};

}  // namespace mindgate::watcher
