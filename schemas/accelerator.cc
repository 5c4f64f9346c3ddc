#include "schemas/accelerator.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "schemas/names.h"

namespace mindgate::schemas {
namespace {

constexpr ChipCounts kPowers = ChipCounts::Of({1, 2, 4, 8});
constexpr ChipCounts kUpTo8 = ChipCounts::UpTo(8);
constexpr ChipCounts kUpTo16 = ChipCounts::UpTo(16);
// An A3 card is two chips: one chip alone, or whole cards.
constexpr ChipCounts kA3Single16 = ChipCounts::EvenUpTo(16).With({1});
constexpr ChipCounts kA3Single8 = ChipCounts::EvenUpTo(8).With({1});
constexpr ChipCounts kBox16 = kUpTo16.Without({9, 11, 13, 15});
constexpr ChipCounts kOnly8 = ChipCounts::Of({8});
constexpr ChipCounts kOnly16 = ChipCounts::Of({16});

constexpr ChipHandler Plain(std::string_view policy, std::string_view type,
                            std::string_view product, int64_t node, ChipCounts counts,
                            ChipCounts documented) {
  ChipHandler handler;
  handler.schedule_policy = policy;
  handler.accelerator_type = type;
  handler.product = product;
  handler.node_chips = node;
  handler.single = handler.distributed = counts;
  handler.documented_single = handler.documented_distributed = documented;
  return handler;
}

constexpr ChipHandler Plain(std::string_view policy, std::string_view type,
                            std::string_view product, int64_t node, ChipCounts counts) {
  return Plain(policy, type, product, node, counts, counts);
}

// `documented` differs from what is accepted only for chip2-node8, which the plugin checks against
// 16 chips.
constexpr ChipHandler A3(std::string_view policy, std::string_view type, int64_t node,
                         ChipCounts documented_single, ChipCounts documented_distributed) {
  ChipHandler handler = Plain(policy, type, "Atlas A3 servers", node, kA3Single16);
  handler.distributed = ChipCounts::EvenUpTo(16);
  handler.documented_single = documented_single;
  handler.documented_distributed = documented_distributed;
  handler.zero_chips = ZeroChips::kMarked;
  return handler;
}

// Several pods take whole nodes.
constexpr ChipHandler SuperPod(std::string_view policy, std::string_view type,
                               std::string_view product, int64_t node, ChipCounts single,
                               ChipCounts documented_single, ChipCounts whole_node) {
  ChipHandler handler = Plain(policy, type, product, node, single, documented_single);
  handler.distributed = handler.documented_distributed = whole_node;
  handler.super_pod = true;
  handler.zero_chips = ZeroChips::kRefused;
  return handler;
}

constexpr ChipHandler A3SuperPod(std::string_view policy, std::string_view type, int64_t node,
                                 ChipCounts single, ChipCounts whole_node) {
  ChipHandler handler = SuperPod(policy, type, "A3 super pods", node, single, single, whole_node);
  handler.sp_fit = true;
  handler.whole_blocks = true;
  handler.zero_chips = ZeroChips::kMarked;
  return handler;
}

constexpr ChipHandler RackSuperPod(std::string_view policy) {
  ChipHandler handler = SuperPod(policy, "", "950 super pods", 8, kUpTo8, kUpTo8, kOnly8);
  handler.rack_block = true;
  return handler;
}

constexpr ChipHandler Uncounted(std::string_view policy, std::string_view product,
                                bool soft_share) {
  ChipHandler handler = Plain(policy, "", product, 0, {});
  handler.counts_chips = false;
  handler.soft_share = soft_share;
  handler.multilevel = handler.whole_nodes = !soft_share;
  if (!soft_share) handler.zero_chips = ZeroChips::kMarked;
  return handler;
}

// Handlers that came with this release (mind-cluster: component/ascend-for-volcano/internal/npu/
// factory.go of the tags v7.3.0, v26.0.0 and v26.1.0).
constexpr ChipHandler From(Version release, ChipHandler handler) {
  handler.release = release;
  return handler;
}
constexpr Version k26 = {26, 0};

constexpr ChipHandler kA3Module =
    A3("chip2-node16", "module-a3-16", 16, kA3Single16, ChipCounts::EvenUpTo(16));
constexpr ChipHandler kA3SuperPod16 =
    A3SuperPod("chip2-node16-sp", "module-a3-16-super-pod", 16, kA3Single16, kOnly16);
constexpr ChipHandler kA3SuperPod8 =
    From(k26, A3SuperPod("chip2-node8-sp", "module-a3-8-super-pod", 8, kA3Single8, kOnly8));
constexpr ChipHandler kModule =
    From({}, Plain("", "module", "Atlas 800 training servers", 8, kPowers));
constexpr ChipHandler kCard =
    Plain("chip1-node2", "card", "servers with Atlas 300 cards", 2, kUpTo8, ChipCounts::UpTo(2));

// Of one name the newest comes first.
constexpr std::array<ChipHandler, 20> kHandlers = {
    kCard,
    Plain("chip4-node4", "half", "half Atlas 800 servers", 4, ChipCounts::Of({1, 2, 4})),
    kModule,
    Plain("chip8-node8", "module-910b-8", "Atlas A2 servers", 8, kUpTo8),
    Plain("chip8-node16", "module-910b-16", "Atlas 200T A2 Box16", 16, kBox16),
    kA3Module,
    A3("module-a3-16", "", 16, kA3Single16, ChipCounts::EvenUpTo(16)),
    From(k26, A3("chip2-node8", "", 8, kA3Single8, ChipCounts::EvenUpTo(8))),
    kA3SuperPod16,
    kA3SuperPod8,
    From(k26, Plain("chip4-node8", "", "servers with 8 Atlas 350 cards in groups of 4", 8, kUpTo8)),
    Plain("chip4-node8", "", "Atlas 800 training servers", 8, kPowers),
    From(k26,
         Plain("chip4-node16", "", "servers with 16 Atlas 350 cards in groups of 4", 16, kUpTo16)),
    From(k26, Plain("chip1-node8", "", "servers with 8 Atlas 350 cards", 8, kUpTo8)),
    From(k26, Plain("chip1-node16", "", "servers with 16 Atlas 350 cards", 16, kUpTo16)),
    From(k26, Plain("", "850-Atlas-8p-8", "Atlas 850 servers", 8, kUpTo8)),
    From(k26, SuperPod("chip8-node8-sp", "", "850 super pods", 8, kUpTo8, kPowers, kOnly8)),
    From(k26, RackSuperPod("chip8-node8-ra64-sp")),
    From(k26, Uncounted("chip1-softShareDev", "softly shared chips", true)),
    From(k26, Uncounted("multilevel", "multi-level networks", false)),
};

constexpr std::array<std::string_view, 17> kPolicies = {
    "chip1-node2",    "chip4-node4",    "chip8-node8",         "chip8-node16",
    "chip2-node16",   "chip2-node8",    "chip4-node8",         "chip4-node16",
    "chip1-node8",    "chip1-node16",   "module-a3-16",        "chip2-node16-sp",
    "chip2-node8-sp", "chip8-node8-sp", "chip8-node8-ra64-sp", "chip1-softShareDev",
    "multilevel"};

constexpr std::array<std::string_view, 17> kAcceleratorTypes = {"module",
                                                                "half",
                                                                "card",
                                                                "card-910b-2",
                                                                "card-910b-infer",
                                                                "module-910b-8",
                                                                "module-910b-16",
                                                                "module-a3-16",
                                                                "module-a3-16-super-pod",
                                                                "module-a3-8-super-pod",
                                                                "350-Atlas-8",
                                                                "350-Atlas-16",
                                                                "350-Atlas-4p-8",
                                                                "350-Atlas-4p-16",
                                                                "850-Atlas-8p-8",
                                                                "850-SuperPod-Atlas-8",
                                                                "950-SuperPod-Atlas-8"};

// Ascend310 and Ascend310P choose by labels.
constexpr ChipCounts kUpTo64 = ChipCounts::UpTo(64);
constexpr ChipHandler k310Chip = Plain("", "", "npu-310-strategy chip", 64, kUpTo64);
// The job check takes 64, but no node is ever chosen for more than the 4 chips of one card.
constexpr ChipHandler k310Card = Plain("", "", "npu-310-strategy card", 64, ChipCounts::UpTo(4));
constexpr ChipHandler k310PPlain = Plain("", "", "Ascend310P", 64, kUpTo64);
constexpr ChipHandler k310PCard =
    Plain("", "", "Ascend310P by card", 64, kUpTo64, ChipCounts::UpTo(4));
constexpr ChipHandler kDuoChip = Plain("", "", "Atlas 300I Duo by chip", 16, kUpTo16);
constexpr ChipHandler kDuoCard =
    Plain("", "", "Atlas 300I Duo by card", 32, ChipCounts::UpTo(32), ChipCounts::UpTo(2));

const ChipHandler* HandlerOfType(std::string_view accelerator_type) {
  // Any value that contains the word: card-910b-2, card-910b-infer, and also "module|card".
  if (accelerator_type.find("card") != std::string_view::npos) return &kCard;
  for (const ChipHandler& handler : kHandlers) {
    if (!handler.accelerator_type.empty() && handler.accelerator_type == accelerator_type) {
      return &handler;
    }
  }
  return nullptr;
}

ChipHandler FromSite(const AcceleratorRow& row) {
  ChipHandler handler;
  handler.schedule_policy = row.schedule_policy;
  handler.accelerator_type = row.accelerator_type;
  handler.product = "servers of this site";
  handler.node_chips = row.node_chips;
  handler.single = handler.documented_single = ChipCounts(row.pod_chips);
  handler.distributed = handler.documented_distributed = handler.single;
  if (row.whole_nodes_when_distributed && row.node_chips >= 1 && row.node_chips <= 64) {
    handler.distributed = handler.documented_distributed =
        ChipCounts::Of({static_cast<int>(row.node_chips)});
  }
  handler.super_pod = row.super_pod;
  return handler;
}

// A site's row replaces the plugin's of the same name.
std::optional<ChipHandler> FindHandler(std::string_view policy, std::string_view type,
                                       const Config& config) {
  for (const AcceleratorRow& row : config.accelerators) {
    if ((!policy.empty() && row.schedule_policy == policy) ||
        (!type.empty() && row.accelerator_type == type)) {
      return FromSite(row);
    }
  }
  const ChipHandler* handler =
      policy.empty() ? HandlerOfType(type) : HandlerOfPolicy(policy, config.versions);
  return handler == nullptr ? std::nullopt : std::optional(*handler);
}

HandlerChoice Of310(const WorkloadView& view, const PodGroupView& group, bool is_310p) {
  HandlerChoice choice;
  choice.by = HandlerChoice::By::kStrategyLabel;
  choice.certain = VisibilityOf(view, group) == Visibility::kAll;
  const Merged strategy = GroupLabel(view, group, "npu-310-strategy");
  const bool chip = !strategy || strategy.Text() == "chip";
  const bool card = strategy && strategy.Text() == "card";
  if (!is_310p) {
    if (chip || card) {
      choice.handler = chip ? k310Chip : k310Card;
    } else {
      choice.problem = HandlerChoice::Problem::kUnknownStrategy;
    }
    return choice;
  }
  const Merged duo = GroupLabel(view, group, "duo");
  if (duo && duo.Text() == "true" && (chip || card)) {
    choice.handler = chip ? kDuoChip : kDuoCard;
  } else {
    choice.handler = card && !duo ? k310PCard : k310PPlain;
  }
  return choice;
}

bool Multiply(int64_t a, int64_t b, std::optional<int64_t>& product) {
  int64_t value = 0;
  if (__builtin_mul_overflow(a, b, &value)) return false;
  product = value;
  return true;
}

// Chips of all pods of the group, and what of that the plugin counts.
void CountTotal(const WorkloadView& view, const PodGroupView& group, int64_t all_pods,
                int64_t all_chips, GroupChips& chips) {
  if (group.facts().counts_all_pods) {
    // minResources covers minMember pods; with fewer than all it is not known which ones.
    if (!group.min_member || *group.min_member == all_pods) chips.total = all_chips;
    return;
  }
  // pg-controller and the NPU plugin both multiply when this is set.
  if (view.Annotation(kGroupMinMember) || !chips.uniform) return;
  const GroupAnnotation gang = ReadGroupAnnotation(view, group, kMinAvailable);
  if (gang.entry) {
    const auto k = gang.agreed ? ParseGoInt(gang.entry.Text().value_or("")) : std::nullopt;
    if (k && *k >= 1) Multiply(*k, *chips.uniform, chips.total);
    return;
  }
  if (group.facts().of_deployment || all_pods == 1) {
    chips.total = all_chips;
  } else {
    chips.one_pod_counts = true;
  }
}

}  // namespace

std::string ChipCounts::Describe() const {
  std::string text;
  std::string last;
  const auto add = [&](std::string part) {
    if (!last.empty()) text += (text.empty() ? "" : ", ") + last;
    last = std::move(part);
  };
  const auto add_run = [&](int64_t from, int64_t to) {
    if (to - from >= 2) {
      add(std::to_string(from) + " to " + std::to_string(to));
    } else {
      for (int64_t n = from; n <= to; ++n) add(std::to_string(n));
    }
  };
  std::set<int64_t> all;
  if (listed_ == nullptr) {
    for (int64_t n = 1; n <= kMax; ++n) {
      if (Has(n)) all.insert(n);
    }
  }
  const std::set<int64_t>& counts = listed_ == nullptr ? all : *listed_;
  for (auto at = counts.begin(); at != counts.end();) {
    const int64_t from = *at;
    int64_t to = from;
    for (++at; at != counts.end() && *at == to + 1; ++at) ++to;
    add_run(from, to);
  }
  if (text.empty()) return last.empty() ? "no count" : last;
  return text + " or " + last;
}

std::span<const std::string_view> KnownSchedulePolicies() { return kPolicies; }

std::span<const std::string_view> KnownAcceleratorTypes() { return kAcceleratorTypes; }

const ChipHandler* HandlerOfPolicy(std::string_view schedule_policy, const Versions& versions) {
  for (const ChipHandler& handler : kHandlers) {
    if (!handler.schedule_policy.empty() && handler.schedule_policy == schedule_policy &&
        !versions.IsBefore(Component::kMindCluster, handler.release)) {
      return &handler;
    }
  }
  return nullptr;
}

std::optional<ChipHandler> HandlerOfAcceleratorType(std::string_view accelerator_type,
                                                    const Config& config) {
  return FindHandler("", accelerator_type, config);
}

std::set<int64_t> NodeSizes(std::string_view accelerator_type, const Config& config) {
  if (!accelerator_type.empty()) {
    const auto handler = FindHandler("", accelerator_type, config);
    if (handler && handler->node_chips > 0) return {handler->node_chips};
  }
  std::set<int64_t> sizes = {8, 16};  // Atlas A2, A3 and newer servers
  for (const AcceleratorRow& row : config.accelerators) sizes.insert(row.node_chips);
  return sizes;
}

bool IsKnownPolicy(std::string_view schedule_policy, const Config& config) {
  return !schedule_policy.empty() && FindHandler(schedule_policy, "", config).has_value();
}

HandlerChoice ChooseHandler(const WorkloadView& view, const PodGroupView& group,
                            std::string_view resource, const Config& config) {
  if (resource == "huawei.com/Ascend310") return Of310(view, group, false);
  if (resource == "huawei.com/Ascend310P") return Of310(view, group, true);

  using By = HandlerChoice::By;
  using Problem = HandlerChoice::Problem;
  HandlerChoice choice;
  const Visibility visibility = VisibilityOf(view, group);
  const GroupAnnotation policy = ReadGroupAnnotation(view, group, kSchedulePolicy);
  choice.certain = policy.agreed && visibility != Visibility::kPartial;
  if (policy.entry && !policy.entry.Text()) {
    choice.problem = Problem::kUnreadable;
    return choice;
  }
  if (policy.entry) {
    choice.by = By::kPolicy;
    if (!policy.entry.Text()->empty()) {
      choice.handler = FindHandler(*policy.entry.Text(), "", config);
    }
    if (choice.handler) return choice;
  }
  // From here on the choice rests on what is absent.
  choice.certain = choice.certain && visibility == Visibility::kAll;
  if (resource == "huawei.com/npu" && !policy.entry) {
    choice.problem = Problem::kMissingPolicy;
    return choice;
  }
  const GroupAnnotation sp_block = ReadGroupAnnotation(view, group, kSpBlock);
  const Merged type = GroupSelector(view, group, "accelerator-type");
  if (type && !type.first.Text()) {
    choice.problem = Problem::kUnreadable;
    return choice;
  }
  if (!sp_block.agreed) choice.certain = false;
  if (sp_block.entry) {
    choice.by = By::kSuperPodBlock;
    choice.handler = type.Text() == kA3SuperPod8.accelerator_type ? kA3SuperPod8 : kA3SuperPod16;
    return choice;
  }
  if (!type) {
    choice.by = By::kDefault;
    choice.handler = kModule;
    return choice;
  }
  choice.by = By::kAcceleratorType;
  // Without a gang scheduler the templates of a LeaderWorkerSet are not merged.
  if (type.joined() && group.facts().leader_and_workers) choice.certain = false;
  if (type.joined()) {
    const auto is_card = [](const Entry& entry) {
      return entry.Text().value_or("").find("card") != std::string_view::npos;
    };
    if (is_card(type.first) || is_card(type.other)) choice.handler = kCard;
  } else {
    choice.handler = FindHandler("", *type.Text(), config);
  }
  if (!choice.handler) choice.problem = Problem::kUnknownAcceleratorType;
  return choice;
}

std::optional<GroupChips> ReadGroupChips(const WorkloadView& view, const PodGroupView& group,
                                         const Config& config) {
  GroupChips chips;
  bool pods_known = true;
  bool same = true;
  int64_t npu_pods = 0;
  int64_t all_pods = 0;
  int64_t all_chips = 0;
  for (size_t index : group.templates) {
    const PodTemplateView& pod = view.templates[index];
    const PodChips& asked = pod.chips;
    const auto pods = pod.pods;
    int64_t product = 0;
    if (!pods || *pods < 0 || __builtin_add_overflow(all_pods, *pods, &all_pods)) {
      pods_known = false;
    }
    if (asked.resource.empty()) continue;
    if (chips.resource.empty()) {
      chips.resource = asked.resource;
      chips.uniform = asked.count;
    }
    if (!asked.count || asked.count != chips.uniform) same = false;
    if (!pods_known || !asked.count || __builtin_mul_overflow(*asked.count, *pods, &product) ||
        __builtin_add_overflow(all_chips, product, &all_chips) ||
        __builtin_add_overflow(npu_pods, *pods, &npu_pods)) {
      pods_known = false;
    }
  }
  if (chips.resource.empty()) return std::nullopt;
  if (!same) chips.uniform.reset();
  chips.choice = ChooseHandler(view, group, chips.resource, config);
  // Scaled to zero: the next scale decides.
  if (!pods_known || npu_pods == 0) return chips;
  if (VisibilityOf(view, group) == Visibility::kPartial) return chips;
  chips.npu_pods = npu_pods;
  chips.gang_certain = !group.facts().leader_and_workers || all_pods == 1;
  CountTotal(view, group, all_pods, all_chips, chips);
  return chips;
}

bool Accepts(const GroupChips& group, int64_t chips) {
  const ChipHandler& handler = *group.choice.handler;
  if (!handler.counts_chips) return true;
  if (group.IsSingle()) return handler.single.Has(chips);
  if (group.IsDistributed()) return handler.distributed.Has(chips);
  return handler.single.Has(chips) || handler.distributed.Has(chips);
}

}  // namespace mindgate::schemas
