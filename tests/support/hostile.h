#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a tenant may write to make a decision expensive: lists of thousands, indexes of nothing,
// texts inside texts. Each shape fills any number of bytes, so that tests can count and benchmarks
// can time how the cost of one review grows with its text.
namespace mindgate::testing {

struct HostileShape {
  std::string_view name;
  std::string_view api_version;  // empty: `members` makes the whole body, which is no review
  std::string_view kind;
  // The object's members besides apiVersion and kind, about `bytes` long.
  std::string (*members)(size_t bytes);
  // The same of the object before an update; null when it is created.
  std::string (*old_members)(size_t bytes) = nullptr;
};

namespace hostile {

// `before`, as many items as make `bytes` together with both ends, `after`.
template <typename Item>
std::string Filled(std::string before, Item item, std::string_view after, size_t bytes,
                   std::string_view separator = ",") {
  std::string text = std::move(before);
  text.reserve(bytes + 256);
  for (size_t i = 0; text.size() + after.size() < bytes; ++i) {
    if (i > 0) text += separator;
    text += item(i);
  }
  return text.append(after);
}

inline std::string N(size_t i) { return std::to_string(i); }

// For Filled: the same text again and again.
inline auto Same(std::string_view text) {
  return [text](size_t) { return text; };
}

// As it stands inside a JSON string.
inline std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

inline constexpr std::string_view kMetadata =
    R"("metadata":{"name":"a","namespace":"b","labels":{"app":"a"}})";

inline constexpr std::string_view kNpuContainer =
    R"({"name":"c","image":"i","resources":{"limits":{"huawei.com/Ascend910":"8"}}})";

inline std::string NpuTemplate() {
  return R"("template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[)" +
         std::string(kNpuContainer) + "]}}";
}

// A name that is unlike all others, and what makes an element an NPU workload of its own.
inline std::string NamedNpus(size_t i, std::string_view extra = "") {
  return R"({"name":"r)" + N(i) + R"(","replicas":1,)" + std::string(extra) + NpuTemplate() + "}";
}

// --- ConfigMaps: a text inside the text, already escaped.

inline std::string InConfigMap(std::string_view name, std::string_view key,
                               const std::string& before) {
  return R"("metadata":{"name":")" + std::string(name) +
         R"(","namespace":"b","labels":{"jobID":"a"}},"data":{")" + std::string(key) + R"(":")" +
         Escaped(before);
}

inline std::string InRule(const std::string& before) {
  return InConfigMap("rule", "elastic_scaling.json", R"({"version":"1.0",)" + before);
}

template <typename Item>
std::string Groups(Item item, size_t bytes) {
  return Filled(InRule(R"("elastic_scaling_list":[{"group_list":[)"), item, R"(]}]}"})", bytes);
}

template <typename Item>
std::string Tiers(Item item, size_t bytes) {
  return Filled(InRule(R"("elastic_scaling_list":[)"), item, R"(]}"})", bytes);
}

inline std::string Group(const std::string& name, std::string_view servers = "1") {
  return Escaped(R"({"group_name":")" + name + R"(","group_num":"1","server_num_per_group":")" +
                 std::string(servers) + R"("})");
}

// Blanks make it a text of few values for its bytes, which passes limits on their number.
inline constexpr std::string_view kPadded = "{}             ";

inline std::string EmptyGroups(size_t bytes) { return Groups(Same("{}"), bytes); }

inline std::string Comments(size_t bytes) {
  return Filled(InRule(R"("elastic_scaling_list":[)"), Same(R"(# a\n)"), R"(]}"})", bytes, "");
}

inline std::string RankTable(size_t bytes) {
  return Filled(
      InConfigMap("rings-config-a", "hccl.json", R"({"status":"initializing","server_list":[)"),
      Same("{}"), R"(]}"})", bytes);
}

// --- Workloads of many templates.

template <typename Item>
std::string Roles(Item item, size_t bytes) {
  return Filled(std::string(kMetadata) +
                    R"(,"spec":{"replicas":1,"stateful":true,"template":{"spec":{"roles":[)",
                item, "]}}}", bytes);
}

inline std::string EmptyRoles(size_t bytes) { return Roles(Same("{}"), bytes); }
inline std::string PaddedRoles(size_t bytes) { return Roles(Same(kPadded), bytes); }
inline std::string NpuRoles(size_t bytes) {
  return Roles([](size_t i) { return NamedNpus(i); }, bytes);
}
// The same roles, each one place later.
inline std::string ShiftedNpuRoles(size_t bytes) {
  return Roles([](size_t i) { return NamedNpus(i + 1); }, bytes);
}
inline std::string OneNpuRole(size_t bytes) {
  return Roles([](size_t i) { return i == 0 ? NamedNpus(i) : std::string("{}"); }, bytes);
}

template <typename Item>
std::string Tasks(Item item, size_t bytes) {
  return Filled(R"("metadata":{"name":"a","namespace":"b","labels":{"pod-rescheduling":"on",)"
                R"("fault-scheduling":"force"}},"spec":{"minAvailable":1,"tasks":[)",
                item, "]}", bytes);
}

inline std::string EmptyTasks(size_t bytes) { return Tasks(Same("{}"), bytes); }
inline std::string NpuTasks(size_t bytes) {
  return Tasks([](size_t i) { return NamedNpus(i); }, bytes);
}

template <typename Item>
std::string ReplicaTypes(Item item, size_t bytes) {
  return Filled(
      std::string(kMetadata) + R"(,"spec":{"replicaSpecs":{)",
      [item](size_t i) { return R"("T)" + N(i) + R"(":)" + std::string(item(i)); }, "}}", bytes);
}

inline std::string NpuReplicaTypes(size_t bytes) {
  return ReplicaTypes([](size_t i) { return NamedNpus(i); }, bytes);
}

template <typename Item>
std::string InferRoles(Item item, size_t bytes) {
  return Filled(std::string(kMetadata) + R"(,"spec":{"replicas":2,"template":{"roles":[)", item,
                "]}}", bytes);
}

inline std::string InferRole(size_t i) {
  return R"({"name":"r)" + N(i) +
         R"(","replicas":1,"workload":{"kind":"Deployment"},"services":[{"name":"s","spec":)"
         R"({"type":"NodePort","ports":[{"port":1,"nodePort":)" +
         N(30000 + i % 2768) + R"(}]}}],"spec":{"replicas":1,)" + NpuTemplate() + "}}";
}

// --- Pods, and what one template may hold many of.

// The containers of a pod that requests NPUs, then what `before` begins and `after` ends.
template <typename Item>
std::string PodWith(const std::string& before, Item item, const std::string& after, size_t bytes) {
  return Filled(std::string(kMetadata) + R"(,"spec":{"containers":[)" + std::string(kNpuContainer) +
                    "]," + before,
                item, after + "}", bytes);
}

template <typename Item>
std::string Containers(Item item, size_t bytes) {
  return Filled(std::string(kMetadata) + R"(,"spec":{"containers":[)", item, "]}", bytes);
}

template <typename Item>
std::string Env(Item item, size_t bytes) {
  return Filled(
      std::string(kMetadata) +
          R"(,"spec":{"containers":[{"name":"c","resources":{"limits":{"huawei.com/Ascend910":)"
          R"("8"}},"env":[)",
      item, "]}]}", bytes);
}

template <typename Item>
std::string Limits(Item item, size_t bytes) {
  return Filled(
      std::string(kMetadata) + R"(,"spec":{"containers":[{"name":"c","resources":{"limits":{)",
      item, "}}}]}", bytes);
}

// Half of the names are requested, the other half limited.
inline std::string LimitsAndRequests(size_t bytes) {
  const auto entry = [](std::string_view prefix) {
    return [prefix](size_t i) { return R"("huawei.com/)" + std::string(prefix) + N(i) + R"(":1)"; };
  };
  const std::string requests = Filled(R"("requests":{)", entry("Ascend910-"), "}", bytes / 2);
  return Filled(std::string(kMetadata) + R"(,"spec":{"containers":[{"name":"c","resources":{)" +
                    requests + R"(,"limits":{)",
                entry("npu-"), "}}}]}", bytes);
}

// Keys one letter away from those that are read, in the metadata `key` of a Pod with NPUs.
inline std::string NearMisses(std::string_view key, size_t bytes) {
  return Filled(
      R"("spec":{"containers":[)" + std::string(kNpuContainer) +
          R"(]},"metadata":{"name":"a","namespace":"b",")" + std::string(key) + R"(":{)",
      [](size_t i) { return R"("fault-schedulin)" + N(i) + R"(":"force")"; }, "}}", bytes);
}

template <typename Item>
std::string TemplateLabels(Item item, size_t bytes) {
  return Filled(std::string(kMetadata) + R"(,"spec":{"template":{"spec":{"containers":[)" +
                    std::string(kNpuContainer) + R"(]},"metadata":{"labels":{)",
                item, "}}}}", bytes);
}

// --- Texts that no decision reads.

template <typename Item>
std::string Unread(std::string_view open, Item item, std::string_view close, size_t bytes,
                   std::string_view separator = ",") {
  return Filled(std::string(kMetadata) + R"(,"spec":{"unread":)" + std::string(open), item,
                std::string(close) + "}", bytes, separator);
}

inline std::string Nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

inline std::string ManagedFields(size_t bytes) {
  return Filled(
      R"("metadata":{"name":"a","namespace":"b","managedFields":[{"fieldsV1":{)",
      [](size_t i) { return R"("f:k)" + N(i) + R"(":{})"; }, "}}]}", bytes);
}

inline constexpr std::string_view kStorm = "orchestration.aibrix.ai/v1alpha1";
inline constexpr std::string_view kVolcano = "batch.volcano.sh/v1alpha1";
inline constexpr std::string_view kAscend = "mindxdl.gitee.com/v1";
inline constexpr std::string_view kInfer = "mindcluster.huawei.com/v1";
inline constexpr std::string_view kOme = "ome.io/v1beta1";

inline std::string Object(const HostileShape& shape, const std::string& members) {
  return R"({"apiVersion":")" + std::string(shape.api_version) + R"(","kind":")" +
         std::string(shape.kind) + R"(",)" + members + "}";
}

}  // namespace hostile

// The body of a request with such an object (two in an update), about `bytes` long: the shape gets
// `bytes`, the review around it less than a thousand more.
inline std::string HostileText(const HostileShape& shape, size_t bytes) {
  if (shape.api_version.empty()) return shape.members(bytes);
  const bool update = shape.old_members != nullptr;
  const size_t each = update ? bytes / 2 : bytes;
  const size_t slash = std::min(shape.api_version.find('/'), shape.api_version.size());
  const bool core = slash == shape.api_version.size();
  std::string text =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":)"
      R"("b5f4a6a2-6a1e-4a3e-8a57-0d3f3f1a0c11","kind":{"group":")" +
      std::string(core ? "" : shape.api_version.substr(0, slash)) + R"(","version":")" +
      std::string(core ? shape.api_version : shape.api_version.substr(slash + 1)) +
      R"(","kind":")" + std::string(shape.kind) + R"("},"operation":")" +
      (update ? "UPDATE" : "CREATE") +
      R"(","namespace":"b","name":"a","userInfo":{"username":"tenant"},"object":)" +
      hostile::Object(shape, shape.members(each)) + R"(,"oldObject":)";
  text += update ? hostile::Object(shape, shape.old_members(each)) : "null";
  return text + R"(,"dryRun":false}})";
}

// Every shape that once cost more than its bytes, and what is near to one.
inline std::vector<HostileShape> HostileShapes() {
  using namespace hostile;
  using std::string;
  return {
      {"rule: {} groups", "v1", "ConfigMap", EmptyGroups},
      {"rule: {} groups, update", "v1", "ConfigMap", EmptyGroups,
       [](size_t bytes) { return Groups(Same("0"), bytes); }},
      {"rule: padded {} groups", "v1", "ConfigMap",
       [](size_t bytes) { return Groups(Same(kPadded), bytes); }},
      {"rule: numbers for groups", "v1", "ConfigMap",
       [](size_t bytes) { return Groups(Same("1"), bytes); }},
      {"rule: groups of 0 servers", "v1", "ConfigMap",
       [](size_t bytes) { return Groups([](size_t i) { return Group("g" + N(i), "0"); }, bytes); }},
      {"rule: one group many times", "v1", "ConfigMap",
       [](size_t bytes) { return Groups([](size_t) { return Group("g"); }, bytes); }},
      {"rule: well-formed groups", "v1", "ConfigMap",
       [](size_t bytes) { return Groups([](size_t i) { return Group("g" + N(i)); }, bytes); }},
      {"rule: {} tiers", "v1", "ConfigMap", [](size_t bytes) { return Tiers(Same("{}"), bytes); }},
      {"rule: a tier for each group", "v1", "ConfigMap",
       [](size_t bytes) {
         return Tiers(
             [](size_t i) { return Escaped(R"({"group_list":[)") + Group("g" + N(i)) + "]}"; },
             bytes);
       }},
      {"rule: comments", "v1", "ConfigMap", Comments},
      {"rank table: {} servers", "v1", "ConfigMap", RankTable},

      {"StormService: {} roles", kStorm, "StormService", EmptyRoles},
      {"StormService: {} roles, update", kStorm, "StormService", EmptyRoles, EmptyRoles},
      {"StormService: padded {} roles", kStorm, "StormService", PaddedRoles},
      {"StormService: padded {} roles, update", kStorm, "StormService", PaddedRoles, PaddedRoles},
      {"StormService: named roles", kStorm, "StormService",
       [](size_t bytes) {
         return Roles([](size_t i) { return R"({"name":"r)" + N(i) + R"("})"; }, bytes);
       }},
      {"StormService: numbers for roles", kStorm, "StormService",
       [](size_t bytes) { return Roles(Same("1"), bytes); }},
      {"StormService: NPU roles", kStorm, "StormService", NpuRoles},
      {"StormService: NPU roles, update", kStorm, "StormService", NpuRoles, NpuRoles},
      {"StormService: NPU roles, moved", kStorm, "StormService", NpuRoles, ShiftedNpuRoles},
      {"StormService: one NPU role in {}", kStorm, "StormService", OneNpuRole},
      {"StormService: one in {}, update", kStorm, "StormService", OneNpuRole, OneNpuRole},
      {"StormService: one in padded {}", kStorm, "StormService",
       [](size_t bytes) {
         return Roles([](size_t i) { return i == 0 ? NamedNpus(i) : string(kPadded); }, bytes);
       }},
      {"StormService: NPU pod sets", kStorm, "StormService",
       [](size_t bytes) {
         return Roles([](size_t i) { return NamedNpus(i, R"("podGroupSize":2,)"); }, bytes);
       }},

      {"vcjob: {} tasks", kVolcano, "Job", EmptyTasks},
      {"vcjob: {} tasks, update", kVolcano, "Job", EmptyTasks, EmptyTasks},
      {"vcjob: padded {} tasks", kVolcano, "Job",
       [](size_t bytes) { return Tasks(Same(kPadded), bytes); }},
      {"vcjob: named tasks", kVolcano, "Job",
       [](size_t bytes) {
         return Tasks([](size_t i) { return R"({"name":"t)" + N(i) + R"("})"; }, bytes);
       }},
      {"vcjob: NPU tasks", kVolcano, "Job", NpuTasks},
      {"vcjob: NPU tasks, update", kVolcano, "Job", NpuTasks, NpuTasks},
      {"AscendJob: {} replica types", kAscend, "AscendJob",
       [](size_t bytes) { return ReplicaTypes(Same("{}"), bytes); }},
      {"AscendJob: NPU replica types", kAscend, "AscendJob", NpuReplicaTypes},
      {"AscendJob: NPU replica types, update", kAscend, "AscendJob", NpuReplicaTypes,
       NpuReplicaTypes},
      {"InferServiceSet: {} roles", kInfer, "InferServiceSet",
       [](size_t bytes) { return InferRoles(Same("{}"), bytes); }},
      {"InferServiceSet: padded {} roles", kInfer, "InferServiceSet",
       [](size_t bytes) { return InferRoles(Same(kPadded), bytes); }},
      {"InferServiceSet: NPU roles", kInfer, "InferServiceSet",
       [](size_t bytes) { return InferRoles(InferRole, bytes); }},

      {"Pod: resource names in limits", "v1", "Pod",
       [](size_t bytes) {
         return Limits([](size_t i) { return R"("huawei.com/r)" + N(i) + R"(":"1")"; }, bytes);
       }},
      {"Pod: NPU names in both", "v1", "Pod", LimitsAndRequests},
      {"Pod: virtual NPUs in limits", "v1", "Pod",
       [](size_t bytes) {
         return Limits([](size_t i) { return R"("huawei.com/Ascend910-)" + N(i) + R"(c":"1")"; },
                       bytes);
       }},
      {"Pod: {} containers", "v1", "Pod",
       [](size_t bytes) { return Containers(Same("{}"), bytes); }},
      {"Pod: padded {} containers", "v1", "Pod",
       [](size_t bytes) { return Containers(Same(kPadded), bytes); }},
      {"Pod: NPU containers", "v1", "Pod",
       [](size_t bytes) { return Containers(Same(kNpuContainer), bytes); }},
      {"Pod: NPU init containers", "v1", "Pod",
       [](size_t bytes) {
         return PodWith(R"("initContainers":[)", Same(kNpuContainer), "]", bytes);
       }},
      {"Pod: env", "v1", "Pod",
       [](size_t bytes) {
         return Env([](size_t i) { return R"({"name":"V)" + N(i) + R"(","value":"v"})"; }, bytes);
       }},
      {"Pod: env with two sources", "v1", "Pod",
       [](size_t bytes) {
         return Env(Same(R"({"name":"V","value":"v","valueFrom":{"fieldRef":{}}})"), bytes);
       }},
      {"Pod: numbers for env", "v1", "Pod", [](size_t bytes) { return Env(Same("0"), bytes); }},
      {"Pod: padded {} env", "v1", "Pod", [](size_t bytes) { return Env(Same(kPadded), bytes); }},
      {"Pod: node selectors", "v1", "Pod",
       [](size_t bytes) {
         return PodWith(
             R"("nodeSelector":{)",
             [](size_t i) { return R"("accelerator-typ)" + N(i) + R"(":"a")"; }, "}", bytes);
       }},
      {"Pod: rank-table volumes", "v1", "Pod",
       [](size_t bytes) {
         return PodWith(
             R"("volumes":[)",
             [](size_t i) {
               return R"({"name":"v","configMap":{"name":"rings-config-)" + N(i) + R"("}})";
             },
             "]", bytes);
       }},
      {"Pod: scheduling gates", "v1", "Pod",
       [](size_t bytes) {
         return PodWith(
             R"("schedulingGates":[)", [](size_t i) { return R"({"name":"g)" + N(i) + R"("})"; },
             "]", bytes);
       }},
      {"Pod: near-miss labels", "v1", "Pod",
       [](size_t bytes) { return NearMisses("labels", bytes); }},
      {"Pod: near-miss annotations", "v1", "Pod",
       [](size_t bytes) { return NearMisses("annotations", bytes); }},
      {"Deployment: template labels", "apps/v1", "Deployment",
       [](size_t bytes) {
         return TemplateLabels([](size_t i) { return R"("l)" + N(i) + R"(":"v")"; }, bytes);
       }},
      {"Deployment: numbers for labels", "apps/v1", "Deployment",
       [](size_t bytes) {
         return TemplateLabels([](size_t i) { return R"("l)" + N(i) + R"(":0)"; }, bytes);
       }},
      {"LeaderWorkerSet: NPU containers", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
       [](size_t bytes) {
         return Filled(string(kMetadata) +
                           R"(,"spec":{"leaderWorkerTemplate":{"size":2,"workerTemplate":)"
                           R"({"spec":{"containers":[)",
                       Same(kNpuContainer), "]}}}}", bytes);
       }},
      {"InferenceService: NPU containers", kOme, "InferenceService",
       [](size_t bytes) {
         return Filled(string(kMetadata) + R"(,"spec":{"engine":{"minReplicas":2,"containers":[)",
                       Same(kNpuContainer), "]}}", bytes);
       }},
      {"ServingRuntime: NPU containers", kOme, "ServingRuntime",
       [](size_t bytes) {
         return Filled(string(kMetadata) + R"(,"spec":{"engineConfig":{"containers":[)",
                       Same(kNpuContainer), "]}}", bytes);
       }},

      {"unread: numbers", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", Same("0"), "]", bytes); }},
      {"unread: long floats", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", Same("1.7976931348623157e307"), "]", bytes); }},
      {"unread: {}", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", Same("{}"), "]", bytes); }},
      {"unread: padded {}", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", Same(kPadded), "]", bytes); }},
      {"unread: empty texts", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", Same(R"("")"), "]", bytes); }},
      {"unread: members", kStorm, "StormService",
       [](size_t bytes) {
         return Unread("{", [](size_t i) { return R"("k)" + N(i) + R"(":0)"; }, "}", bytes);
       }},
      {"unread: one key many times", kStorm, "StormService",
       [](size_t bytes) { return Unread("{", Same(R"("k":0)"), "}", bytes); }},
      {"unread: long keys, same begin", kStorm, "StormService",
       [](size_t bytes) {
         return Unread(
             "{", [](size_t i) { return '"' + string(200, 'k') + N(i) + R"(":0)"; }, "}", bytes);
       }},
      {"unread: nested to 100", kStorm, "StormService",
       [](size_t bytes) { return Unread("[", [](size_t) { return Nested(100); }, "]", bytes); }},
      {"unread: nested without end", kStorm, "StormService",
       [](size_t bytes) { return Unread(Nested(bytes / 2), Same(""), "", 0); }},
      {"unread: one text", kStorm, "StormService",
       [](size_t bytes) { return Unread(R"(")", Same("x"), R"(")", bytes, ""); }},
      {"unread: one text of escapes", kStorm, "StormService",
       [](size_t bytes) { return Unread(R"(")", Same(R"(\u0001)"), R"(")", bytes, ""); }},
      {"unread: managed fields", kStorm, "StormService", ManagedFields},

      {"body: [0,0,...]", "", "", [](size_t bytes) { return Filled("[", Same("0"), "]", bytes); }},
      {"body: [[[...", "", "", [](size_t bytes) { return string(bytes, '['); }},
      {"body: a text without end", "", "", [](size_t bytes) { return "\"" + string(bytes, 'x'); }},
      {"body: empty lines", "", "", [](size_t bytes) { return string(bytes, '\n'); }},
  };
}

}  // namespace mindgate::testing
