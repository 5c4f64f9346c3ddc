#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "admission/admit.h"
#include "support/objects.h"

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
};

inline std::vector<std::string> Lines(const admission::Verdict& verdict, const json::Json& object) {
  std::vector<std::string> lines;
  const json::Json& mutated = verdict.mutated ? *verdict.mutated : object;
  for (const mutators::Change& change : verdict.changes) {
    std::string path = change.path;
    if (path.ends_with("/-")) {
      const json::Json& list =
          mutated.at(json::Json::json_pointer(path.substr(0, path.size() - 2)));
      path = path.substr(0, path.size() - 1) + std::to_string(list.size() - 1);
    }
    lines.push_back(change.path + " = " + mutated.at(json::Json::json_pointer(path)).dump() +
                    "  (" + change.mutator + ")");
  }
  return lines;
}

// Mutates, compares, and checks what holds for every mutation: its own output yields an empty
// patch.
inline void ExpectMutations(const std::vector<MutationCase>& cases) {
  for (const MutationCase& c : cases) {
    SCOPED_TRACE(c.name);
    const json::Json object = Yaml(c.object);
    const json::Json old_object = c.old_object.empty() ? json::Json() : Yaml(c.old_object);
    const FakeObjects others(c.others);
    schemas::AdmissionRequest request;
    request.object = &object;
    request.objects = &others;
    if (!c.old_object.empty()) {
      request.operation = schemas::Operation::kUpdate;
      request.old_object = &old_object;
    }
    if (!c.namespace_label.empty())
      request.namespace_labels["mindgate.io/inject"] = c.namespace_label;
    admission::Options options;
    options.judge = false;
    const auto verdict = admission::Admit(request, c.config, options);
    EXPECT_EQ(Lines(verdict, object), c.want);
    for (const auto& finding : verdict.findings) ADD_FAILURE() << finding.message;

    if (!verdict.mutated) continue;
    request.object = verdict.mutated.get();
    EXPECT_EQ(json::ToJsonPatch(admission::Admit(request, c.config, options).patch).dump(), "[]")
        << "the second run must change nothing";
  }
}

}  // namespace mindgate::testing
