#include "deploy/application.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "deploy/config.h"
#include "deploy/render.h"
#include "json/value.h"

namespace mindgate::deploy {
namespace {

using json::Json;
using schemas::Boolean;
using schemas::Key;
using schemas::Object;
using schemas::Whole;

constexpr int64_t kMaxTolerationSeconds = 365LL * 24 * 3600;

// --- the file ------------------------------------------------------------------------------------

Type<std::string> VolumeName() {
  return schemas::Parsed<std::string>(
      schemas::NonEmptyText(), [](std::string text, const Field& field) {
        if (!IsDns1123Label(text)) {
          field.Fault(Quote(text) + " cannot be the name of a volume",
                      "write at most 63 lower-case letters, digits and '-'");
        }
        return text;
      });
}

Type<std::string> QualifiedKey() {
  return schemas::Parsed<std::string>(schemas::NonEmptyText(),
                                      [](std::string text, const Field& field) {
                                        if (!IsQualifiedName(text)) {
                                          field.Fault(Quote(text) + " cannot be the key of a taint",
                                                      "write dedicated, or example.com/dedicated");
                                        }
                                        return text;
                                      });
}

Type<Toleration> TolerationTable() {
  return Object<Toleration>(
      {{"key", "Key of the taint; absent, with operator Exists: every taint.", &Toleration::key,
        QualifiedKey()},
       {"operator", "Whether the value must be that of the taint.", &Toleration::op,
        schemas::Word({"Equal", "Exists"})},
       {"value", "Value of the taint.", &Toleration::value, LabelText()},
       {"effect", "Effect of the taint; absent: every effect.", &Toleration::effect,
        schemas::Word({"NoSchedule", "PreferNoSchedule", "NoExecute"})},
       {"tolerationSeconds", "How long a pod stays on a node that gets the taint.",
        &Toleration::seconds, Whole(0, kMaxTolerationSeconds)}},
      [](Toleration& toleration, const Field& field) {
        if (toleration.key.empty() && toleration.op != "Exists") {
          field.Fault("a toleration without a key tolerates every taint only with operator Exists",
                      "add key:, or operator: Exists");
        }
        if (toleration.op == "Exists" && !toleration.value.empty()) {
          field.reading.Fault(json::Child(field.path, "value"),
                              "with operator Exists no value is compared", "remove value");
        }
        if (toleration.seconds && toleration.effect != "NoExecute") {
          field.reading.Fault(json::Child(field.path, "tolerationSeconds"),
                              "only taints of effect NoExecute send pods away",
                              "write effect: NoExecute, or remove tolerationSeconds");
        }
      });
}

Type<EmptyDir> EmptyDirTable() {
  return Object<EmptyDir>(
      {Key<EmptyDir>::Calling(
           "medium", "Memory: a tmpfs. Absent: the disk of the node.", schemas::Word({"Memory"}),
           [](EmptyDir& out, const std::string&, const Field&) { out.in_memory = true; }),
       {"size_limit", "How much it may hold.", &EmptyDir::size_limit, Quantity()}});
}

Type<VolumeSettings> VolumeTable() {
  using V = VolumeSettings;
  return Object<V>(
      {{"name",
        "Name of the volume. One that mindgate makes, such as model, gets this source instead of "
        "its own.",
        &V::name, VolumeName(), schemas::kRequired},
       {"mount_path", "Where the container sees it; absent: where mindgate mounts the volume.",
        &V::mount_path, AbsolutePath()},
       {"sub_path", "What of the volume is mounted; absent: all of it.", &V::sub_path,
        schemas::NonEmptyText()},
       {"read_only", "Whether the container may not write to it.", &V::read_only, Boolean()},
       {"claim", "Name of a PersistentVolumeClaim.", &V::claim, ObjectName()},
       {"config_map", "Name of a ConfigMap.", &V::config_map, ObjectName()},
       {"secret", "Name of a Secret.", &V::secret, ObjectName()},
       {"host_path", "Folder or file of the node.", &V::host_path, AbsolutePath()},
       {"empty_dir", "An empty folder, which goes with the pod.", &V::empty_dir, EmptyDirTable()}},
      [](V& volume, const Field& field) {
        const int sources = (volume.claim ? 1 : 0) + (volume.config_map ? 1 : 0) +
                            (volume.secret ? 1 : 0) + (volume.host_path ? 1 : 0) +
                            (volume.empty_dir ? 1 : 0);
        if (sources == 1) return;
        field.Fault(sources == 0 ? "the volume has no source" : "the volume has several sources",
                    "write one of claim, config_map, secret, host_path and empty_dir: {}");
      });
}

// --- the object ----------------------------------------------------------------------------------

Json Rendered(const Toleration& toleration) {
  Json out = {{"operator", toleration.op}};
  if (!toleration.key.empty()) out["key"] = toleration.key;
  if (!toleration.value.empty()) out["value"] = toleration.value;
  if (!toleration.effect.empty()) out["effect"] = toleration.effect;
  if (toleration.seconds) out["tolerationSeconds"] = *toleration.seconds;
  return out;
}

Json Rendered(const VolumeSettings& volume) {
  Json out = {{"name", volume.name}};
  if (volume.claim) out["persistentVolumeClaim"] = {{"claimName", *volume.claim}};
  if (volume.config_map) out["configMap"] = {{"name", *volume.config_map}};
  if (volume.secret) out["secret"] = {{"secretName", *volume.secret}};
  if (volume.host_path) out["hostPath"] = {{"path", *volume.host_path}};
  if (volume.empty_dir) {
    out["emptyDir"] = Json::object();
    if (volume.empty_dir->in_memory) out["emptyDir"]["medium"] = "Memory";
    if (volume.empty_dir->size_limit) out["emptyDir"]["sizeLimit"] = *volume.empty_dir->size_limit;
  }
  return out;
}

Json* ItemWith(Json& list, const char* key, const std::string& value) {
  for (Json& item : list) {
    if (item.value(key, "") == value) return &item;
  }
  return nullptr;
}

void AddVolume(RenderedObject& rendered, const std::string& pod_spec, const std::string& container,
               const VolumeSettings& volume, const std::string& written) {
  Json& volumes = rendered.object[Json::json_pointer(pod_spec + "/volumes")];
  if (volumes.is_null()) volumes = Json::array();
  Json* ours = ItemWith(volumes, "name", volume.name);
  if (ours != nullptr) {
    *ours = Rendered(volume);
  } else {
    if (volume.mount_path.empty()) {
      rendered.faults.push_back({written,
                                 "mindgate makes no volume " + Quote(volume.name) +
                                     " here, so that it has no place in the container",
                                 "add mount_path:"});
      return;
    }
    volumes.push_back(Rendered(volume));
  }
  const size_t index =
      ours != nullptr ? static_cast<size_t>(ours - &volumes[0]) : volumes.size() - 1;
  rendered.origins.push_back({json::Child(pod_spec + "/volumes", index), written});
  Json& mounts = rendered.object[Json::json_pointer(container + "/volumeMounts")];
  if (mounts.is_null()) mounts = Json::array();
  if (volume.mount_path.empty()) return;
  const Json* there = ItemWith(mounts, "mountPath", volume.mount_path);
  if (there != nullptr && there->value("name", "") != volume.name) {
    rendered.faults.push_back({json::Child(written, "mount_path"),
                               "volume " + Quote(there->value("name", "")) + " is mounted there",
                               "choose another path"});
    return;
  }
  if (there != nullptr) return;
  Json mount = Mount(volume.name, volume.mount_path);
  if (!volume.sub_path.empty()) mount["subPath"] = volume.sub_path;
  if (volume.read_only) mount["readOnly"] = true;
  mounts.push_back(std::move(mount));
}

}  // namespace

Type<std::vector<Toleration>> TolerationList() { return schemas::List(TolerationTable()); }
Type<std::vector<VolumeSettings>> VolumeList() { return schemas::List(VolumeTable()); }

void AddExtras(RenderedObject& rendered, const std::string& pod_spec, const std::string& container,
               const PodExtras& extras, const std::string& written, const ExtraNames& names) {
  if (extras.empty()) return;
  const auto at = [&](const char* member) -> Json& {
    return rendered.object[Json::json_pointer(pod_spec + "/" + member)];
  };
  const auto note = [&](const char* member, const char* key) {
    rendered.origins.push_back({pod_spec + "/" + member, json::Child(written, key)});
  };
  if (!extras.tolerations.empty()) {
    for (const Toleration& each : extras.tolerations) at("tolerations").push_back(Rendered(each));
    note("tolerations", "tolerations");
  }
  if (!extras.image_pull_secrets.empty()) {
    for (const std::string& each : extras.image_pull_secrets) {
      at("imagePullSecrets").push_back({{"name", each}});
    }
    note("imagePullSecrets", names.image_pull_secrets);
  }
  if (!extras.priority_class.empty()) {
    at("priorityClassName") = extras.priority_class;
    note("priorityClassName", names.priority_class);
  }
  const std::string list = json::Child(written, "volumes");
  std::set<std::string> names_of_volumes;
  for (size_t i = 0; i < extras.volumes.size(); ++i) {
    const VolumeSettings& volume = extras.volumes[i];
    const std::string place = json::Child(list, i);
    if (!names_of_volumes.insert(volume.name).second) {
      rendered.faults.push_back({place, "there are two volumes " + Quote(volume.name),
                                 "rename one of them, or mount it twice with a patch"});
      continue;
    }
    AddVolume(rendered, pod_spec, container, volume, place);
  }
}

void AddAmounts(Json& container, const ResourceSettings& settings) {
  const auto add = [&container](const char* which, const Amounts& amounts) {
    if (amounts.memory) container["resources"][which]["memory"] = *amounts.memory;
    if (amounts.cpu) container["resources"][which]["cpu"] = *amounts.cpu;
  };
  add("requests", settings.requests);
  add("limits", settings.limits);
}

namespace {

std::string Last(int64_t count) { return std::to_string(count - 1); }

// The pods of a Deployment have random ends, and are cut to fit. Those of a LeaderWorkerSet are
// named after it, the group and the place in the group (lws: pkg/webhooks/pod_webhook.go).
void AddComponent(const std::string& app, const char* name, const OmeComponent& component,
                  std::vector<DerivedName>& names) {
  const std::string base = app + "-" + name;
  if (component.pod_num == 1) {
    names.push_back({base, "Service"});
    return;
  }
  names.push_back({base + "-" + Last(component.Max()) + "-" + Last(component.pod_num), "pod"});
}

std::vector<DerivedName> NamesOf(const std::string& app, const OmeService& service) {
  std::vector<DerivedName> names;
  AddComponent(app, "engine", service.engine, names);
  if (service.decoder) {
    AddComponent(app, "decoder", *service.decoder, names);
    names.push_back({app + "-mf-store", "Service"});
  }
  if (service.router) names.push_back({app + "-router", "Service"});
  return names;
}

std::vector<DerivedName> NamesOf(const std::string& app, const StormService& service) {
  std::vector<DerivedName> names;
  for (const auto& [name, role] :
       {std::pair("prefill", &service.prefill), std::pair("decode", &service.decode)}) {
    std::string longest = app + "-" + name + "-" + Last(role->replicas);
    if (role->pod_group_size > 1) {
      longest += "-" + (service.distributed_dp ? Last(role->pod_group_size) : std::string("0"));
    }
    names.push_back({std::move(longest), "Service"});
  }
  if (service.routing) names.push_back({app + "-router", "Service"});
  return names;
}

// Pods are named after the job, the replica type and a number (mind-cluster: ascend-operator).
std::vector<DerivedName> NamesOf(const std::string& app, const MindieService& service) {
  std::vector<DerivedName> names = {{app + "-coordinator-master-0", "pod"}};
  for (const auto& [letter, role] :
       {std::pair("-p", &service.prefill), std::pair("-d", &service.decode)}) {
    const std::string job = app + letter + Last(role->instances);
    names.push_back({job + (role->pod_num > 1 ? "-worker-" + Last(role->pod_num - 1)
                                              : std::string("-master-0")),
                     "pod"});
  }
  return names;
}

}  // namespace

std::string_view FrameworkName(Framework framework) {
  switch (framework) {
    case Framework::kOme:
      return "ome";
    case Framework::kAibrix:
      return "aibrix";
    case Framework::kMindie:
      return "mindie";
  }
  return "";
}

std::optional<Framework> FrameworkNamed(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFrameworks), std::end(kFrameworks),
                                   [name](Framework each) { return FrameworkName(each) == name; });
  if (found == std::end(kFrameworks)) return std::nullopt;
  return *found;
}

std::string_view BlockOf(Framework framework) {
  switch (framework) {
    case Framework::kOme:
      return "inference_service";
    case Framework::kAibrix:
      return "storm_service";
    case Framework::kMindie:
      return "mindie_service";
  }
  return "";
}

std::vector<DerivedName> DerivedNames(const Application& application) {
  return std::visit([&](const auto& service) { return NamesOf(application.name, service); },
                    application.service);
}

}  // namespace mindgate::deploy
