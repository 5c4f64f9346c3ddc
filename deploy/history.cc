#include "deploy/history.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "deploy/cluster.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using kube::Reason;

const kube::Resource& ConfigMaps() { return kube::resources::kConfigMaps; }

// On the ConfigMaps. Not kInstance: they are no part of the application, which pruning and deleting
// are about.
constexpr const char* kRevisionOf = "mindgate.io/revision-of";  // a label: the application
constexpr const char* kNumber = "mindgate.io/revision";
constexpr const char* kTime = "mindgate.io/deployed-at";
constexpr const char* kBy = "mindgate.io/deployed-by";
constexpr const char* kWrittenFor = "mindgate.io/deployed-framework";
constexpr const char* kOutcome = "mindgate.io/outcome";
constexpr const char* kNote = "mindgate.io/note";
constexpr const char* kFile = "application.yaml";

// Runs that are not kept away from each other may choose the same number.
constexpr int kTries = 5;

// Application names have no dots, so that this is of one application.
std::string NameOfRevision(const std::string& app, int64_t number) {
  return std::string(kFieldManager) + "." + app + "." + std::to_string(number);
}

std::optional<int64_t> NumberIn(const std::string& text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

Json ObjectOf(const std::string& ns, const std::string& app, const Revision& revision,
              const std::string& file) {
  Json annotations = {{kNumber, std::to_string(revision.number)},
                      {kTime, revision.time},
                      {kBy, revision.by},
                      {kWrittenFor, revision.framework},
                      {kOutcome, revision.outcome}};
  if (!revision.note.empty()) annotations[kNote] = revision.note;
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", NameOfRevision(app, revision.number)},
            {"namespace", ns},
            {"labels", {{kManagedBy, kFieldManager}, {kRevisionOf, app}}},
            {"annotations", std::move(annotations)}}},
          {"immutable", true},
          {"data", {{kFile, file}}}};
}

}  // namespace

kube::Answer<std::vector<Revision>> Revisions(kube::Client& client, const std::string& ns,
                                              const std::string& app, const std::stop_token& stop) {
  const auto objects = client.ListObjects(
      ConfigMaps(), ns,
      {.label_selector = std::string(kRevisionOf) + "=" + app, .metadata_only = true}, nullptr,
      stop);
  if (!objects) return tl::unexpected(objects.error());
  std::vector<Revision> revisions;
  for (const Json& object : *objects) {
    const auto number = NumberIn(Annotation(object, kNumber));
    // One that somebody copied has another name.
    if (!number || NameOf(object) != NameOfRevision(app, *number)) continue;
    revisions.push_back({.number = *number,
                         .time = Annotation(object, kTime),
                         .by = Annotation(object, kBy),
                         .framework = Annotation(object, kWrittenFor),
                         .outcome = Annotation(object, kOutcome),
                         .note = Annotation(object, kNote)});
  }
  std::sort(revisions.begin(), revisions.end(),
            [](const Revision& a, const Revision& b) { return a.number < b.number; });
  return revisions;
}

kube::Answer<std::string> FileOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, int64_t number,
                                 const std::stop_token& stop) {
  const auto object = client.Get(ConfigMaps(), ns, NameOfRevision(app, number), stop);
  if (!object) return tl::unexpected(object.error());
  const auto file = json::AsString(json::FindPath(*object, {"data", kFile}));
  if (file && Label(*object, kRevisionOf) == app) return std::string(*file);
  return kube::Failed(Reason::kNotFound, "ConfigMap " + NameOfRevision(app, number) +
                                             " holds no revision of application " + app);
}

kube::Answer<std::optional<int64_t>> RevisionBefore(kube::Client& client, const std::string& ns,
                                                    const std::string& app,
                                                    const std::vector<Revision>& revisions,
                                                    const std::stop_token& stop) {
  if (revisions.empty()) return std::optional<int64_t>();
  const auto newest = FileOf(client, ns, app, revisions.back().number, stop);
  if (!newest) return tl::unexpected(newest.error());
  for (auto each = revisions.rbegin() + 1; each != revisions.rend(); ++each) {
    if (each->outcome != kDeployed) continue;
    const auto file = FileOf(client, ns, app, each->number, stop);
    if (!file) return tl::unexpected(file.error());
    if (*file != *newest) return std::optional(each->number);
  }
  return std::optional<int64_t>();
}

kube::Answer<int64_t> KeepRevision(kube::Client& client, const std::string& ns,
                                   const std::string& app, const Revision& revision,
                                   const std::string& file, const std::stop_token& stop) {
  if (file.size() > kMaxRevisionBytes) {
    return kube::Failed(Reason::kTooLarge, "the file has " + std::to_string(file.size()) +
                                               " bytes, and a revision at most " +
                                               std::to_string(kMaxRevisionBytes));
  }
  auto revisions = Revisions(client, ns, app, stop);
  if (!revisions) return tl::unexpected(revisions.error());
  Revision kept = revision;
  if (!revisions->empty()) {
    const Revision& newest = revisions->back();
    const auto before = FileOf(client, ns, app, newest.number, stop);
    if (before && *before == file && newest.outcome == revision.outcome) return newest.number;
    kept.number = newest.number;
  }
  for (int left = kTries;; --left) {
    ++kept.number;
    const auto created = client.Create(ConfigMaps(), ns, ObjectOf(ns, app, kept, file),
                                       {.field_manager = kFieldManager}, stop);
    if (created) break;
    if (created.error().reason != Reason::kAlreadyExists || left <= 1) {
      return tl::unexpected(created.error());
    }
  }
  const size_t all = revisions->size() + 1;
  for (size_t i = 0; i + kMaxRevisions < all; ++i) {
    const auto deleted =
        client.Delete(ConfigMaps(), ns, NameOfRevision(app, (*revisions)[i].number), {}, stop);
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return tl::unexpected(deleted.error());
    }
  }
  return kept.number;
}

kube::Answer<void> ForgetRevisions(kube::Client& client, const std::string& ns,
                                   const std::string& app, const std::stop_token& stop) {
  const auto revisions = Revisions(client, ns, app, stop);
  if (!revisions) return tl::unexpected(revisions.error());
  for (const Revision& each : *revisions) {
    const auto deleted =
        client.Delete(ConfigMaps(), ns, NameOfRevision(app, each.number), {}, stop);
    if (!deleted && deleted.error().reason != Reason::kNotFound) {
      return tl::unexpected(deleted.error());
    }
  }
  return {};
}

}  // namespace mindgate::deploy
