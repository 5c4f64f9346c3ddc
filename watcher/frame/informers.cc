#include "watcher/frame/informers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "schemas/names.h"
#include "schemas/npu.h"
#include "schemas/raw_objects.h"

namespace mindgate::watcher {
namespace {

constexpr const char* kNotSucceeded = "status.phase!=Succeeded";
constexpr const char* kNotEnded = "status.phase!=Succeeded,status.phase!=Failed";

bool HasFailed(const json::Value& pod) {
  return json::FindString(json::Find(pod, "status"), "phase") == "Failed";
}

}  // namespace

PodInformer::PodInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                         Options options)
    : client_(client), sleeper_(sleeper), clock_(clock), options_(std::move(options)) {}

std::optional<PodInformer::Selectors> PodInformer::Wanted() const {
  std::optional<Selectors> wanted;
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    const Subscriber& subscriber = subscribers_[i];
    if (!subscriber.enabled()) continue;
    if (!wanted) {
      wanted = {subscriber.label_selector, false, std::vector<bool>(subscribers_.size())};
    }
    wanted->subscribers[i] = true;
    if (wanted->label != subscriber.label_selector) wanted->label.clear();
    wanted->failed = wanted->failed || subscriber.failed;
  }
  return wanted;
}

std::optional<PodInformer::Kept> PodInformer::Project(const json::Value& pod, bool metadata_only,
                                                      const std::vector<bool>& wanted) const {
  Kept kept(subscribers_.size());
  bool any = false;
  const bool failed = HasFailed(pod);
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    if (!wanted[i] || (failed && !subscribers_[i].failed)) continue;
    const auto& project = metadata_only ? subscribers_[i].oversized : subscribers_[i].project;
    if (project) kept[i] = project(pod);
    any = any || kept[i] != nullptr;
  }
  return any ? std::optional(std::move(kept)) : std::nullopt;
}

void PodInformer::Changed(const Kept* before, const Kept* after) const {
  for (size_t i = 0; i < subscribers_.size(); ++i) {
    const ErasedPtr old = before == nullptr ? nullptr : (*before)[i];
    const ErasedPtr now = after == nullptr ? nullptr : (*after)[i];
    if (old != nullptr || now != nullptr) subscribers_[i].changed(old, now);
  }
}

std::shared_ptr<PodInformer::Informer> PodInformer::MakeInformer(const Selectors& selectors) {
  Informer::Options options;
  options.selection.resource = kube::resources::kPods;
  options.selection.ns = options_.ns;
  options.selection.label_selector = selectors.label;
  options.selection.field_selector = selectors.failed ? kNotSucceeded : kNotEnded;
  if (selectors.failed) options.selection.fields = {{"status", "phase"}};
  for (const Subscriber& subscriber : subscribers_) {
    for (const auto& field : subscriber.fields) {
      auto& fields = options.selection.fields;
      if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
    }
  }
  options.project = [this, wanted = selectors.subscribers](const json::Value& pod) {
    return Project(pod, false, wanted);
  };
  if (std::all_of(subscribers_.begin(), subscribers_.end(),
                  [](const Subscriber& one) { return one.oversized != nullptr; })) {
    options.left_out = [this, wanted = selectors.subscribers](const json::Value& pod) {
      return Project(pod, true, wanted);
    };
  }
  options.changed = [this](const std::string&, const Kept* before, const Kept* after) {
    Changed(before, after);
  };
  options.failed = options_.failed;
  options.on_synced = [this] {
    for (const Subscriber& subscriber : subscribers_) {
      if (subscriber.on_synced) subscriber.on_synced();
    }
  };
  options.seed = options_.seed;
  // What the informer before it knew: its list says what has gone.
  if (const auto before = informer()) options.known = before->objects();
  return std::make_shared<Informer>(client_, sleeper_, clock_, std::move(options));
}

void PodInformer::Run(const std::stop_token& stop) {
  const std::stop_callback forward(stop, [this] { Reselect(); });
  while (!stop.stop_requested()) {
    const auto wanted = Wanted();
    const auto next = wanted ? MakeInformer(*wanted) : nullptr;
    std::shared_ptr<const Informer> before;
    std::stop_token end;
    {
      const MutexLock lock(mutex_);
      reselect_ = {};
      end = reselect_.get_token();
      selector_ = wanted;
      before = std::exchange(informer_, next);
    }
    changed_.NotifyAll();
    if (next == nullptr && before != nullptr) Forget(*before);
    before = nullptr;                                           // not as long as the next one runs
    if (stop.stop_requested() || Wanted() != wanted) continue;  // before `reselect_` was there
    if (next != nullptr) {
      next->Run(end);
      continue;
    }
    MutexLock lock(mutex_);
    changed_.Wait(lock, end, [] { return false; });
  }
}

// What goes while nobody wants pods is not seen: whoever wants them again begins with none.
void PodInformer::Forget(const Informer& informer) const {
  informer.objects()->ForEach(
      [this](const std::string&, const Kept& kept) { Changed(&kept, nullptr); });
}

void PodInformer::Refresh() {
  const auto wanted = Wanted();
  {
    const MutexLock lock(mutex_);
    if (wanted == selector_) return;
  }
  Reselect();
}

void PodInformer::Reselect() {
  std::stop_source end;
  {
    const MutexLock lock(mutex_);
    end = reselect_;
  }
  end.request_stop();
}

std::shared_ptr<const PodInformer::Informer> PodInformer::informer() const {
  const MutexLock lock(mutex_);
  return informer_;
}

bool PodInformer::synced() const {
  const auto pods = informer();
  return pods != nullptr && pods->synced();
}

bool PodInformer::current() const {
  const auto pods = informer();
  return pods != nullptr && pods->current();
}

size_t PodInformer::left_out() const {
  const auto pods = informer();
  return pods == nullptr ? 0 : pods->left_out();
}

bool PodInformer::WaitSynced(std::chrono::milliseconds longest, const std::stop_token& stop) const {
  const auto pods = informer();
  if (pods != nullptr) return pods->WaitSynced(longest, stop);
  MutexLock lock(mutex_);
  changed_.WaitFor(lock, stop, longest, [this]() REQUIRES(mutex_) { return informer_ != nullptr; });
  return false;
}

namespace {

using json::Value;

// No server has more; what a Node says beyond it is an error.
constexpr int64_t kMaxNpus = 4096;

bool IsUsable(const Value& node) {
  return IsReady(node) &&
         !json::AsBool(json::FindPath(node, {"spec", "unschedulable"})).value_or(false) &&
         json::FindPath(node, {"metadata", "deletionTimestamp"}) == nullptr;
}

bool IsIsolated(const Value& node) {
  return schemas::PlaceOfFaultyTaint(json::FindPath(node, {"spec", "taints"})).has_value();
}

// Of all resources of NPUs; vNPUs are parts of chips that a number does not say.
int32_t CountNpus(const Value* resources) {
  int64_t count = 0;
  if (resources == nullptr) return 0;
  for (const auto& [name, quantity] : resources->members()) {
    if (schemas::ClassifyResource(name) != schemas::NpuResource::kWholeCard) continue;
    const auto text = json::AsString(&quantity);
    count += text ? ParseGoInt(*text).value_or(0) : json::AsInt(&quantity).value_or(0);
  }
  return static_cast<int32_t>(std::clamp<int64_t>(count, 0, kMaxNpus));
}

}  // namespace

bool IsReady(const Value& node) {
  return schemas::ConditionStatus(node, "Ready").value_or("True") == "True";
}

std::string SerialNumberOf(const Value& node) {
  const Value* metadata = json::Find(node, "metadata");
  const auto label = json::FindString(json::Find(metadata, "labels"), schemas::kServerSerialNumber);
  const auto serial =
      label ? label
            : json::FindString(json::Find(metadata, "annotations"), schemas::kProductSerialNumber);
  return serial && serial->size() <= kMaxSerialNumber ? std::string(*serial) : "";
}

kube::Informer<NodeInformer::State>::Options NodeInformer::InformerOptions() {
  kube::Informer<State>::Options informer;
  informer.selection.resource = kube::resources::kNodes;
  informer.selection.fields = {{"metadata", "deletionTimestamp"},
                               {"spec", "unschedulable"},
                               {"spec", "taints"},
                               {"status", "conditions", "*", "type"},
                               {"status", "conditions", "*", "status"}};
  if (options_.serials) {
    informer.selection.fields.push_back(
        {"metadata", "labels", std::string(schemas::kServerSerialNumber)});
    informer.selection.fields.push_back(
        {"metadata", "annotations", std::string(schemas::kProductSerialNumber)});
  }
  if (options_.npus) {
    informer.selection.fields.push_back({"status", "allocatable"});
    informer.selection.fields.push_back({"status", "capacity"});
  }
  informer.project = [](const Value& node) {
    const Npus npus{CountNpus(json::FindPath(node, {"status", "allocatable"})),
                    CountNpus(json::FindPath(node, {"status", "capacity"}))};
    return std::optional(State{watcher::IsReady(node), IsUsable(node), IsIsolated(node),
                               SerialNumberOf(node), npus});
  };
  informer.left_out = [](const Value&) { return std::optional(State()); };
  informer.changed = [this](const std::string& key, const State* before, const State* after) {
    Note(key.substr(key.find('/') + 1), before, after);  // of no namespace
  };
  informer.on_synced = options_.on_synced;
  informer.failed = options_.failed;
  informer.seed = options_.seed;
  return informer;
}

NodeInformer::NodeInformer(kube::Client& client, kube::Sleeper& sleeper, const Clock& clock,
                           Options options)
    : options_(std::move(options)), informer_(client, sleeper, clock, InformerOptions()) {}

void NodeInformer::Note(const std::string& node, const State* before, const State* after) {
  const bool was_usable = before == nullptr || before->usable;
  const bool is_usable = after == nullptr || after->usable;
  const bool was_ready = before != nullptr && before->ready;
  const bool is_ready = after != nullptr && after->ready;
  std::set<std::string> serials_changed;
  {
    const MutexLock lock(mutex_);
    serials_changed = NoteSerial(node, before == nullptr ? "" : before->serial,
                                 after == nullptr ? "" : after->serial);
    if (is_usable) {
      unusable_.erase(node);
    } else {
      unusable_.insert(node);
    }
    if (after != nullptr && after->isolated) {
      isolated_.insert(node);
    } else {
      isolated_.erase(node);
    }
    if (after == nullptr || after->ready) {
      not_ready_.erase(node);
    } else {
      not_ready_.insert(node);
    }
    nodes_ += after != nullptr;
    nodes_ -= before != nullptr;
  }
  if (!serials_changed.empty() && options_.serials_changed)
    options_.serials_changed(serials_changed);
  if (was_usable != is_usable && options_.changed) options_.changed();
  const bool came_or_went = (before == nullptr) != (after == nullptr);
  if ((was_ready != is_ready || came_or_went) && options_.readiness_changed)
    options_.readiness_changed(node);
}

std::set<std::string> NodeInformer::Having(const std::string& serial) const {
  std::set<std::string> nodes;
  for (auto at = serials_.lower_bound({serial, ""});
       at != serials_.end() && at->first == serial && nodes.size() < 2; ++at) {
    nodes.insert(at->second);
  }
  return nodes;
}

// One that another node has as well is nobody's, until it has gone there.
std::set<std::string> NodeInformer::NoteSerial(const std::string& node, const std::string& before,
                                               const std::string& after) {
  std::set<std::string> changed;
  if (before == after) return changed;
  changed.insert(node);
  if (!before.empty()) {
    serials_.erase({before, node});
    changed.merge(Having(before));
  }
  if (!after.empty()) {
    changed.merge(Having(after));
    serials_.insert({after, node});
  }
  return changed;
}

std::string NodeInformer::NodeOf(const std::string& serial) const {
  const MutexLock lock(mutex_);
  const auto nodes = Having(serial);
  return nodes.size() == 1 ? *nodes.begin() : "";
}

std::string NodeInformer::SerialOf(const std::string& node) const {
  const auto nodes = informer_.objects();  // what is found lives as long as this
  const State* state = nodes->Find(kube::Collection<State>::KeyOf("", node));
  if (state == nullptr || state->serial.empty()) return "";
  const MutexLock lock(mutex_);
  return Having(state->serial).size() == 1 ? state->serial : "";
}

void NodeInformer::ForEach(const std::function<void(const std::string& node, bool usable,
                                                    const Npus& npus)>& visit) const {
  informer_.objects()->ForEach([&](const std::string& key, const State& state) {
    visit(key.substr(key.find('/') + 1), state.usable && !state.isolated, state.npus);
  });
}

NodeInformer::Names NodeInformer::unusable() const {
  const MutexLock lock(mutex_);
  return unusable_;
}

NodeInformer::Names NodeInformer::not_ready() const {
  const MutexLock lock(mutex_);
  return not_ready_;
}

NodeInformer::Names NodeInformer::isolated() const {
  const MutexLock lock(mutex_);
  return isolated_;
}

bool NodeInformer::Exists(std::string_view node) const {
  return informer_.objects()->Find(kube::Collection<State>::KeyOf("", std::string(node))) !=
         nullptr;
}

bool NodeInformer::IsReady(std::string_view node) const {
  const auto nodes = informer_.objects();  // what is found lives as long as this
  const State* state = nodes->Find(kube::Collection<State>::KeyOf("", std::string(node)));
  return state != nullptr && state->ready;
}

NodeInformer::Counts NodeInformer::counts() const {
  const MutexLock lock(mutex_);
  return {nodes_, not_ready_.size()};
}

}  // namespace mindgate::watcher
