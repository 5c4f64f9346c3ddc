#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/admit.h"
#include "admission/mutators/mutator.h"
#include "schemas/kinds.h"
#include "support/objects.h"
#include "support/workloads.h"

// How mutator tests read: a manifest, and every line of the patch it must get.
//
//   {"/spec/template/metadata/labels/fault-scheduling = \"force\"  (fault-scheduling)", ...}
namespace mindgate::testing {

struct MutationCase {
  std::string name;
  std::string object;             // YAML
  std::vector<std::string> want;  // "path = value  (mutator)" by path; empty: no patch at all
  std::string old_object = {};    // YAML; makes the request an UPDATE
  std::vector<std::string> others = {};  // objects that references resolve to
  std::string namespace_label = {};      // value of mindgate.io/inject on the namespace
  schemas::Config config = {};
  // "path: reason" of what was considered and left alone; not compared when absent.
  std::optional<std::vector<std::string>> withheld = {};
};

// The object once the verdict's patch is applied.
inline const json::Value& AdmittedObject(const admission::Verdict& verdict,
                                         const json::Value& object) {
  return verdict.mutated ? verdict.mutated->root() : object;
}

// The same as a tree.
inline json::Json After(const admission::Verdict& verdict, const json::Value& object) {
  return json::TreeOf(AdmittedObject(verdict, object));
}

// Of one mutator only, when it is named.
inline std::vector<std::string> Lines(const admission::Verdict& verdict, const json::Value& object,
                                      std::string_view only = {}) {
  std::vector<std::string> lines;
  const json::Json mutated = After(verdict, object);
  for (const mutators::Change& change : verdict.changes) {
    if (!only.empty() && change.mutator != only) continue;
    std::string path(change.path);
    if (path.ends_with("/-")) {
      const json::Json& list =
          mutated.at(json::Json::json_pointer(path.substr(0, path.size() - 2)));
      path = path.substr(0, path.size() - 1) + std::to_string(list.size() - 1);
    }
    lines.push_back(std::string(change.path) + " = " +
                    mutated.at(json::Json::json_pointer(path)).dump() + "  (" +
                    std::string(change.mutator) + ")");
  }
  return lines;
}

inline admission::Verdict MutateOnly(const schemas::AdmissionRequest& request,
                                     const schemas::Config& config) {
  admission::Options options;
  options.evaluate = false;
  options.explain = true;
  return admission::Admit(request, config, options);
}

// What holds for every mutation: nlohmann's own patch gives the same object, the output yields an
// empty patch on CREATE and as an unchanged UPDATE, and a client that puts its original manifest
// back gets the same output again.
inline void ExpectStable(const admission::Verdict& verdict, schemas::AdmissionRequest request,
                         const schemas::Config& config) {
  const json::Value& original = *request.object;
  const json::Value& mutated = verdict.mutated->root();
  EXPECT_EQ(json::TreeOf(original).patch(json::ToJsonPatch(verdict.patch)), json::TreeOf(mutated));

  request.object = &mutated;
  EXPECT_EQ(json::ToJsonPatch(MutateOnly(request, config).patch).dump(), "[]")
      << "the second run must change nothing";
  const bool create = request.operation == schemas::Operation::kCreate;
  request.operation = schemas::Operation::kUpdate;
  request.old_object = &mutated;
  EXPECT_EQ(json::ToJsonPatch(MutateOnly(request, config).patch).dump(), "[]")
      << "an update of nothing must change nothing";

  // A gate that is away was opened.
  const bool gated =
      std::any_of(verdict.changes.begin(), verdict.changes.end(),
                  [](const mutators::Change& change) { return change.mutator == "scaling-gate"; });
  if (!create || gated) return;
  request.object = &original;
  const auto again = MutateOnly(request, config);
  EXPECT_EQ(After(again, original), json::TreeOf(mutated))
      << "re-applying the original manifest must give the same object";
}

inline void ExpectMutations(const std::vector<MutationCase>& cases, std::string_view only = {}) {
  for (const MutationCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Document object = YamlDocument(c.object);
    const json::Document old_object =
        c.old_object.empty() ? json::Document() : YamlDocument(c.old_object);
    const FakeObjects others(c.others);
    schemas::AdmissionRequest request;
    request.object = &object.root();
    request.objects = &others;
    if (!c.old_object.empty()) {
      request.operation = schemas::Operation::kUpdate;
      request.old_object = &old_object.root();
    }
    if (!c.namespace_label.empty()) {
      request.namespace_labels["mindgate.io/inject"] = c.namespace_label;
    }
    const auto verdict = MutateOnly(request, c.config);
    EXPECT_EQ(Lines(verdict, object.root(), only), c.want);
    for (const auto& finding : verdict.findings) ADD_FAILURE() << finding.message;
    if (c.withheld) {
      std::vector<std::string> withheld;
      for (const auto& w : verdict.withheld) {
        if (!only.empty() && w.mutator != only && w.mutator != "all") continue;
        withheld.push_back(w.path + ": " + w.reason);
      }
      EXPECT_EQ(withheld, *c.withheld);
    }
    if (verdict.mutated) ExpectStable(verdict, request, c.config);
  }
}

// The same with all other mutators switched off but scheduler-name, since most write nothing for
// pods that Volcano does not place; `want` is then written without the mutator.
inline void ExpectMutationsBy(std::string_view mutator, std::vector<MutationCase> cases) {
  for (MutationCase& c : cases) {
    for (const mutators::Mutator& other : mutators::Mutators()) {
      if (other.name == mutator || other.name == "scheduler-name") continue;
      c.config.disabled_mutators.emplace(other.name);
    }
    for (std::string& line : c.want) line += "  (" + std::string(mutator) + ")";
  }
  ExpectMutations(cases, mutator);
}

// Two cases for every kind there is: its one template requests NPUs and gets `want` of its kind
// (nothing when it has no row of `Injected`), and the same without NPUs is left alone.
inline std::vector<MutationCase> EveryKind(
    const std::function<std::vector<std::string>(const Injected&)>& want) {
  std::vector<MutationCase> cases;
  for (int i = 0; i < schemas::kKindCount; ++i) {
    const auto kind = static_cast<schemas::Kind>(i);
    const auto& info = schemas::InfoOf(kind);
    const std::string name = std::string(info.name) + " of " + std::string(info.group);
    const auto row = InjectedInto(kind);
    cases.push_back({name + " with NPUs", Workload(kind, {NpuContainer()}).dump(),
                     row ? want(*row) : std::vector<std::string>()});
    cases.push_back({name + " without NPUs", Workload(kind, {CpuContainer()}).dump(), {}});
  }
  return cases;
}

}  // namespace mindgate::testing
