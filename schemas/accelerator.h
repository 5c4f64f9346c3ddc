#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "schemas/config.h"
#include "schemas/placement.h"
#include "schemas/workload.h"

// Which handler of the NPU plugin evaluates a job, and what it accepts (mind-cluster:
// component/ascend-for-volcano/internal/npu/factory.go and the handlers' ValidNPUJob). The handlers
// are a table.
namespace mindgate::schemas {

// A set of chip counts: of 1..64, the most that a handler of the plugin takes, or the list of a
// site's own row.
class ChipCounts {
 public:
  constexpr ChipCounts() = default;
  explicit ChipCounts(const std::set<int64_t>& listed) : listed_(&listed) {}  // not owned

  static constexpr ChipCounts UpTo(int most) {
    ChipCounts counts;
    counts.bits_ = most >= kMax ? ~uint64_t{0} : (uint64_t{1} << most) - 1;
    return counts;
  }
  constexpr ChipCounts With(std::initializer_list<int> more) const {
    ChipCounts counts = *this;
    for (int n : more) counts.bits_ |= uint64_t{1} << (n - 1);
    return counts;
  }
  constexpr ChipCounts Without(std::initializer_list<int> fewer) const {
    ChipCounts counts = *this;
    for (int n : fewer) counts.bits_ &= ~(uint64_t{1} << (n - 1));
    return counts;
  }
  static constexpr ChipCounts Of(std::initializer_list<int> all) { return ChipCounts().With(all); }
  static constexpr ChipCounts EvenUpTo(int most) {
    ChipCounts counts;
    for (int n = 2; n <= most; n += 2) counts.bits_ |= uint64_t{1} << (n - 1);
    return counts;
  }

  bool Has(int64_t count) const {
    if (listed_ != nullptr) return listed_->contains(count);
    return count >= 1 && count <= kMax && (bits_ >> (count - 1) & 1) != 0;
  }
  std::string Describe() const;  // "1, 2 or 4", "1 to 8", "1 to 8, 10, 12, 14 or 16"

 private:
  static constexpr int kMax = 64;
  uint64_t bits_ = 0;
  const std::set<int64_t>* listed_ = nullptr;
};

// What a handler does with a job that has a pod without chips beside several with.
enum class ZeroChips : uint8_t {
  kTaken,
  kMarked,   // takes it where that pod's task is called scheduler, or it asks to be skipped
  kRefused,  // refuses it, whatever stands on that pod
};

// One way in which the plugin evaluates and places a job.
struct ChipHandler {
  std::string_view schedule_policy;   // the annotation value that names it; empty when none does
  std::string_view accelerator_type;  // the nodeSelector value that names it; empty when none does
  std::string_view product;           // "Atlas A2 servers"
  int64_t node_chips = 0;
  ChipCounts single;             // accepted from the only pod of a job that asks for chips
  ChipCounts distributed;        // accepted from each of several
  ChipCounts documented_single;  // what the documents offer of these
  ChipCounts documented_distributed;
  bool counts_chips = true;  // false: `single` and `distributed` say nothing
  bool super_pod = false;    // reads sp-block
  bool rack_block = false;   // reads ra-block
  bool sp_fit = false;       // reads sp-fit, for MindIE jobs
  bool multilevel = false;   // reads affinity-config
  bool soft_share = false;   // reads the softShareDev labels
  bool whole_nodes = false;  // takes only pods that ask for all chips of a node, however many
  // Refuses an sp-block of less than a node for several pods.
  bool whole_blocks = false;
  ZeroChips zero_chips = ZeroChips::kTaken;
  // The first release of MindCluster whose plugin has this handler under this name; it reads
  // huawei.com/schedule_policy from 7.3 on.
  Version release = {7, 3};
};

// From this release of MindCluster on a pod without chips may ask to be skipped
// (huawei.com/skip-ascend-plugin); the task called scheduler passed before that.
inline constexpr Version kSkipRelease = {7, 2};

// Schedule policies of the plugin and of the site, for hints.
std::span<const std::string_view> KnownSchedulePolicies();
// Values that nodes carry in the label accelerator-type: those that choose a handler, and those
// that only name hardware.
std::span<const std::string_view> KnownAcceleratorTypes();

// Of the plugin of that release, of the newest where it is not known; null pointer when that has
// none.
const ChipHandler* HandlerOfPolicy(std::string_view schedule_policy, const Versions& versions = {});
// The handler that this value of accelerator-type chooses, the site's rows included.
std::optional<ChipHandler> HandlerOfAcceleratorType(std::string_view accelerator_type,
                                                    const Config& config);
// The chips that a node may have: one that carries this accelerator-type, or any when it is empty
// or chooses no handler.
std::set<int64_t> NodeSizes(std::string_view accelerator_type, const Config& config);
bool IsKnownPolicy(std::string_view schedule_policy,
                   const Config& config);  // the site's rows included

struct HandlerChoice {
  enum class By { kPolicy, kSuperPodBlock, kAcceleratorType, kDefault, kStrategyLabel };
  enum class Problem {
    kNone,
    kMissingPolicy,           // huawei.com/npu without schedule_policy
    kUnknownAcceleratorType,  // also when the group's selectors contradict each other
    kUnknownStrategy,         // npu-310-strategy on Ascend310
    kUnreadable,              // a deciding value is not a string: another rule reports it
  };
  std::optional<ChipHandler> handler;  // nothing with a problem
  By by = By::kDefault;
  Problem problem = Problem::kNone;
  bool certain = true;  // false: the plugin may see more, or other values, than this object shows
};

// The choice for a group whose pods ask for the whole-card `resource`.
HandlerChoice ChooseHandler(const WorkloadView& view, const PodGroupView& group,
                            std::string_view resource, const Config& config);

// One PodGroup as the plugin counts it.
struct GroupChips {
  std::string_view resource;  // of the first template that asks for whole cards
  HandlerChoice choice;
  // Pods that ask for chips. Nothing when the object does not say.
  std::optional<int64_t> npu_pods;
  // Chips of the whole job, for sp-block: minResources of the PodGroup times the gang size.
  std::optional<int64_t> total;
  std::optional<int64_t> uniform;  // chips of every such pod, when all ask for the same number
  // Several pods, but without schedule_minAvailable only one pod's chips are counted
  bool one_pod_counts = false;
  // False for groups that exist only when a gang scheduler is switched on elsewhere
  // (LeaderWorkerSet): then each StatefulSet of the set is a job of its own.
  bool gang_certain = true;

  bool IsSingle() const { return npu_pods == int64_t{1}; }
  bool IsDistributed() const { return npu_pods && *npu_pods > 1 && gang_certain; }
};

// Nothing when no pod of the group asks for whole cards. Only Volcano's plugin counts them: whether
// it places the pods is for the caller to ask (schemas/placement.h).
std::optional<GroupChips> ReadGroupChips(const WorkloadView& view, const PodGroupView& group,
                                         const Config& config);

// What the handler accepts from one pod of this group: of `single` and `distributed` the one that
// applies, both when that is not known.
bool Accepts(const GroupChips& group, int64_t chips);

}  // namespace mindgate::schemas
