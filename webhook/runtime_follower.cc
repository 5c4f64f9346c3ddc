#include "webhook/runtime_follower.h"

#include <utility>

namespace mindgate::webhook {
namespace {

using json::Member;
using json::Value;
using Path = json::Projection::Path;

// Beside its values: the object itself, its entry and its key.
constexpr size_t kOverhead = 512;

// What json::CopyOf takes from an arena, alignment included. A decoder bounds the depth.
size_t CopiedBytes(const Value& value) {
  size_t bytes = value.text().size();
  if (!value.items().empty()) bytes += alignof(Value) + value.items().size_bytes();
  for (const Value& item : value.items()) bytes += CopiedBytes(item);
  if (!value.members().empty()) bytes += alignof(Member) + value.members().size_bytes();
  for (const Member& member : value.members()) {
    bytes += member.key.size() + CopiedBytes(member.value);
  }
  return bytes;
}

std::string_view TextAt(const Value& object, std::string_view key) {
  return json::AsString(json::FindPath(object, {"metadata", key})).value_or("");
}

std::string KeyOf(const Value& object) {
  return RuntimeFollower::Runtimes::KeyOf(TextAt(object, "namespace"), TextAt(object, "name"));
}

std::string_view NamespaceOf(std::string_view key) { return key.substr(0, key.find('/')); }

// Of a pod spec, which stands inline in a component, its leader and its worker.
void AddPodSpec(const Path& above, std::vector<Path>& fields) {
  const auto add = [&fields](Path path, std::initializer_list<const char*> below) {
    path.insert(path.end(), below.begin(), below.end());
    fields.push_back(std::move(path));
  };
  for (const char* key : {"schedulerName", "restartPolicy", "nodeSelector", "deploymentStrategy"}) {
    add(above, {key});
  }
  Path runner = above;
  runner.emplace_back("runner");
  std::vector<Path> containers = {std::move(runner)};
  for (const char* list : {"containers", "initContainers"}) {
    Path container = above;
    container.insert(container.end(), {list, "*"});
    containers.push_back(std::move(container));
  }
  for (const Path& container : containers) {
    add(container, {"name"});
    for (const char* key : {"name", "value", "valueFrom"}) add(container, {"env", "*", key});
    add(container, {"resources"});
  }
}

}  // namespace

std::vector<Path> Runtime::Fields() {
  std::vector<Path> fields = {
      {"metadata", "labels"}, {"spec", "nodeSelector"}, {"spec", "acceleratorRequirements"}};
  for (const char* component : {"engineConfig", "decoderConfig", "routerConfig"}) {
    for (const char* key : {"labels", "annotations", "minReplicas"}) {
      fields.push_back({"spec", component, key});
    }
    AddPodSpec({"spec", component}, fields);
    AddPodSpec({"spec", component, "leader"}, fields);
    AddPodSpec({"spec", component, "worker"}, fields);
    fields.push_back({"spec", component, "worker", "size"});
  }
  return fields;
}

size_t Runtime::BytesOf(const Value& object) { return kOverhead + CopiedBytes(object); }

Runtime::Runtime(const Value& object, size_t bytes, const kube::Resource& resource)
    : bytes_(bytes), version_(TextAt(object, "resourceVersion")), arena_(bytes) {
  // An item of a list need not say what it is.
  const std::string api_version = resource.api_version();
  Member* const row = arena_.Row<Member>(4);
  size_t count = 0;
  row[count++] = {"apiVersion", Value::OfText(arena_.Text(api_version))};
  row[count++] = {"kind", Value::OfText(arena_.Text(resource.kind))};
  for (const std::string_view key : {"metadata", "spec"}) {
    const Value* member = json::Find(object, key);
    if (member != nullptr) row[count++] = {key, json::CopyOf(*member, arena_)};
  }
  root_ = Value::OfMembers({row, count});
}

RuntimeFollower::RuntimeFollower(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                                 Options options)
    : options_(std::move(options)),
      state_(std::make_shared<const State>()),
      reflector_(client, sleeper, clock,
                 {.resource = options_.resource, .fields = Runtime::Fields()}, MakeHandler(),
                 options_.seed) {}

kube::Reflector::Handler RuntimeFollower::MakeHandler() {
  return {.list_started =
              [this] {
                listed_runtimes_.clear();
                listed_room_ = {};
              },
          .listed = [this](const Value& object) { Listed(object, true); },
          .left_out = [this](const Value& object, const kube::Fault&) { Listed(object, false); },
          .list_done = [this] { ListDone(); },
          .happened = [this](const kube::WatchEvent& event) { Happened(event); },
          .failed =
              [this](const kube::Fault& fault, std::chrono::milliseconds pause) {
                if (options_.failed) options_.failed(fault, pause);
              },
          .wants_list = [this] { return room_.crowded; }};
}

RuntimeFollower::RuntimePtr RuntimeFollower::Keep(const std::string& key, const Value& object,
                                                  Room& room) const {
  const RuntimeBounds& bounds = options_.bounds;
  const size_t bytes = Runtime::BytesOf(object);
  const std::string_view ns = NamespaceOf(key);
  const auto found = room.bytes_of_namespace.find(ns);
  const size_t of_namespace = found == room.bytes_of_namespace.end() ? 0 : found->second;
  const bool too_large = bytes > bounds.bytes_of_one;
  if (too_large || room.bytes + bytes > bounds.bytes_of_all ||
      (!ns.empty() && of_namespace + bytes > bounds.bytes_of_namespace)) {
    room.crowded = room.crowded || !too_large;
    LeaveOut(key, room);
    return nullptr;
  }
  room.bytes += bytes;
  room.bytes_of_namespace[std::string(ns)] += bytes;
  // Most objects of a new list are those of the one before.
  const auto state = state_.Get();
  const RuntimePtr* const before = state->runtimes.Find(key);
  if (before != nullptr && *before != nullptr &&
      (*before)->version() == TextAt(object, "resourceVersion")) {
    return *before;
  }
  return std::make_shared<const Runtime>(object, bytes, options_.resource);
}

void RuntimeFollower::LeaveOut(const std::string& key, Room& room) {
  if (++room.left_out == 1) room.first_left_out = key;
}

void RuntimeFollower::Free(const std::string& key, const RuntimePtr& runtime, Room& room) {
  if (runtime == nullptr) {
    --room.left_out;
    return;
  }
  room.bytes -= runtime->bytes();
  const auto of = room.bytes_of_namespace.find(NamespaceOf(key));
  of->second -= runtime->bytes();
  if (of->second == 0) room.bytes_of_namespace.erase(of);
}

void RuntimeFollower::Listed(const Value& object, bool whole) {
  const std::string key = KeyOf(object);
  RuntimePtr runtime;
  if (whole) {
    runtime = Keep(key, object, listed_room_);
  } else {
    LeaveOut(key, listed_room_);
  }
  listed_runtimes_.push_back(
      std::make_shared<const Runtimes::Entry>(Runtimes::Entry{key, std::move(runtime)}));
}

void RuntimeFollower::ListDone() {
  room_ = std::exchange(listed_room_, {});
  const auto runtimes = std::exchange(listed_runtimes_, {});
  Publish(Runtimes::Of(runtimes));
  listed_ = true;
}

void RuntimeFollower::Happened(const kube::WatchEvent& event) {
  const std::string key = KeyOf(event.object);
  const auto state = state_.Get();
  const RuntimePtr* const before = state->runtimes.Find(key);
  if (before != nullptr) Free(key, *before, room_);
  if (event.type == kube::WatchEvent::Type::kDeleted) return Publish(state->runtimes.Without(key));
  Publish(state->runtimes.With(std::make_shared<const Runtimes::Entry>(
      Runtimes::Entry{key, Keep(key, event.object, room_)})));
}

void RuntimeFollower::Publish(Runtimes runtimes) {
  const bool news = state_.Get()->left_out == 0 && room_.left_out > 0;
  state_.Set(
      std::make_shared<const State>(State{std::move(runtimes), room_.bytes, room_.left_out}));
  if (news && options_.left_out) options_.left_out(room_.first_left_out);
}

}  // namespace mindgate::webhook
