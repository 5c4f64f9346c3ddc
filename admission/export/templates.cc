#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/export/cel_text.h"
#include "admission/export/injections.h"
#include "schemas/names.h"

namespace mindgate::exported {
namespace {

using schemas::Kind;
using schemas::KindInfo;
using schemas::KindSet;

constexpr KindSet kInferRoles = schemas::kInferOperatorKinds;

// One template, as CEL.
struct Row {
  std::string name = "''";
  std::string kind_of_group = "''";
  std::string group = "'pods'";
  std::string metadata;        // of the template, with an operator for its members: "t.?metadata"
  std::string inherited = {};  // the same of what reaches its pods too
  std::string above = "[]";    // a list of what the PodGroup copies: metadata
  std::string spec;
  std::string job = "''";
  std::string part = "{}";
  bool ome = false;
  bool router = false;
};

std::string MapOf(const std::string& metadata, std::string_view key) {
  return metadata + ".?" + std::string(key) + ".orValue({})";
}

std::string Text(const Row& row) {
  std::string metadata = row.metadata + ".orValue({})";
  if (!row.inherited.empty()) metadata += ", " + row.inherited + ".orValue({})";
  return "{'name': dyn(" + row.name + "), 'kindOfGroup': dyn(" + row.kind_of_group +
         "), 'group': dyn(" + row.group + "), 'metadata': dyn([" + metadata + "]), 'above': dyn(" +
         row.above + "), 'spec': dyn(" + row.spec + ".orValue({})), 'job': dyn(" + row.job +
         "), 'part': dyn(" + row.part + "), 'ome': dyn(" + (row.ome ? "true" : "false") +
         "), 'router': dyn(" + (row.router ? "true" : "false") + ")}";
}

// What a kind has: its list of templates, and how its maps and parts are found.
struct Texts {
  std::string templates = "[]";
  std::string labels = "[]";  // the maps that reach pods, with KEY for labels or annotations
  std::string parts = "[]";
  std::string holder = "{}";
};

std::string Dotted(std::string_view pointer) {
  std::string path = "object";
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    path += ".?" + std::string(pointer.substr(0, end));
    pointer.remove_prefix(end);
  }
  return path;
}

constexpr std::string_view kKey = "KEY";
std::string MapHere(const std::string& metadata) { return MapOf(metadata, kKey); }

Texts OfNative(const KindInfo& info) {
  Row row;
  if (info.template_holder.empty()) {
    row.metadata = "object.?metadata";
    row.spec = "object.?spec";
    row.kind_of_group = "'Pod'";
  } else {
    const std::string pod_template = Dotted(info.template_holder) + ".?template";
    row.metadata = pod_template + ".?metadata";
    row.spec = pod_template + ".?spec";
    row.kind_of_group = "'ReplicaSet'";
  }
  return {.templates = "[" + Text(row) + "]", .labels = "[" + MapHere(row.metadata) + "]"};
}

Texts OfAscendJob() {
  const std::string specs = "object.?spec.?replicaSpecs.orValue({})";
  const std::string keys = specs + ".filter(k, type(object.spec.replicaSpecs[k]) == map)";
  const std::string part = "object.spec.replicaSpecs[k]";
  Row row;
  row.name = "k";
  row.kind_of_group = "'AscendJob'";
  row.metadata = part + ".?template.?metadata";
  row.spec = part + ".?template.?spec";
  row.above = "[object.?metadata.orValue({})]";
  // The operator gives its own choice to the pods only when no template names a scheduler at all.
  row.job = keys +
            ".exists(n, object.spec.replicaSpecs[n].?template.?spec.?schedulerName."
            "orValue('') != '') ? '' : object.?spec.?schedulerName.orValue('')";
  row.part = part;
  return {.templates = keys + ".map(k, " + Text(row) + ")",
          .labels = "[" + MapHere("object.?metadata") + "] + " + keys + ".map(k, " +
                    MapHere(row.metadata) + ")",
          .parts = keys + ".map(k, object.spec.replicaSpecs[k])",
          .holder = "object.?spec.orValue({})"};
}

// Templates in a list of roles or tasks.
std::string MapsOf(const std::string& list, const Row& row, const std::string& part) {
  return list + ".map(" + part + ", " + Text(row) + ")";
}

Texts OfVolcanoJob(const KindInfo& info) {
  const bool cron = info.kind == Kind::kVolcanoCronJob;
  const std::string job = cron ? "object.?spec.?jobTemplate" : "object";
  const std::string tasks = job + ".?spec.?tasks.orValue([]).filter(r, type(r) == map)";
  Row row;
  row.name = "r.?name.orValue('')";
  row.kind_of_group = "'VolcanoJob'";
  row.metadata = "r.?template.?metadata";
  row.spec = "r.?template.?spec";
  row.above = "[" + job + ".?metadata.orValue({})]";
  row.job = job + ".?spec.?schedulerName.orValue('')";
  row.part = "r";
  return {.templates = MapsOf(tasks, row, "r"),
          .labels = "[" + MapHere(job + ".?metadata") + "] + " + tasks + ".map(r, " +
                    MapHere(row.metadata) + ")",
          .parts = tasks,
          .holder = job + ".?spec.orValue({})"};
}

Texts OfLeaderWorkerSet() {
  Texts texts{.templates = "", .labels = ""};
  for (std::string_view name : {"leader", "worker"}) {
    const std::string pod_template =
        "object.?spec.?leaderWorkerTemplate.?" + std::string(name) + "Template";
    Row row;
    row.name = Quoted(name);
    row.kind_of_group = "'LeaderWorkerSet'";
    row.metadata = pod_template + ".?metadata";
    row.spec = pod_template + ".?spec";
    const std::string there = "(" + pod_template + ".hasValue() ? [";
    if (!texts.templates.empty()) texts.templates += " + ";
    texts.templates += there + Text(row) + "] : [])";
    if (!texts.labels.empty()) texts.labels += " + ";
    texts.labels += there + MapHere(row.metadata) + "] : [])";
  }
  return texts;
}

// One component of OME: a pod, or a leader with workers.
void AddComponent(const std::string& key, std::string_view name, bool service, bool router,
                  const std::string& condition, Texts& texts) {
  const std::string value = "object.?spec.?" + key;
  Row row;
  row.name = Quoted(name);
  row.group = Quoted(name);
  row.metadata = value;
  if (service) row.inherited = "object.?metadata";
  row.ome = true;
  row.router = router;
  row.spec = value;
  std::string multi = value + ".?leader.hasValue() || " + value + ".?worker.hasValue()";
  if (name == "engine") {
    const std::string mode =
        value + ".?annotations[?" + Quoted(schemas::kOmeDeploymentMode) + "].orValue('')";
    multi = mode + " != 'RawDeployment' && (" + mode + " == 'MultiNode' || " + multi + ")";
  }
  multi = "(" + multi + ")";
  row.kind_of_group = multi + " ? 'LeaderWorkerSet' : 'ReplicaSet'";
  const std::string first = Text(row);
  row.kind_of_group = "'LeaderWorkerSet'";
  const auto member = [&](std::string_view part) {
    row.name = Quoted(std::string(name) + "." + std::string(part));
    row.spec = value + ".?" + std::string(part);
    return Text(row);
  };
  if (!texts.templates.empty()) texts.templates += " + ";
  texts.templates += "(!(" + condition + value + ".hasValue()) ? [] : (" + multi + " && " + value +
                     ".?leader.hasValue() ? [" + member("leader") + "] : [" + first + "]) + (" +
                     multi + " && " + value + ".?worker.hasValue() ? [" + member("worker") +
                     "] : []))";
  if (!texts.labels.empty()) texts.labels += " + ";
  texts.labels += "(" + condition + value + ".hasValue() ? [" + MapHere(value) + "] : [])";
}

Texts OfOme(const KindInfo& info) {
  const bool service = schemas::kInferenceServices.Has(info.kind);
  Texts texts{.templates = "", .labels = ""};
  for (std::string_view name : {"engine", "decoder", "router"}) {
    AddComponent(std::string(name) + (service ? "" : "Config"), name, service, name == "router", "",
                 texts);
  }
  if (!service) return texts;
  // The older way to write an engine.
  AddComponent("predictor", "predictor", service, false,
               "!object.?spec.?engine.hasValue() && !object.?spec.?model.hasValue() && ", texts);
  texts.labels = "(" + texts.labels + ") + [" + MapHere("object.?metadata") + "]";
  return texts;
}

Texts OfAibrix(const KindInfo& info) {
  // Volcano groups the pods that name it, or that get its name.
  Row row;
  if (info.kind == Kind::kPodSet) {
    row.kind_of_group = "'PodSet'";
    row.metadata = "object.?spec.?template.?metadata";
    row.inherited = "object.?metadata";
    row.spec = "object.?spec.?template.?spec";
    row.part = "object.?spec.orValue({})";
    return {.templates = "[" + Text(row) + "]",
            .labels = "[" + MapHere(row.metadata) + ", " + MapHere("object.?metadata") + "]",
            .parts = "[object.?spec.orValue({})]",
            .holder = "object.?spec.orValue({})"};
  }
  const std::string holder =
      info.kind == Kind::kRoleSet ? "object.?spec" : "object.?spec.?template.?spec";
  const std::string roles = holder + ".?roles.orValue([]).filter(r, type(r) == map)";
  const std::string large = "r.?podGroupSize.orValue(1) > 1";
  row.name = "r.?name.orValue('')";
  row.kind_of_group = large + " ? 'PodSet' : 'RoleSet'";
  row.group = large + " ? 'role ' + r.?name.orValue('') : 'roles'";
  row.metadata = "r.?template.?metadata";
  row.spec = "r.?template.?spec";
  row.part = "r";
  return {.templates = MapsOf(roles, row, "r"),
          .labels = roles + ".map(r, " + MapHere(row.metadata) + ")",
          .parts = roles,
          .holder = holder + ".orValue({})"};
}

Texts OfInferOperator(const KindInfo& info) {
  constexpr std::string_view kGangLabel = "infer.huawei.com/gang-schedule";
  const bool instance_set = info.kind == Kind::kInstanceSet;
  const std::string holder =
      info.kind == Kind::kInferServiceSet ? "object.?spec.?template" : "object.?spec";
  const std::string parts = instance_set ? "[object.?spec.orValue({})]"
                                         : holder + ".?roles.orValue([]).filter(r, type(r) == map)";
  const std::string roles = parts + ".filter(r, r.?spec.?template.hasValue())";
  const std::string metadata = instance_set ? "object.?metadata" : "r.?metadata";
  const std::string gang = metadata + ".?labels[?" + Quoted(kGangLabel) + "].orValue('') == 'true'";
  Row row;
  row.name = "r.?name.orValue('')";
  row.kind_of_group = gang + " ? 'Instance' : 'ReplicaSet'";
  row.group = "r.?name.orValue('')";
  row.metadata = "r.?spec.?template.?metadata";
  row.spec = "r.?spec.?template.?spec";
  row.above = "(" + gang + " ? [" + metadata + ".orValue({})] : [])";
  row.part = "r";
  return {.templates = MapsOf(roles, row, "r"),
          .labels = roles + ".filter(r, " + gang + ").map(r, " + MapHere(metadata) + ") + " +
                    roles + ".map(r, " + MapHere(row.metadata) + ")",
          .parts = parts,
          .holder = holder + ".orValue({})"};
}

// Nothing: its pod templates are not written in CEL.
std::optional<Texts> TextsOf(const KindInfo& info) {
  if (info.kind == Kind::kAscendJob) return OfAscendJob();
  if (schemas::kVolcanoJobs.Has(info.kind)) return OfVolcanoJob(info);
  if (schemas::kLeaderWorkerSets.Has(info.kind)) return OfLeaderWorkerSet();
  if (schemas::kOmeKinds.Has(info.kind)) return OfOme(info);
  if (schemas::kAibrixKinds.Has(info.kind)) return OfAibrix(info);
  if (kInferRoles.Has(info.kind)) return OfInferOperator(info);
  if (schemas::kPodGroups.Has(info.kind)) {
    return Texts{.labels = "[" + MapHere("object.?metadata") + "]"};
  }
  if (!schemas::kWorkloads.Has(info.kind)) return Texts();
  if (info.kind == Kind::kPod || !info.template_holder.empty()) return OfNative(info);
  return std::nullopt;
}

// One text for all kinds: what `of` gives for each, chosen by variables.kind. Where `parts` is
// given, each of several texts is a variable of its own, whose name begins with `name`.
template <typename Of>
std::string ByKind(KindSet kinds, std::string_view otherwise, Of of, std::string_view name = {},
                   std::vector<Variable>* parts = nullptr) {
  std::vector<std::pair<std::string, KindSet>> texts;
  for (const KindInfo& info : schemas::kKinds) {
    if (!kinds.Has(info.kind)) continue;
    const std::string text = of(TextsOf(info).value_or(Texts()));
    auto same = std::find_if(texts.begin(), texts.end(),
                             [&](const auto& each) { return each.first == text; });
    if (same == texts.end()) same = texts.insert(texts.end(), {text, {}});
    same->second = same->second | KindSet{info.kind};
  }
  if (texts.size() == 1) return texts.front().first;
  std::string all;
  for (const auto& [text, of_kinds] : texts) {
    std::string shown = "(" + text + ")";
    if (parts != nullptr && text != otherwise) {
      parts->push_back({std::string(name) + std::to_string(parts->size() + 1), text});
      shown = "variables." + parts->back().name;
    }
    all += "(" + IsOf(of_kinds) + ") ? " + shown + " : ";
  }
  return all + std::string(otherwise);
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A member of a map that one step makes, with its text.
struct Member {
  std::string name;
  std::string text;
};

// The members that `reader` names, of every element of the variable.
std::string MapEach(std::string_view variable, const std::vector<Member>& members,
                    std::string_view reader) {
  std::string map;
  for (const Member& member : members) {
    if (!NamesMember(reader, member.name)) continue;
    if (!map.empty()) map += ", ";
    map += Quoted(member.name) + ": dyn(" + member.text + ")";
  }
  return "variables." + std::string(variable) + ".map(t, {" + map + "})";
}

std::vector<Member> Copied(std::initializer_list<std::string_view> names) {
  std::vector<Member> members;
  for (std::string_view name : names) {
    members.push_back({std::string(name), "t." + std::string(name)});
  }
  return members;
}

}  // namespace

bool NamesMember(std::string_view text, std::string_view member) {
  return HasWord(text, "t." + std::string(member)) || HasWord(text, "u." + std::string(member));
}

KindSet UnreadKinds() {
  static const KindSet unread = [] {
    KindSet kinds;
    for (const KindInfo& info : schemas::kKinds) {
      if (!TextsOf(info)) kinds = kinds | KindSet{info.kind};
    }
    return kinds;
  }();
  return unread;
}

std::vector<Variable> RawTemplates(KindSet kinds) {
  std::vector<Variable> variables;
  std::string chosen = ByKind(
      kinds, "[]", [](const Texts& texts) { return texts.templates; }, "templatesOf", &variables);
  variables.push_back({"rawTemplates", std::move(chosen)});
  return variables;
}

std::string PodTemplates(std::string_view reader) {
  const auto maps = [](std::string_view of, std::string_view key) {
    return "t." + std::string(of) + ".map(m, m.?" + std::string(key) +
           ".orValue({})).map(m, type(m) == map ? m : {})";
  };
  std::vector<Member> members = Copied({"name", "kindOfGroup", "group", "part", "router", "spec"});
  members.push_back({"labels", maps("metadata", "labels")});
  members.push_back({"annotations", maps("metadata", "annotations")});
  members.push_back({"groupLabels", maps("above", "labels")});
  members.push_back({"groupAnnotations", maps("above", "annotations")});
  members.push_back({"containers",
                     "(t.ome && t.spec.?runner.hasValue() ? [t.spec.runner] : []) + "
                     "t.spec.?containers.orValue([])"});
  members.push_back({"init", "t.spec.?initContainers.orValue([])"});
  members.push_back(
      {"hasSpec", "!t.ome || ['runner', 'containers', 'schedulerName'].exists(k, k in t.spec)"});
  members.push_back(
      {"scheduler", "t.spec.?schedulerName.orValue('') != '' ? t.spec.schedulerName : t.job"});
  return MapEach("rawTemplates", members, reader);
}

std::string CountedTemplates(const schemas::Config& config, std::string_view reader) {
  const std::string any = "(t.containers + t.init).exists(c, ";
  std::vector<Member> members =
      Copied({"name", "kindOfGroup", "group", "part", "router", "spec", "labels", "annotations",
              "groupLabels", "groupAnnotations", "containers", "init", "hasSpec", "scheduler"});
  const std::string foreign =
      "t.scheduler == 'hami-scheduler' || 'huawei.com/vnpu-mode' in "
      "t.annotations[0] || " +
      any + AsksFor("c", ForeignNames(config)) + ")";
  members.push_back({"foreign", foreign});
  members.push_back({"npus", any + AsksFor("c", NpuNames(config)) + ") && !(" + foreign + ")"});
  return MapEach("podTemplates", members, reader);
}

std::string Templates(KindSet kinds, const schemas::Config& config, std::string_view reader) {
  constexpr KindSet kBuiltIn =
      schemas::KindsWith([](const KindInfo& info) { return info.built_in; });
  constexpr KindSet kFrozen =
      schemas::KindsWith([](const KindInfo& info) { return info.template_frozen; });
  const auto is_of = [&](KindSet some) {
    return some.Intersects(kinds) ? IsOf(kinds - (kinds - some)) : std::string("false");
  };
  const std::string off =
      config.disabled_mutators.contains("scheduler-name") ? "true" : "variables.declined";
  const std::string unset =
      "t.scheduler == '' || t.scheduler == 'default-scheduler' && " + is_of(kBuiltIn);
  const std::string left = "(" + unset + ") && t.hasSpec && (" + is_of(kFrozen) +
                           " && request.operation == 'UPDATE' || t.kindOfGroup != 'AscendJob' && " +
                           off + ")";
  const std::string volcanos =
      ListOf({std::string_view(config.scheduler), schemas::kVolcanoScheduler});
  std::string named = "t.scheduler in " + volcanos;
  for (const std::string_view word :
       {std::string_view(config.scheduler), schemas::kVolcanoScheduler}) {
    named += " || t.scheduler.matches(" + Quoted(NearMisses(word)) +
             ") && !t.scheduler.startsWith(" + Quoted(word) + ")";
    if (config.scheduler == schemas::kVolcanoScheduler) break;
  }
  // As schemas/views/serving.cc groups the roles.
  const bool roles = schemas::kAibrixKinds.Intersects(kinds);
  const std::string router = roles ? is_of(schemas::kAibrixWithRoles) +
                                         " && !t.npus && (variables.anyNpus || t.name in "
                                         "['routing', 'router', 'proxy']) || t.router"
                                   : "t.router";
  const std::string group = roles ? is_of(schemas::kAibrixKinds) + " && (t.scheduler == '' ? " +
                                        router + " : !(t.scheduler in " + volcanos +
                                        ")) ? '' : t.group"
                                  : "t.group";
  std::vector<Member> members =
      Copied({"name", "kindOfGroup", "part", "spec", "labels", "annotations", "groupLabels",
              "groupAnnotations", "containers", "init", "hasSpec", "scheduler", "foreign", "npus"});
  members.push_back({"router", router});
  members.push_back({"group", group});
  members.push_back({"left", left});
  members.push_back({"volcano", "(" + unset + ") ? !(" + left + ") : (" + named + ")"});
  const bool plain = !NamesMember(reader, "left") && !NamesMember(reader, "volcano") &&
                     !(roles && (NamesMember(reader, "router") || NamesMember(reader, "group")));
  if (!plain) return MapEach("countedTemplates", members, reader);
  const bool counted = NamesMember(reader, "npus") || NamesMember(reader, "foreign");
  return counted ? "variables.countedTemplates" : "variables.podTemplates";
}

std::string ReachingMaps(KindSet kinds, Maps maps) {
  const std::string all = ByKind(kinds, "[]", [](const Texts& texts) { return texts.labels; });
  return "(" + Replaced(all, kKey, maps == Maps::kLabels ? "labels" : "annotations") +
         ").filter(m, type(m) == map)";
}

std::string Parts(KindSet kinds) {
  return ByKind(kinds, "[]", [](const Texts& texts) { return texts.parts; });
}

std::string Holder(KindSet kinds) {
  return ByKind(kinds, "{}", [](const Texts& texts) { return texts.holder; });
}

}  // namespace mindgate::exported
