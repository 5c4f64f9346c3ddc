#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faults/node_faults.h"
#include "faults/releases.h"
#include "json/value.h"

namespace mindgate::faults {

// What MindCluster knows of fault codes: their levels, what makes a level worse, and which faults
// count together.

enum class CodeSource : uint8_t {
  kChip,    // faultCode.json of the device plugin
  kSwitch,  // SwitchFaultCode.json of the device plugin
  kNode,    // NodeDConfiguration.json
  kPublic,  // publicFaultConfiguration.json of ClusterD
};
std::string_view CodeSourceFile(CodeSource source);  // its path in mind-cluster

// The device plugin raises the level of a fault that is there for so long, and lowers it again when
// the fault has been gone for so long (faultCustomization.json, FaultDuration; mind-cluster:
// component/ascend-device-plugin/pkg/common/fault_code.go, GetFaultTypeFromFaultDuration).
struct WhenItLasts {
  std::chrono::seconds time{};
  FaultLevel level = FaultLevel::kNormal;
  std::chrono::seconds gone{};
  bool operator==(const WhenItLasts&) const = default;
};

// The same of one that comes so often (FaultFrequency; handleFrequencyFault).
struct WhenItRepeats {
  int64_t times = 0;
  std::chrono::seconds within{};
  FaultLevel level = FaultLevel::kNormal;
  std::optional<std::chrono::seconds> gone{};  // nothing: until a person releases the chip
  bool operator==(const WhenItRepeats&) const = default;
};

// Faults that count together when pods of one job use the hardware of both: ClusterD then sets the
// label fault-type of the job's pods on the nodes with the faults of `with` (mind-cluster:
// component/clusterd/pkg/application/faultmanager/jobprocess/relationfault).
struct FaultRelation {
  std::string trigger;
  std::vector<std::string> with;  // all of them
  std::string strategy;           // the label's value: "Separate" or "SubHealth"
  // How long a fault of `with` waits for the trigger.
  std::chrono::seconds within{};
  bool operator==(const FaultRelation&) const = default;
};

struct FaultCode {
  std::string code;  // "80E18005", "[0x08520003,na,L2,na]", as upstream spells it
  CodeSource source = CodeSource::kChip;
  FaultLevel level = FaultLevel::kNormal;
  std::optional<WhenItLasts> lasts{};
  std::optional<WhenItRepeats> repeats{};
  std::vector<FaultRelation> relations{};  // those that it is part of
};

// Of the codes of one release, or of one cluster. A code that a file lists twice has the worse
// level, as upstream looks for that one first.
class FaultTable {
 public:
  // Of the newest release that we have.
  static const FaultTable& Shipped();

  // As the device plugin of a cluster with this ConfigMap has it, which is named kConfigName: what
  // a key holds replaces a file as a whole. Where a key is missing or its text cannot be read, the
  // plugin reads the file that it ships, and where an entry is wrong it leaves that out
  // (mind-cluster: component/ascend-device-plugin/pkg/server/manager.go, updateFaultConfigFromCm).
  // We do the same and add to `problems`, for people. The plugin reads switches on A3 servers only.
  static FaultTable OfCluster(const json::Value& config_map, std::vector<std::string>& problems);

  explicit FaultTable(const FaultFiles& files) : FaultTable(files, nullptr, nullptr) {}

  // Letters of either case. Null for a code that has no level.
  const FaultCode* Find(std::string_view code) const;
  const FaultCode* Find(std::string_view code, CodeSource source) const;

  // Source by source.
  const std::vector<FaultCode>& codes() const { return codes_; }
  std::string_view release() const { return release_; }
  // Whether the ConfigMap says the levels of these codes.
  bool IsOfCluster(CodeSource source) const;

 private:
  FaultTable(const FaultFiles& files, const json::Value* config_map,
             std::vector<std::string>* problems);

  std::string_view release_;
  std::vector<FaultCode> codes_;
  std::map<std::pair<CodeSource, std::string>, size_t> index_;  // the code in small letters
  bool chips_of_cluster_ = false;
  bool switches_of_cluster_ = false;
};

inline constexpr std::string_view kConfigNamespace = "kube-system";
inline constexpr std::string_view kConfigName = "mindx-dl-fault-config";
inline constexpr std::string_view kConfigKeys[] = {"faultCode.json", "SwitchFaultCode.json",
                                                   "faultCustomization.json"};

// Whether the code is of a link of the chip: the chip then gets no new pods (mind-cluster:
// component/ascend-device-plugin/pkg/common/fault_code.go, NetworkFaultCodes).
bool IsNetworkCode(std::string_view code);

// What the fault is in the end, if it stays.
FaultLevel LevelIfItStays(const FaultCode& code);

// What a fault does to pods that run on the hardware, before their labels are asked.
enum class Effect : uint8_t {
  kNone,
  kNoNewPods,  // what runs is left alone
  kSubHealth,  // subHealthyStrategy decides
  kChip,       // the pods that use the chip are faulty
  kNode,       // all pods of the node are faulty, also those without NPUs
};
Effect EffectOf(std::string_view code, CodeSource source, FaultLevel level);

// "if it lasts 20s: PreSeparateNPU, until it has been gone for 1m", without a full stop; and so on
// for all that raises its level or counts together with it.
std::vector<std::string> EscalationsOf(const FaultCode& code);

// The files that a FaultTable is made of, as texts that people may have changed.

// What is wrong with a text, for people: its first faults, and how many more there are.
class TextProblems {
 public:
  void Add(std::string problem);
  void AppendTo(std::vector<std::string>& problems, const std::string& where) const;

 private:
  static constexpr size_t kMax = 8;
  std::vector<std::string> first_;
  size_t more_ = 0;
};

struct CodeLevel {
  std::string code;
  FaultLevel level = FaultLevel::kNormal;
};

// By code, in small letters.
struct Customization {
  std::map<std::string, WhenItLasts, std::less<>> lasts{};
  std::map<std::string, WhenItRepeats, std::less<>> repeats{};
};

// Each is nothing where the component would refuse the whole text, which the last problem then
// says; entries that it would leave out are left out. Names of members are read in letters of
// either case, as Go reads them. At most kMaxCodes of a text count.
inline constexpr size_t kMaxCodes = 10'000;
std::optional<std::vector<CodeLevel>> ReadCodeLevels(std::string_view text, CodeSource source,
                                                     TextProblems& problems);
std::optional<Customization> ReadCustomization(std::string_view text, TextProblems& problems);
// `waits`: how long faults wait for their triggers.
std::optional<std::vector<FaultRelation>> ReadRelations(std::string_view text,
                                                        std::string_view waits,
                                                        TextProblems& problems);

}  // namespace mindgate::faults
