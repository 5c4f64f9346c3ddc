#include "watcher/frame/leader_client.h"

#include <optional>

#include "json/value.h"

namespace mindgate::watcher {
namespace {

using kube::Answer;
using kube::Json;

tl::unexpected<kube::Fault> IsOver() {
  return kube::Failed(kube::Reason::kStopped, "this replica no longer leads");
}

// What a Node loses or gets, all pods on it feel.
std::optional<tl::unexpected<kube::Fault>> GoesThroughTheGate(const kube::Resource& resource) {
  if (resource.plural != kube::resources::kNodes.plural || !resource.group.empty()) {
    return std::nullopt;
  }
  return kube::Failed(kube::Reason::kForbidden, "Nodes are changed through the gate only");
}

}  // namespace

Answer<Json> LeaderClient::Create(const kube::Resource& resource, std::string_view ns,
                                  const Json& object, const kube::WriteOptions& options) {
  if (!term_.holds()) return IsOver();
  return client_.Create(resource, ns, object, options, term_.ended());
}

Answer<Json> LeaderClient::Update(const kube::Resource& resource, std::string_view ns,
                                  std::string_view name, const Json& object,
                                  const kube::WriteOptions& options) {
  if (auto refused = GoesThroughTheGate(resource)) return *std::move(refused);
  if (!term_.holds()) return IsOver();
  return client_.Update(resource, ns, name, object, options, {}, term_.ended());
}

Answer<Json> LeaderClient::Apply(const kube::Resource& resource, std::string_view ns,
                                 std::string_view name, const Json& object, bool force,
                                 const kube::WriteOptions& options) {
  if (auto refused = GoesThroughTheGate(resource)) return *std::move(refused);
  if (!term_.holds()) return IsOver();
  return client_.Apply(resource, ns, name, object, force, options, {}, term_.ended());
}

Answer<Json> LeaderClient::Patch(const kube::Resource& resource, std::string_view ns,
                                 std::string_view name, const Json& operations) {
  if (auto refused = GoesThroughTheGate(resource)) return *std::move(refused);
  if (!term_.holds()) return IsOver();
  return client_.Patch(resource, ns, name, operations, {}, {}, term_.ended());
}

Answer<Json> LeaderClient::MergePatch(const kube::Resource& resource, std::string_view ns,
                                      std::string_view name, const Json& patch) {
  if (auto refused = GoesThroughTheGate(resource)) return *std::move(refused);
  if (!term_.holds()) return IsOver();
  return client_.MergePatch(resource, ns, name, patch, {}, {}, term_.ended());
}

Answer<void> LeaderClient::DeleteReport(const kube::Resource& resource, std::string_view ns,
                                        std::string_view name, const std::string& uid) {
  if (resource.group != "wgpolicyk8s.io" && resource.group != "openreports.io") {
    return kube::Failed(kube::Reason::kForbidden, resource.plural + " are no reports");
  }
  if (!term_.holds()) return IsOver();
  return client_.Delete(resource, ns, name,
                        {.preconditions = {.uid = uid, .resource_version = ""},
                         .grace_seconds = std::nullopt,
                         .propagation = "",
                         .dry_run = false},
                        term_.ended());
}

Answer<void> LeaderClient::MayEvict(std::string_view ns, std::string_view pod,
                                    kube::DeleteOptions options) {
  if (!term_.holds()) return IsOver();
  options.dry_run = true;
  return client_.Evict(ns, pod, options, term_.ended());
}

Answer<json::Document> LeaderClient::Read(const kube::Resource& resource, std::string_view ns,
                                          std::string_view name, const json::Projection& fields) {
  return client_.Get(resource, ns, name, fields, term_.ended());
}

Answer<Json> LeaderClient::Get(const kube::Resource& resource, std::string_view ns,
                               std::string_view name) {
  return client_.Get(resource, ns, name, term_.ended());
}

Answer<void> LeaderClient::ListMetadata(const kube::Resource& resource, std::string_view ns,
                                        const kube::Listing& listing) {
  const auto listed =
      client_.ListAll(resource, ns, {.metadata_only = true}, nullptr, listing, term_.ended());
  if (!listed) return tl::make_unexpected(listed.error());
  return {};
}

Answer<std::string> LeaderClient::VersionNow(const kube::Resource& resource, std::string_view ns,
                                             std::string_view name) {
  const auto found = client_.ListObjects(
      resource, ns, {.field_selector = "metadata.name=" + std::string(name), .metadata_only = true},
      nullptr, term_.ended());
  if (!found) return tl::make_unexpected(found.error());
  return found->empty() ? std::string()
                        : json::TextAt(found->front(), {"metadata", "resourceVersion"});
}

}  // namespace mindgate::watcher
