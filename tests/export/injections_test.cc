#include "export/injections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "export/cel_text.h"
#include "export/mutating_policy.h"
#include "json/yaml.h"
#include "mutators/mutator.h"
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
    if (injections.requests) exported.insert("npu-requests");
  }
  for (const mutators::Mutator& mutator : mutators::Mutators()) {
    EXPECT_EQ(exported::WhyNotInjected(mutator.name).empty(), exported.contains(mutator.name))
        << mutator.name;
  }
}

// What a policy writes into objects of one place, a line each: "PATH = VALUE", and of a variable
// ASCEND_VISIBLE_DEVICES the resource, "PATH/env/- = huawei.com/Ascend910".
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
    expression_ = "(" + lists + ").join('\\n')";
  }

  const std::string& faults() const { return policy_.faults(); }
  bool Has(schemas::Kind kind) const { return place_.kinds.Has(kind); }

  Injected Writes(const testing::ReviewedChange& change) const {
    const std::string text = policy_.TextOf(expression_, change);
    Injected lines;
    for (const std::string_view line : Split(text, '\n')) {
      if (!line.empty()) lines.emplace_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
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
  const testing::ExportedPolicy policy_;
  std::string expression_;
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
      EXPECT_EQ(policies_.back().faults(), "") << places[i].name;
    }
  }

  // As a new object, and as an update of what mindgate made of it, by a client that applies its own
  // manifest again.
  void Compare(const std::string& name, const json::Json& tree) {
    const json::Document object(tree);
    if (!object.root().is_object() || testing::HasNull(tree)) return;
    const auto view = schemas::BuildView(object.root());
    if (!view || view->excess || !view->wrong_types.empty()) return;
    const auto policy = std::find_if(policies_.begin(), policies_.end(),
                                     [&](const auto& each) { return each.Has(view->kind); });
    if (policy == policies_.end()) return;
    schemas::AdmissionRequest request;
    request.object = &object.root();
    request.ns = "default";
    const auto verdict = testing::MutateOnly(request, config_);
    const Injected want = InjectingPolicy::Wanted(verdict, object.root());
    written_ += want.size();
    EXPECT_EQ(policy->Writes({.object = object.root(), .ns = "default", .user = "alice"}), want)
        << name;
    if (view->info().template_frozen || !verdict.mutated) return;
    json::Json again = tree;
    again["metadata"]["labels"]["again"] = "true";
    const std::string above = policy->Has(schemas::Kind::kCronJob) ? "/spec/jobTemplate" : "";
    again[json::Json::json_pointer(above + "/spec/template/metadata/labels/again")] = "true";
    const json::Document now(again);
    request.operation = schemas::Operation::kUpdate;
    request.object = &now.root();
    request.old_object = &verdict.mutated->root();
    const auto update = testing::MutateOnly(request, config_);
    EXPECT_EQ(policy->Writes({.object = now.root(),
                              .old_object = &verdict.mutated->root(),
                              .ns = "default",
                              .user = "alice"}),
              InjectingPolicy::Wanted(update, now.root()))
        << name << ", again";
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

// Labels under each metadata, and amounts under each scheduler, of every kind of every place.
TEST_F(InjectionsTest, AreThoseOfMutatorsForEveryKind) {
  Config config;
  config.scheduler = "volcano-npu";
  for (auto& profile : config.profiles) {
    profile.pod_rescheduling = "on";
    profile.fault_retry_times = "3";
  }
  config.namespaces = {{.name = "dev*", .inject = false, .rules = {}}};
  Make(config);
  const std::vector<std::pair<std::string, json::Json>> labels = {
      {"none", json::Json::object()},
      {"off", {{"fault-scheduling", "off"}}},
      {"grace", {{"fault-scheduling", "grace"}}},
      {"wrong", {{"fault-scheduling", "Force"}}},
      {"limited", {{"fault-scheduling", "force"}, {"pod-rescheduling", "off"}}},
      {"retries", {{"fault-retry-times", "0"}}},
      {"rank table", {{"deploy-name", "a"}}},
      {"softly", {{"huawei.com/scheduler.softShareDev.aicoreQuota", "50"}}}};
  const std::vector<std::pair<std::string, json::Json>> metadata = {
      {"none", json::Json::object()},
      {"opted out", {{"labels", {{"mindgate.io/inject", "disabled"}}}}},
      {"opted in", {{"labels", {{"mindgate.io/inject", "enabled"}}}}},
      {"a rule",
       {{"labels",
         {{"mind-cluster/scaling-rule", "r"}, {"jobID", "j"}, {"mind-cluster/group-name", "g"}}}}},
      {"misplaced", {{"labels", {{"fault-scheduling", "grace"}}}}},
      {"misplaced limits", {{"annotations", {{"pod-rescheduling", "off"}}}}},
      {"misplaced nonsense", {{"labels", {{"fault-retry-times", "many"}}}}}};
  const std::vector<std::pair<std::string, json::Json>> containers = {
      {"an NPU", {{"limits", {{"huawei.com/Ascend910", 8}}}}},
      {"as requests too",
       {{"limits", {{"huawei.com/Ascend910", "8"}}},
        {"requests", {{"huawei.com/Ascend910", "8"}}}}},
      {"none of it", {{"limits", {{"huawei.com/Ascend910", 0}}}}},
      {"two products", {{"limits", {{"huawei.com/Ascend910", 1}, {"huawei.com/Ascend310P", 1}}}}},
      {"a slice", {{"limits", {{"huawei.com/Ascend910-4c", 1}}}}},
      {"no NPU", {{"limits", {{"cpu", 1}}}}}};
  const auto compare = [&](const schemas::KindInfo& info, const auto& of_pod, const auto& of_object,
                           const auto& amounts, const std::string& scheduler) {
    json::Json spec = {{"containers", {{{"name", "main"}, {"resources", amounts.second}}}}};
    if (!scheduler.empty()) spec["schedulerName"] = scheduler;
    json::Json tree = {{"apiVersion", (info.group.empty() ? "" : std::string(info.group) + "/") +
                                          std::string(info.version)},
                       {"kind", info.name},
                       {"metadata", of_object.second}};
    tree["metadata"]["name"] = "llm";
    if (info.kind == schemas::Kind::kPod) {
      tree["metadata"]["labels"].update(of_pod.second);
      tree["spec"] = spec;
    } else {
      tree[json::Json::json_pointer(std::string(info.template_holder) + "/template")] = {
          {"metadata", {{"labels", of_pod.second}}}, {"spec", spec}};
    }
    Compare(std::string(info.name) + ": " + of_pod.first + ", " + of_object.first + ", " +
                amounts.first + ", scheduler " + scheduler,
            tree);
  };
  for (const schemas::KindInfo& info : schemas::kKinds) {
    if (info.kind != schemas::Kind::kPod && info.template_holder.empty()) continue;
    for (const auto& of_pod : labels) {
      for (const auto& of_object : metadata) {
        compare(info, of_pod, of_object, containers.front(), "");
      }
    }
    for (const auto& amounts : containers) {
      for (const std::string scheduler : {"", "default-scheduler", "volcano", "mine"}) {
        compare(info, labels.front(), metadata.front(), amounts, scheduler);
      }
    }
  }
  EXPECT_GT(written_, 1000u);
}

}  // namespace
}  // namespace mindgate
