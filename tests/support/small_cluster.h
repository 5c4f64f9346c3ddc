#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/decode.h"
#include "what_if/snapshot.h"

// A cluster as a snapshot, made object by object.
namespace mindgate::testing {

using json::Json;

struct PodSpec {
  std::string name;
  std::string node = "";   // empty: it waits
  std::string chips = "";  // "0-3": of Ascend910; a pod without chips asks for `npus`
  std::string group = "";  // its PodGroup
  std::string owner = "";  // "ReplicaSet/chat-7d"; empty: a bare pod
  Json labels = Json::object();
  Json annotations = Json::object();
  int npus = 0;
  Json spec = Json::object();    // more of its spec
  Json status = Json::object();  // more of its status
};

class SmallCluster {
 public:
  static constexpr const char* kNs = "infer";

  // With eight NPUs.
  SmallCluster& Node(const std::string& name, Json more = Json::object(), int npus = 8) {
    Json node = {{"metadata", {{"name", name}}},
                 {"status",
                  {{"allocatable", {{"huawei.com/Ascend910", std::to_string(npus)}}},
                   {"capacity", {{"huawei.com/Ascend910", std::to_string(npus)}}},
                   {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
    node.merge_patch(more);
    nodes.push_back(std::move(node));
    return *this;
  }

  SmallCluster& Pod(const PodSpec& pod) {
    Json metadata = {{"namespace", kNs},         {"name", pod.name},
                     {"uid", "uid-" + pod.name}, {"creationTimestamp", "2026-03-01T08:00:00Z"},
                     {"labels", pod.labels},     {"annotations", pod.annotations}};
    if (!pod.group.empty()) metadata["annotations"]["scheduling.k8s.io/group-name"] = pod.group;
    const std::vector<std::string> chips = ChipsOf(pod.chips);
    if (!pod.node.empty() && !chips.empty()) {
      std::string list;
      for (const std::string& chip : chips) list += (list.empty() ? "" : ",") + chip;
      metadata["annotations"]["huawei.com/AscendReal"] = list;
    }
    if (!pod.owner.empty()) metadata["ownerReferences"] = Json::array({OwnerOf(pod.owner)});
    const size_t npus = chips.empty() ? static_cast<size_t>(pod.npus) : chips.size();
    Json spec = {
        {"containers", {{{"name", "main"}, {"env", {{{"name", "TOKEN"}, {"value", "secret"}}}}}}}};
    if (npus > 0) {
      spec["containers"][0]["resources"]["limits"] = {
          {"huawei.com/Ascend910", std::to_string(npus)}, {"memory", "64Gi"}};
    }
    if (!pod.node.empty()) spec["nodeName"] = pod.node;
    spec.merge_patch(pod.spec);
    Json status = {{"phase", pod.node.empty() ? "Pending" : "Running"}};
    if (!pod.node.empty()) {
      status["conditions"] = {{{"type", "PodScheduled"}, {"status", "True"}}};
    }
    status.merge_patch(pod.status);
    pods.push_back({{"metadata", std::move(metadata)},
                    {"spec", std::move(spec)},
                    {"status", std::move(status)}});
    return *this;
  }

  SmallCluster& Group(const std::string& name, const std::string& owner, int min_member,
                      Json labels = Json::object(), Json annotations = Json::object()) {
    pod_groups.push_back({{"metadata",
                           {{"namespace", kNs},
                            {"name", name},
                            {"creationTimestamp", "2026-03-01T08:00:00Z"},
                            {"labels", std::move(labels)},
                            {"annotations", std::move(annotations)},
                            {"ownerReferences", {OwnerOf(owner)}}}},
                          {"spec", {{"minMember", min_member}}},
                          {"status", {{"phase", "Running"}}}});
    return *this;
  }

  // ClusterD says so of a node, in the form of its map: {"huawei.com/Ascend910-Unhealthy": ...}.
  SmallCluster& Devices(const std::string& node, Json device_list) {
    devices["mindx-dl-deviceinfo-" + node] = {{"DeviceList", std::move(device_list)},
                                              {"UpdateTime", 1772352000}};
    return *this;
  }

  // MindCluster's plugin noted that it restarted the job so many seconds ago.
  SmallCluster& Restarted(const std::string& pod_group, int64_t seconds_ago,
                          const std::vector<std::string>& faulty) {
    Json tasks = Json::array();
    for (const std::string& pod : faulty) tasks.push_back({{"PodName", pod}});
    records[std::string(kNs) + "/" + pod_group] = {
        {"RescheduleRecords",
         {{{"RescheduleTimeStamp", Taken().time_since_epoch().count() - seconds_ago},
           {"ReasonOfTask", std::move(tasks)}}}}};
    return *this;
  }

  // The shapes of a scaling rule, the largest first: {{"g0", 2}, {"g1", 1}}.
  SmallCluster& Rule(const std::string& name,
                     const std::vector<std::vector<std::pair<std::string, int>>>& shapes) {
    Json tiers = Json::array();
    for (const auto& shape : shapes) {
      Json groups = Json::array();
      for (const auto& [group, count] : shape) {
        groups.push_back({{"group_name", group},
                          {"group_num", std::to_string(count)},
                          {"server_num_per_group", "1"}});
      }
      tiers.push_back({{"group_list", std::move(groups)}});
    }
    const Json rule = {{"version", "1.0"}, {"elastic_scaling_list", std::move(tiers)}};
    scaling_rules.push_back({{"metadata", {{"namespace", kNs}, {"name", name}}},
                             {"data", {{"elastic_scaling.json", rule.dump()}}}});
    return *this;
  }

  // What ClusterD writes; nothing when it says nothing.
  std::vector<Json> Reports() const {
    if (devices.empty()) return {};
    return {{{"metadata",
              {{"namespace", "mindx-dl"},
               {"name", "cluster-info-device-0"},
               {"labels", {{"mx-consumer-volcano", "true"}}}}},
             {"data", {{"cluster-info-device-0", devices.dump()}}}}};
  }

  // Of the objects as they are, with all of their members.
  what_if::ClusterSnapshot Snapshot() const {
    what_if::ClusterSnapshot snapshot;
    snapshot.taken = Taken();
    snapshot.watcher = watcher;
    const auto add = [&](const std::vector<Json>& from, what_if::ClusterSnapshot::Objects& to) {
      for (const Json& object : from) {
        const auto document = std::make_shared<const json::Document>(object);
        to.push_back(&document->root());
        snapshot.documents.push_back(document);
      }
    };
    add(nodes, snapshot.nodes);
    add(pods, snapshot.pods);
    add(pod_groups, snapshot.pod_groups);
    add(Reports(), snapshot.fault_reports);
    add(scaling_rules, snapshot.scaling_rules);
    add(Notes("mindx-dl", "job-reschedule-reason", "recent-reschedule-records", records),
        snapshot.plugin_records);
    add(Notes("volcano-system", "vcjob-fault-npu-cm", "remain-retry-times", retries),
        snapshot.plugin_retries);
    return snapshot;
  }

  std::vector<Json> nodes;
  std::vector<Json> pods;
  std::vector<Json> pod_groups;
  std::vector<Json> scaling_rules;
  Json devices = Json::object();
  Json records = Json::object();  // of MindCluster's plugin, by "infer/<PodGroup>"
  Json retries = Json::object();  // likewise
  what_if::WatcherSettings watcher{};

  static Time Taken() { return *ParseTime("2026-03-02T12:00:00Z"); }
  // The ConfigMap in which the plugin notes something; none when it has not.
  static std::vector<Json> Notes(const char* ns, const char* name, const char* key,
                                 const Json& noted) {
    if (noted.empty()) return {};
    return {{{"metadata", {{"namespace", ns}, {"name", name}}}, {"data", {{key, noted.dump()}}}}};
  }

 private:
  static Json OwnerOf(const std::string& owner) {
    const size_t slash = owner.find('/');
    const std::string kind = owner.substr(0, slash);
    const char* version = kind == "AscendJob" ? "mindxdl.gitee.com/v1"
                          : kind == "Job"     ? "batch.volcano.sh/v1alpha1"
                                              : "apps/v1";
    return {{"apiVersion", version},
            {"kind", kind},
            {"name", owner.substr(slash + 1)},
            {"uid", "uid-" + owner},
            {"controller", true}};
  }

  static std::vector<std::string> ChipsOf(const std::string& range) {
    std::vector<std::string> chips;
    if (range.empty()) return chips;
    const size_t dash = range.find('-');
    const int first = std::stoi(range.substr(0, dash));
    const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
    for (int i = first; i <= last; ++i) chips.push_back("Ascend910-" + std::to_string(i));
    return chips;
  }
};

}  // namespace mindgate::testing
