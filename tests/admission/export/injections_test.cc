#include "admission/export/injections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "admission/export/cel_text.h"
#include "admission/export/policy.h"
#include "admission/mutators/mutator.h"
#include "base/text.h"
#include "cel/program.h"
#include "json/yaml.h"
#include "support/exported.h"
#include "support/mutations.h"
#include "support/samples.h"

namespace mindgate {
namespace {

using exported::InjectedText;
using exported::TemplatePlace;
using schemas::Config;
using Injected = std::vector<std::string>;

TEST(WhyNotInjected, NamesAReasonForEveryOtherMutator) {
  std::set<std::string_view> exported;
  for (const TemplatePlace& place : exported::TemplatePlaces()) {
    const auto injections = exported::InjectionsAt(place, {});
    for (const InjectedText& text : injections.texts) exported.insert(text.mutator);
    if (injections.devices) exported.insert("visible-devices");
    if (injections.requests || injections.task_requests) exported.insert("npu-requests");
  }
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    EXPECT_EQ(exported::WhyNotInjected(mutator.name).empty(), exported.contains(mutator.name))
        << mutator.name;
  }
}

// What a policy writes into objects of one place, a line each: "PATH = VALUE", where a request has
// the name of its container, and of a variable ASCEND_VISIBLE_DEVICES the resource:
// "PATH/env/- = huawei.com/Ascend910".
class InjectingPolicy {
 public:
  InjectingPolicy(const TemplatePlace& place, const nlohmann::ordered_json& policy,
                  const Config& config)
      : place_(place), policy_(policy) {
    const std::string path(place.path);
    std::string lists;
    const auto add = [&](const std::string& list) {
      if (!lists.empty()) lists += " + ";
      lists += list;
    };
    const auto injections = exported::InjectionsAt(place, config);
    for (const InjectedText& text : injections.texts) {
      std::string at = path;
      at += text.where == InjectedText::Where::kLabel        ? "/metadata/labels"
            : text.where == InjectedText::Where::kAnnotation ? "/metadata/annotations"
                                                             : "/spec";
      schemas::AppendToken(text.key, at);
      add("(variables." + text.variable + " == '' ? [] : [" + exported::Quoted(at + " = ") +
          " + string(variables." + text.variable + ")])");
    }
    if (injections.devices) {
      add("variables.devices.map(d, d.path + '/- = ' + string(d.resource))");
    }
    if (injections.requests) {
      for (const auto& [list, variable] :
           {std::pair("containers", "requests"), std::pair("initContainers", "initRequests")}) {
        add(std::string("variables.") + variable + ".map(r, r.requests.map(k, " +
            exported::Quoted(path + "/spec/" + list + "/") +
            " + r.name + '/' + k + ' = ' + string(r.requests[k])).join('\\n'))");
      }
    }
    if (injections.task_requests) {
      add("variables.taskRequests.map(r, string(r.path).substring(0, "
          "string(r.path).lastIndexOf('/') + 1) + r.name + '/' + r.key + ' = ' + string(r.value))");
    }
    if (injections.task_labels) {
      add("variables.taskLabels.map(k, '/spec/tasks/0/template/metadata/labels/' + "
          "k.replace('/', '~1') + ' = ' + string(variables.taskLabels[k]))");
    }
    text_ = policy_.Compile("(" + lists + ").join('\\n')");
  }

  const std::string& faults() const { return policy_.faults(); }
  bool Has(schemas::Kind kind) const { return place_.kinds.Has(kind); }

  // Adds them to `lines`.
  void Write(const testing::ReviewedChange& change, Injected& lines) const {
    const std::string text = policy_.TextOf(text_.value(), change);
    for (const std::string_view line : Split(text, '\n')) {
      if (!line.empty()) lines.emplace_back(line);
    }
  }

  // The same of mindgate.
  static Injected Wanted(const admission::Verdict& verdict, const json::Value& object) {
    Injected lines;
    const json::Json mutated = testing::After(verdict, object);
    for (const mutators::Change& change : verdict.changes) {
      if (!exported::WhyNotInjected(change.mutator).empty()) continue;
      const std::string path(change.path);
      if (path.ends_with("/-")) {
        const auto& item =
            mutated.at(json::Json::json_pointer(path.substr(0, path.size() - 2))).back();
        const std::string field = item["valueFrom"]["fieldRef"]["fieldPath"];
        lines.push_back(path + " = " + std::string(Split(field, '\'')[1]));
        continue;
      }
      const auto& value = mutated.at(json::Json::json_pointer(path));
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      const size_t requests = path.find("/resources/requests/");
      if (requests == std::string::npos) {
        lines.push_back(path + " = " + text);
        continue;
      }
      const std::string container = path.substr(0, requests);
      std::string line =
          container.substr(0, container.rfind('/') + 1) +
          mutated.at(json::Json::json_pointer(container + "/name")).get<std::string>() + "/" +
          path.substr(path.rfind('/') + 1) + " = " + text;
      line.replace(line.find("~1"), 2, "/");
      lines.push_back(std::move(line));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  const TemplatePlace& place_;
  testing::ExportedPolicy policy_;
  std::optional<cel::Program> text_;
};

class InjectionsTest : public ::testing::Test {
 protected:
  void Make(const Config& config) {
    config_ = config;
    const auto documents =
        exported::MutatingPolicies(config, {.controller_namespaces = {"kube-system"}}, "v1beta1");
    const auto& places = exported::TemplatePlaces();
    ASSERT_EQ(documents.size(), 2 * places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      policies_.emplace_back(places[i], documents[2 * i], config);
      ASSERT_EQ(policies_.back().faults(), "") << places[i].name;
    }
  }

  // As a new object, as an update of what mindgate made of it by a client that applies its own
  // manifest again, and as an update of what was there before mindgate came.
  void Compare(const std::string& name, const json::Json& tree) {
    const json::Document object(tree);
    if (!object.root().is_object() || testing::HasNull(tree)) return;
    const auto view = schemas::BuildView(object.root());
    if (!view || view->excess || !view->wrong_types.empty()) return;
    const auto kind = view->kind;
    if (!IsExported(kind)) return;
    const auto verdict = CompareChange(name, object.root(), nullptr, kind);
    if (view->info().template_frozen) return;
    const std::string_view path = view->templates.empty() ? "" : view->templates.back().path;
    if (path.empty()) return;
    json::Json again = tree;
    again["metadata"]["labels"]["again"] = "true";
    again[json::Json::json_pointer(std::string(path) + "/metadata/labels/again")] = "true";
    const json::Document now(again);
    if (verdict.mutated)
      CompareChange(name + ", again", now.root(), &verdict.mutated->root(), kind);
    CompareChange(name + ", as it was", now.root(), &object.root(), kind);
  }

  bool IsExported(schemas::Kind kind) const {
    return std::any_of(policies_.begin(), policies_.end(),
                       [&](const InjectingPolicy& policy) { return policy.Has(kind); });
  }

  admission::Verdict CompareChange(const std::string& name, const json::Value& object,
                                   const json::Value* old_object, schemas::Kind kind) {
    schemas::AdmissionRequest request;
    if (old_object != nullptr) request.operation = schemas::Operation::kUpdate;
    request.object = &object;
    request.old_object = old_object;
    request.ns = "default";
    auto verdict = testing::MutateOnly(request, config_);
    const Injected want = InjectingPolicy::Wanted(verdict, object);
    Injected got;
    for (const InjectingPolicy& policy : policies_) {
      if (!policy.Has(kind)) continue;
      policy.Write({.object = object, .old_object = old_object, .ns = "default", .user = "alice"},
                   got);
    }
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, want) << name;
    written_ += want.size();
    return verdict;
  }

  Config config_;
  std::vector<InjectingPolicy> policies_;
  size_t written_ = 0;
};

TEST_F(InjectionsTest, AreThoseOfMutators) {
  Make({});
  for (const auto& samples : {testing::Samples(), testing::Cases()}) {
    for (const testing::Sample& sample : samples) {
      const auto documents = json::DecodeYaml(testing::ReadSample(sample));
      if (!documents) continue;
      for (const auto& document : *documents) Compare(sample.name, document.value);
    }
  }
  EXPECT_GT(written_, 30u);
}

using Named = std::pair<std::string, json::Json>;

struct Pods {
  Named labels;
  Named resources;
  std::string scheduler = {};
};

// An object with these pod templates: of a LeaderWorkerSet the worker's comes first.
json::Json ObjectOf(const schemas::KindInfo& info, const json::Json& metadata,
                    const std::vector<Pods>& pods) {
  json::Json tree = {{"apiVersion", (info.group.empty() ? "" : std::string(info.group) + "/") +
                                        std::string(info.version)},
                     {"kind", info.name},
                     {"metadata", metadata}};
  tree["metadata"]["name"] = "llm";
  std::vector<json::Json> templates;
  for (const Pods& each : pods) {
    json::Json spec = {{"containers", {{{"name", "main"}, {"resources", each.resources.second}}}}};
    if (!each.scheduler.empty()) spec["schedulerName"] = each.scheduler;
    templates.push_back({{"metadata", {{"labels", each.labels.second}}}, {"spec", spec}});
  }
  if (info.kind == schemas::Kind::kPod) {
    tree["metadata"]["labels"].update(pods.front().labels.second);
    tree["spec"] = templates.front()["spec"];
  } else if (info.kind == schemas::Kind::kLeaderWorkerSet) {
    json::Json& group = tree["spec"]["leaderWorkerTemplate"];
    group["workerTemplate"] = templates[0];
    if (templates.size() > 1) group["leaderTemplate"] = templates[1];
  } else if (info.kind == schemas::Kind::kVolcanoJob) {
    for (const json::Json& each : templates) {
      const std::string name = "task" + std::to_string(tree["spec"]["tasks"].size());
      tree["spec"]["tasks"].push_back({{"name", name}, {"replicas", 1}, {"template", each}});
    }
  } else {
    tree[json::Json::json_pointer(std::string(info.template_holder) + "/template")] = templates[0];
  }
  return tree;
}

// Sanitizers need each two of three together: what values come out is compared without them.
#ifdef MINDGATE_SANITIZED
constexpr bool kEachTriple = false;
#else
constexpr bool kEachTriple = true;
#endif

// Labels under each metadata, and amounts under each scheduler, of every kind of every place; of
// kinds with several templates, of two of them.
TEST_F(InjectionsTest, AreThoseOfMutatorsForEveryKind) {
  Config config;
  config.scheduler = "volcano-npu";
  for (auto& profile : config.profiles) {
    profile.pod_rescheduling = "on";
    profile.fault_retry_times = "3";
  }
  config.namespaces = {{.name = "dev*", .inject = false, .rules = {}}};
  Make(config);
  const std::vector<Named> labels = {
      {"none", json::Json::object()},
      {"off", {{"fault-scheduling", "off"}}},
      {"grace", {{"fault-scheduling", "grace"}}},
      {"wrong", {{"fault-scheduling", "Force"}}},
      {"limited", {{"fault-scheduling", "force"}, {"pod-rescheduling", "off"}}},
      {"retries", {{"fault-retry-times", "0"}}},
      {"rank table", {{"deploy-name", "a"}}},
      {"softly", {{"huawei.com/scheduler.softShareDev.aicoreQuota", "50"}}}};
  const std::vector<Named> metadata = {
      {"none", json::Json::object()},
      {"opted out", {{"labels", {{"mindgate.io/inject", "disabled"}}}}},
      {"opted in", {{"labels", {{"mindgate.io/inject", "enabled"}}}}},
      {"a rule",
       {{"labels",
         {{"mind-cluster/scaling-rule", "r"}, {"jobID", "j"}, {"mind-cluster/group-name", "g"}}}}},
      {"misplaced", {{"labels", {{"fault-scheduling", "grace"}}}}},
      {"misplaced limits", {{"annotations", {{"pod-rescheduling", "off"}}}}},
      {"misplaced nonsense", {{"labels", {{"fault-retry-times", "many"}}}}}};
  const Named npu = {"an NPU", {{"limits", {{"huawei.com/Ascend910", 8}}}}};
  const Named foreign = {
      "another product's",
      {{"limits", {{"huawei.com/Ascend910", 1}, {"huawei.com/Ascend910-memory", 4096}}}}};
  const Named none = {"no NPU", {{"limits", {{"cpu", 1}}}}};
  const std::vector<Named> resources = {
      npu,
      {"as requests too",
       {{"limits", {{"huawei.com/Ascend910", "8"}}},
        {"requests", {{"huawei.com/Ascend910", "8"}}}}},
      {"beside other requests",
       {{"limits", {{"huawei.com/Ascend910", 8}, {"cpu", 4}}}, {"requests", {{"cpu", 1}}}}},
      {"none of it", {{"limits", {{"huawei.com/Ascend910", 0}}}}},
      {"two products", {{"limits", {{"huawei.com/Ascend910", 1}, {"huawei.com/Ascend310P", 1}}}}},
      {"a slice", {{"limits", {{"huawei.com/Ascend910-4c", 1}}}}},
      foreign,
      none};
  const std::vector<std::string> schedulers = {"", "default-scheduler", "volcano", "mine"};
  const auto compare = [&](const schemas::KindInfo& info, const Named& of_object,
                           const std::vector<Pods>& pods) {
    std::string name = std::string(info.name) + ": " + of_object.first;
    for (const Pods& each : pods) {
      name += "; " + each.labels.first + ", " + each.resources.first + ", " + each.scheduler;
    }
    Compare(name, ObjectOf(info, of_object.second, pods));
  };
  std::vector<std::pair<Named, std::string>> placed;
  for (const Named& each : resources) {
    for (const std::string& scheduler : schedulers) placed.emplace_back(each, scheduler);
  }
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (!IsExported(info.kind)) continue;
    for (const Named& of_pod : labels) {
      for (const Named& of_object : metadata) {
        compare(info, of_object, {{of_pod, npu}});
      }
    }
    for (const auto& [amounts, scheduler] : placed) {
      compare(info, metadata.front(), {{labels.front(), amounts, scheduler}});
    }
    if (info.kind != schemas::Kind::kLeaderWorkerSet && info.kind != schemas::Kind::kVolcanoJob) {
      continue;
    }
    for (size_t i = 0; i < labels.size(); ++i) {
      for (size_t j = 0; j < labels.size(); ++j) {
        const Named& one = labels[i];
        const Named& other = labels[j];
        for (size_t k = 0; k < (kEachTriple ? metadata.size() : 1); ++k) {
          compare(info, metadata[(i + j + k) % metadata.size()], {{one, npu}, {other, npu}});
        }
        compare(info, metadata.front(), {{one, npu}, {other, none}});
        compare(info, metadata.front(), {{one, none}, {other, npu}});
      }
    }
    for (const Named& one : {npu, foreign, none}) {
      for (const Named& other : {npu, foreign, none}) {
        for (const std::string& scheduler : schedulers) {
          for (const std::string& another : schedulers) {
            compare(info, metadata.front(),
                    {{labels.front(), one, scheduler}, {labels.front(), other, another}});
          }
        }
      }
    }
  }
  EXPECT_GT(written_, 1000u);
}

}  // namespace
}  // namespace mindgate
