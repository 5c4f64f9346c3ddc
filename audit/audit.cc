#include "audit/audit.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/collections.h"
#include "json/decode.h"
#include "kube/resource.h"
#include "offline/decide.h"
#include "schemas/raw_objects.h"
#include "schemas/site_kinds.h"
#include "schemas/workload.h"
#include "what_if/forecaster.h"
#include "what_if/inventory.h"
#include "what_if/snapshot.h"

namespace mindgate::audit {
namespace {

using what_if::Forecast;
using what_if::Hypothesis;
using what_if::InitialState;
using what_if::InstanceForecast;
using what_if::Outcome;
using what_if::Pod;

bool Counts(const Pod& pod) { return pod.npus > 0 && !pod.failed && !pod.leaving; }

class Supposing {
 public:
  Supposing(const InitialState& initial,
            const std::function<WorkloadName(const WorkloadName&)>& topmost,
            const std::function<void(size_t, size_t)>& step)
      : initial_(initial), topmost_(topmost), step_(step), forecaster_(initial) {}

  std::map<WorkloadName, Losses> Run() {
    for (const Pod& pod : initial_.inventory.pods) {
      if (!Counts(pod)) continue;
      Losses& losses = losses_[topmost_({pod.ns, pod.owner})];
      losses.npus += pod.npus;
      ++losses.pods;
      if (!pod.on) ++losses.waiting;
    }
    const auto nodes = EachNode(initial_.inventory);
    const auto cards = Cards();
    const size_t all = nodes.size() + cards.size();
    size_t done = 0;
    for (const what_if::SingleLoss& node : nodes) {
      Note(node.name, forecaster_.Of(node.hypothesis), &Losses::node);
      step_(++done, all);
    }
    for (const what_if::FaultyChip& card : cards) {
      Note(card.node + "/" + card.chip, forecaster_.Of(Hypothesis{.chips = {card}}), &Losses::card);
      step_(++done, all);
    }
    return std::move(losses_);
  }

 private:
  Losses* Find(const InstanceForecast& instance) {
    const auto found = losses_.find(topmost_({instance.ns, instance.owner}));
    return found == losses_.end() ? nullptr : &found->second;
  }

  std::vector<what_if::FaultyChip> Cards() const {
    std::vector<what_if::FaultyChip> cards;
    for (const what_if::Instance& instance : initial_.instances) {
      for (const size_t at : instance.pods) {
        const Pod& pod = initial_.inventory.pods[at];
        if (!Counts(pod) || !pod.on || pod.chips.empty()) continue;
        cards.push_back({initial_.inventory.nodes[*pod.on].name, *pod.chips.begin()});
        break;
      }
    }
    return cards;
  }

  // What the loss hits, and nothing else: who makes room for it loses by another's death.
  void Note(const std::string& loss, Forecast forecast, std::optional<LossEffect> Losses::* kind) {
    for (InstanceForecast& instance : forecast.instances) {
      if (instance.hits.empty() || instance.already) continue;
      Losses* losses = Find(instance);
      if (losses == nullptr) continue;
      const Recovery recovery = RecoveryOf(instance.outcome);
      std::optional<LossEffect>& worst = losses->*kind;
      if (worst && worst->recovery >= recovery) continue;
      worst = LossEffect{recovery, loss, std::move(instance)};
    }
  }

  const InitialState& initial_;
  const std::function<WorkloadName(const WorkloadName&)>& topmost_;
  const std::function<void(size_t, size_t)>& step_;
  what_if::Forecaster forecaster_;
  std::map<WorkloadName, Losses> losses_;
};

}  // namespace

std::string_view RecoveryName(Recovery recovery) {
  switch (recovery) {
    case Recovery::kRecovers:
      return "recovers";
    case Recovery::kDegraded:
      return "degraded";
    case Recovery::kHangs:
      return "hangs";
    case Recovery::kUnattended:
      return "unattended";
    case Recovery::kLost:
      return "lost";
  }
  return "";
}

Recovery RecoveryOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMoves:
      return Recovery::kRecovers;
    case Outcome::kPartly:
      return Recovery::kDegraded;
    case Outcome::kNoRoom:
    case Outcome::kHeld:
      return Recovery::kHangs;
    case Outcome::kBroken:
      return Recovery::kUnattended;
    case Outcome::kLost:
      return Recovery::kLost;
  }
  return Recovery::kLost;
}

std::map<WorkloadName, Losses> LossesOf(
    const what_if::ClusterSnapshot& snapshot,
    const std::function<WorkloadName(const WorkloadName&)>& topmost,
    const std::function<void(size_t done, size_t of)>& step) {
  const InitialState initial(snapshot);
  return Supposing(initial, topmost, step).Run();
}

namespace {

using json::Value;
using schemas::Kind;
using schemas::KindInfo;

// Longer than any chain of controllers.
constexpr int kMaxOwners = 16;

std::string OwnerTitle(const Value& controller) {
  return json::TextAt(controller, {"kind"}) + "/" + json::TextAt(controller, {"name"});
}

int RankOf(const std::optional<LossEffect>& effect) {
  return effect ? static_cast<int>(effect->recovery) : -1;
}

// Ordered descending: what is denied comes first, then what does not survive.
auto BadnessOf(const Workload& workload) {
  size_t denied = 0;
  size_t warned = 0;
  for (const offline::ReportedFinding& finding : workload.evaluated.findings) {
    if (finding.level >= offline::FindingLevel::kDenied) ++denied;
    if (finding.level == offline::FindingLevel::kWarning) ++warned;
  }
  return std::tuple(denied, RankOf(workload.losses.card), RankOf(workload.losses.node), warned);
}

// What is counted as objects come, and taken back when a list begins again.
struct Tally {
  offline::OutcomeCounts counts;
  size_t ended = 0;
  std::set<WorkloadName> made;  // controllers that mindgate does not know
};

class Auditor {
 public:
  Auditor(ObjectSource& source, const schemas::Config& config, const AuditOptions& options)
      : source_(source), config_(config), options_(options), reporter_(options.strict) {
    audit_.taken = options.now;
    audit_.ns = options.ns;
    audit_.grace_over_time = config.grace_over_time;
  }

  Audit Run(const what_if::ClusterSnapshot* snapshot,
            const std::function<void(size_t, size_t)>& step) {
    offline::RequestOptions request;
    request.ns = options_.ns;
    request.now = options_.now;
    request.labels_by_namespace = NamespaceLabels();
    ReadReferences();
    decider_ = std::make_unique<offline::Decider>(references_, std::vector<const Value*>(),
                                                  std::move(request), config_,
                                                  admission::Options{.strict = options_.strict});
    for (const offline::InputObject& reference : references_) {
      const KindInfo* const info = schemas::FindKind(*reference.object, config_.kinds);
      if (info != nullptr) Evaluate(*info, *reference.object);
    }
    // All kinds, since those that are not asked for may own what is.
    for (const KindInfo* info : schemas::AllKinds(config_.kinds)) {
      if (!read_.Has(info->kind)) ReadAndEvaluate(*info);
    }
    audit_.counts = tally_.counts;
    audit_.ended = tally_.ended;
    if (snapshot != nullptr) Suppose(*snapshot, step);
    Sort();
    return std::move(audit_);
  }

 private:
  void ReadAndEvaluate(const KindInfo& info) {
    const Tally before = tally_;
    const size_t kept = audit_.workloads.size();
    Read(
        ResourceOf(info),
        [&] {
          tally_ = before;
          audit_.workloads.resize(kept);
        },
        [&](const Value& object) { Evaluate(info, object); });
  }

  // Notes what cannot be read; a kind that the cluster does not have is no gap.
  void Read(const kube::Resource& resource, const std::function<void()>& started,
            const std::function<void(const Value&)>& item) {
    kube::Listing listing{.started = started, .item = item};
    listing.left_out = [&](const Value&, const kube::Fault& fault) {
      audit_.unread.push_back(fault.message);
    };
    const auto read = source_.ForEach(resource, listing);
    if (read || read.error().reason == kube::Reason::kNotFound) return;
    audit_.unread.push_back(resource.plural + (resource.group.empty() ? "" : "." + resource.group) +
                            ": " + read.error().message);
  }

  std::map<std::string, offline::RequestOptions::Labels, std::less<>> NamespaceLabels() {
    std::map<std::string, offline::RequestOptions::Labels, std::less<>> all;
    Read(
        kube::resources::kNamespaces, [&] { all.clear(); },
        [&](const Value& ns) {
          auto& labels = all[json::TextAt(ns, {"metadata", "name"})];
          const Value* map = json::FindPath(ns, {"metadata", "labels"});
          if (!json::IsObject(map)) return;
          for (const auto& [key, value] : map->members()) {
            labels.emplace(key, json::AsString(&value).value_or(""));
          }
        });
    return all;
  }

  void ReadReferences() {
    for (const ReferenceCollection& collection : ReferenceCollections()) {
      const size_t before = documents_.size();
      if (collection.kind) read_ = read_ | schemas::KindSet{*collection.kind};
      Read(
          collection.resource, [&] { documents_.resize(before); },
          [&](const Value& object) {
            if (!IsReference(object)) return;
            documents_.push_back(
                std::make_unique<json::Document>(what_if::WholeEntry(object, collection.resource)));
          });
    }
    for (const auto& document : documents_) {
      offline::InputObject& reference = references_.emplace_back();
      reference.object = &document->root();
    }
  }

  bool IsWanted(const KindInfo& info, const Value& object) const {
    const bool is_asked_for =
        std::any_of(options_.kinds.begin(), options_.kinds.end(), [&info](const KindInfo* asked) {
          return asked->name == info.name && asked->group == info.group;
        });
    if (!options_.kinds.empty() && !is_asked_for) return false;
    if (options_.selector.is_null()) return true;
    const Value* labels = json::FindPath(object, {"metadata", "labels"});
    const json::Json tree = labels == nullptr ? json::Json() : json::TreeOf(*labels);
    return kube::Selects(&options_.selector, &tree);
  }

  void Evaluate(const KindInfo& info, const Value& object) {
    const Kind kind = info.kind;
    const Value* metadata = json::Find(object, "metadata");
    const Value* controller = schemas::ControllerOf(metadata);
    const std::string ns = json::TextAt(metadata, {"namespace"});
    if (IsMade(info, object, config_.kinds)) {
      if (kind != Kind::kPod) {
        owners_[{ns, std::string(info.name) + "/" + json::TextAt(metadata, {"name"})}] =
            OwnerTitle(*controller);
      }
      return;
    }
    if (!IsWanted(info, object)) return;
    if (HasEnded(kind, object)) {
      ++tally_.ended;
      return;
    }
    // Of pods that a controller made which mindgate does not know, one stands for all.
    const bool is_made = kind == Kind::kPod && controller != nullptr;
    if (is_made && !tally_.made.emplace(ns, OwnerTitle(*controller)).second) return;
    offline::InputObject input;
    input.object = &object;
    const offline::Decision decision = decider_->Decide(input);
    if (decision.verdict.outcome == admission::Outcome::kIgnored) return;
    tally_.counts.Add(decision.verdict.outcome);
    Workload workload{.api_version = decision.api_version,
                      .kind = decision.kind,
                      .ns = decision.ns,
                      .name = decision.name,
                      .uid = json::TextAt(metadata, {"uid"}),
                      .evaluated = reporter_.Of(decision, SourceOf(decision.ns))};
    if (is_made) {
      workload.api_version = json::TextAt(*controller, {"apiVersion"});
      workload.kind = json::TextAt(*controller, {"kind"});
      workload.name = json::TextAt(*controller, {"name"});
      workload.uid = json::TextAt(*controller, {"uid"});
    }
    Describe(*decision.ObjectAfter(), workload);
    if (!workload.npus && workload.evaluated.findings.empty()) return;
    audit_.workloads.push_back(std::move(workload));
  }

  // Stands for a file in reports.
  static std::string SourceOf(const std::string& ns) {
    return ns.empty() ? "cluster" : "namespaces/" + ns;
  }

  void Describe(const Value& object, Workload& workload) const {
    const auto view = decider_->ViewOf(object, workload.ns);
    if (!view) return;
    workload.framework = schemas::InfoOf(view->framework).name;
    workload.npus = view->IsNpuWorkload() && schemas::kWorkloads.Has(view->kind);
  }

  WorkloadName Topmost(WorkloadName name) const {
    for (int i = 0; i < kMaxOwners; ++i) {
      const auto owner = owners_.find(name);
      if (owner == owners_.end()) break;
      name.second = owner->second;
    }
    return name;
  }

  void Suppose(const what_if::ClusterSnapshot& snapshot,
               const std::function<void(size_t, size_t)>& step) {
    auto losses =
        LossesOf(snapshot, [this](const WorkloadName& name) { return Topmost(name); }, step);
    for (Workload& workload : audit_.workloads) {
      const auto found = losses.find({workload.ns, workload.kind + "/" + workload.name});
      if (found != losses.end()) workload.losses = std::move(found->second);
    }
    audit_.supposed = true;
  }

  void Sort() {
    const auto order = [](const Workload& workload) {
      return std::tie(workload.ns, workload.kind, workload.name);
    };
    std::sort(audit_.workloads.begin(), audit_.workloads.end(),
              [&order](const Workload& left, const Workload& right) {
                const auto bad = BadnessOf(left);
                const auto worse = BadnessOf(right);
                return bad != worse ? bad > worse : order(left) < order(right);
              });
  }

  ObjectSource& source_;
  const schemas::Config& config_;
  const AuditOptions& options_;
  offline::Reporter reporter_;
  std::vector<std::unique_ptr<json::Document>> documents_;
  std::vector<offline::InputObject> references_;
  schemas::KindSet read_;  // as references
  std::unique_ptr<offline::Decider> decider_;
  std::map<WorkloadName, std::string> owners_;  // of what a controller made that mindgate knows
  Tally tally_;
  Audit audit_;
};

}  // namespace

std::string Workload::Title() const { return kind + " " + (ns.empty() ? "" : ns + "/") + name; }

Audit Run(ObjectSource& source, const what_if::ClusterSnapshot* snapshot,
          const schemas::Config& config, const AuditOptions& options,
          const std::function<void(size_t done, size_t of)>& step) {
  return Auditor(source, config, options).Run(snapshot, step);
}

}  // namespace mindgate::audit
